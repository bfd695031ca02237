"""The table of operations, from which every interface is built."""
