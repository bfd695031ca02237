"""The entries of the operations table, by what they are about."""
