"""Benchmarks that are part of the distribution: one reproducible command each."""
