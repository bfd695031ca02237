"""Language models: what one must be, and those that there are."""
