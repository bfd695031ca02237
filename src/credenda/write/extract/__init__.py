"""From words to claims: rules (offline), a model, or the words themselves. Pure."""
