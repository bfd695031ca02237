"""The write path: accept, journal, extract, reconcile, apply, index."""
