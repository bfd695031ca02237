"""In and out: export, import, one file a format."""
