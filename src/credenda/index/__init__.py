"""Vectors and the resident index of one tenant."""
