"""What is said again: in other words, or more exactly."""
