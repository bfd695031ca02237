"""The laboratory: attacks on the promises of the store, each with its own check, counts and seed."""
