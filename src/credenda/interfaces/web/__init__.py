"""The web interface: pages made on the server from the same operations as every other door."""
