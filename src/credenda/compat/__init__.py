"""Other libraries' ways of calling, over the same memory: change one import and keep the rest."""
