"""The implementation of each operation, one module per verb or topic."""
