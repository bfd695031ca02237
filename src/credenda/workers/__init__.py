"""Durable jobs: claim, run, finish."""
