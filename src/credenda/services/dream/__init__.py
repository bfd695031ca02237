"""The nightly cycle: what `manage.dream` decides, read from the store and filed there, one file a step."""
