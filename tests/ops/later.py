"""Names of the original that the tables use and that later issues bring; a test keeps it short."""

LATER: frozenset[str] = frozenset(
    [
        "mint.nansum",
        "mint.searchsorted",
        "mint.trunc",
        "nn.Pad",
        "nn.PixelShuffle",
        "nn.Tril",
        "ops.Digamma",
        "ops.Lgamma",
        "ops.MirrorPad",
        "ops.approximate_equal",
        "ops.bincount",
        "ops.digamma",
        "ops.gcd",
        "ops.lgamma",
        "ops.searchsorted",
        "ops.sequence_mask",
    ]
)
