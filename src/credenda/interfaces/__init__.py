"""Interfaces (command line, MCP, memory tool); each is built from the operations table."""
