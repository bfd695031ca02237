"""Lifecycle of memories after they are stored: decay, consolidation, dream, drift, core and replay."""
