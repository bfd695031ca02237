"""Where it is kept: the narrow protocol and its backends."""
