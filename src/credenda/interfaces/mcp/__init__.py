"""Tools, resources and a prompt for models, over MCP."""
