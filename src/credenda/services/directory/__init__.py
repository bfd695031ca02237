"""The virtual directory of a memory: pages of beliefs and of programs, under paths."""
