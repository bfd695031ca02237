"""Import formats other than archives, one module each."""
