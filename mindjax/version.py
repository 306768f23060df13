"""The two versions: the MindSpore API that programs see, and MindJAX's own."""

__version__ = "2.10.0"
mindjax = "0.1.0"
