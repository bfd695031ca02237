"""Code scan: the files that count, their declarations, and the memories made from them."""
