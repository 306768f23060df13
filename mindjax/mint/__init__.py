"""The PyTorch-flavoured face: the same ops with `dim` and `keepdim`."""

# arithmetic, reduction, comparison, linear algebra

# shape, indexing, creation, sampling
