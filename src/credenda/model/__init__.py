"""The values that every part speaks in: frozen, without behaviour that needs a store. Pure."""
