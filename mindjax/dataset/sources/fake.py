"""Images of random pixels."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import INT32_MAX, check_int, check_type
from mindjax.dataset.sources.listed import ListedDataset


class FakeImageDataset(ListedDataset):
    """Random images: columns ``image`` uint8 and ``label`` uint32.

    Row i is drawn from a Mersenne twister of the seed ``base_seed + i``: labels are the original's.

    Args:
        num_images: number of images.
        image_size: height, width and channels.
        num_classes: number of classes.
        base_seed: seed of the first image.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that draw.
        shuffle: whether the order is random; None for yes.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.

    Raises:
        TypeError: an argument has another type.
        ValueError: an argument is out of range.
        RuntimeError: arguments exclude each other.
    """

    def __init__(
        self,
        num_images: int = 1000,
        image_size: tuple[int, int, int] | list[int] = (224, 224, 3),
        num_classes: int = 10,
        base_seed: int = 0,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "FakeImageDataset"
        self.num_images = check_int(owner, "num_images", num_images, 1)
        check_type(owner, "image_size", image_size, (list, tuple))
        if len(image_size) != 3:
            raise located(
                ValueError,
                f"For '{owner}': image_size should be a list or tuple of length 3, but got "
                f"{len(image_size)}",
            )
        self.image_size = tuple(
            check_int(owner, f"image_size[{place}]", size, 1)
            for place, size in enumerate(image_size)
        )
        self._class_count = check_int(owner, "num_classes", num_classes, 1)
        self.base_seed = check_int(owner, "base_seed", base_seed, -INT32_MAX - 1)
        super().__init__(
            ".",
            num_samples,
            num_parallel_workers,
            shuffle,
            sampler,
            num_shards,
            shard_id,
            cache,
        )

    def num_classes(self) -> int:
        """Give the number of classes."""
        return self._class_count

    def _length(self) -> int:
        return self.num_images

    def _labels(self) -> Any:
        return lambda: np.array([self._draw(row)[1] for row in range(self.num_images)])

    def _read(self, number: int) -> tuple[Any, ...]:
        random, label = self._draw(number)
        image = random.randint(0, 256, self.image_size, np.uint8)
        return image, np.array(label, np.uint32)

    def _draw(self, number: int) -> tuple[np.random.RandomState, int]:
        """Give a row's stream and its label, drawn as C++'s uniform distribution does."""
        random = np.random.RandomState((self.base_seed + number) % 2**32)
        while True:
            product = int(random.randint(0, 2**32, dtype=np.uint32)) * self._class_count
            if product % 2**32 >= 2**32 % self._class_count:
                return random, product >> 32
