"""Functions on Python scalars, tuples, lists and dictionaries, as graph code names them."""
