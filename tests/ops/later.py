"""Names of the original that the tables use and that later issues bring; a test keeps it short."""

LATER: frozenset[str] = frozenset(
    [
        "mint.trunc",
    ]
)
