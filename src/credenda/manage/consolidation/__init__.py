"""Consolidation: likeness nominates, a judge decides, and nothing is lost (C-001)."""
