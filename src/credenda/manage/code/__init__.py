"""What a scan keeps of code: which files count, what they declare, and the memories of it."""
