"""A statement that takes the place of another one without naming its slot."""
