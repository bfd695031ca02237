"""Add this server to the configuration files of MCP clients."""
