"""Durable jobs: lease, run, complete."""
