"""Consolidation: similarity nominates, a judge decides, and no memory is lost (C-001)."""
