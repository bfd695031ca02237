"""What happens to beliefs after they are held."""
