"""The op tables, one file a family."""
