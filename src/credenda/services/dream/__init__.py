"""The steps of the dream: `manage.dream` decides, these modules read the store and apply, one module per step."""
