"""The deciding steps of the nightly dream, one file a step. Pure."""
