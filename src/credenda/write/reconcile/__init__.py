"""Turn the claims of an event into changes of the memories that share their slots."""
