"""What memories claim about code, held against the code as it is. Pure."""
