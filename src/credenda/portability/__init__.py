"""Export, import, and synchronised folders."""
