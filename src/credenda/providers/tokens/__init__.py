"""What counts tokens."""
