"""What can be done: the handlers that compose the phases, and the table that every door loops over."""
