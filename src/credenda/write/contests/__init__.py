"""Find slots whose value flips, and turn a person's answer into changes."""
