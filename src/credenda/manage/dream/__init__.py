"""The steps of the nightly cycle that decide anything, one file a step. Pure."""
