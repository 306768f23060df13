"""Tiny text sets, written by code, and programs that read them."""

HELPERS = ""
VALUES = []
ERRORS = {}


def write(folder):
    """Write the files of all sets."""
