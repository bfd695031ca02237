"""Benchmarks that ship: what they measure can be repeated by anyone, on any machine, with one command each."""
