"""The shared part of the SQL backends: the statements in `common/`, and the classes that run them.

A backend adds statements of its own in its folder `sql/`; one with the name of a common statement takes its place. It
says how a named statement runs, and finds documents by their words in its own way.
"""
