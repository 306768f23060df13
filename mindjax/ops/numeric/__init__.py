"""Special functions, complex numbers, counting, searching and sorted sets."""
