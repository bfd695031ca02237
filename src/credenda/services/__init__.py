"""The implementation of each operation, one module for each verb."""
