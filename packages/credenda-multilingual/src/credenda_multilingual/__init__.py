"""Files of a model, without code: `reader/`."""
