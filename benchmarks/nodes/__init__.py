"""Servers and workers on one database, each a process of its own: killed at random, and measured."""
