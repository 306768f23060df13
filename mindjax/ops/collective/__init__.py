"""Communication operators."""
