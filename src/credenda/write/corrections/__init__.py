"""Changes that a person makes: correct, set a status, undo."""
