"""Training of the reader: messages, network, recipe and figures. Run from a clone: `python -m training --help`."""
