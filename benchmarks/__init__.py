"""Benchmarks and scripts that measure or fit Credenda itself; they are not part of the distribution."""
