"""From said to believed: accept, journal, extract, reconcile, apply, index."""
