"""The value types that all packages share: frozen, without behaviour that needs a store. Pure."""
