"""Tells MCP clients how to start this server: their configuration files, changed with care."""
