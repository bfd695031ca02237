"""Check what callers hand in before it is journaled: sizes, secrets, injected instructions."""
