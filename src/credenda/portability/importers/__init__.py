"""What can be imported besides archives: one file a format."""
