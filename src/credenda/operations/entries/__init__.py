"""The entries of the operations table, one module per topic."""
