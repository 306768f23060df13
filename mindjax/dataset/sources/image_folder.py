"""Images in folders that are named for their classes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_bool, check_type
from mindjax.dataset.engine.run import Run
from mindjax.dataset.sources.mappable import MappableDataset


class ImageFolderDataset(MappableDataset):
    """Images: columns ``image``, the bytes of a file or an RGB image, and ``label`` int32.

    Args:
        dataset_dir: folder with a folder for each class.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        sampler: a ``Sampler`` or an iterable of row numbers.
        extensions: endings of names of files that are taken; None for all.
        class_indexing: label of each class that is taken; None numbers all in the order of names.
        decode: whether images are decoded.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.
        decrypt: function from the path of a file to its bytes.

    Raises:
        ValueError: the folder does not exist.
        RuntimeError: arguments exclude each other; when rows are read: there are none.
    """

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        extensions: list[str] | None = None,
        class_indexing: dict[str, int] | None = None,
        decode: bool = False,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        decrypt: Callable[[str], bytes] | None = None,
    ) -> None:
        super().__init__(
            num_parallel_workers, num_samples, sampler, shuffle, num_shards, shard_id, cache
        )
        owner = "ImageFolderDataset"
        check_type(owner, "dataset_dir", dataset_dir, (str, os.PathLike))
        if not os.path.isdir(dataset_dir) or not os.access(dataset_dir, os.R_OK):
            raise located(
                ValueError,
                f"For '{owner}': The folder {dataset_dir} does not exist or is not a directory or "
                "permission denied!",
            )
        check_type(owner, "extensions", extensions, (list, type(None)))
        check_type(owner, "class_indexing", class_indexing, (dict, type(None)))
        if decrypt is not None and not callable(decrypt):
            raise located(
                TypeError, f"For '{owner}': Argument decrypt is not a callable object: {decrypt!r}."
            )
        self.dataset_dir, self.extensions = os.fspath(dataset_dir), extensions or []
        self.class_indexing = dict(class_indexing or {})
        self.decode, self.decrypt = check_bool(owner, "decode", decode), decrypt
        self._files: list[tuple[str, int]] | None = None

    def _columns(self) -> list[str]:
        return ["image", "label"]

    def _classes(self) -> dict[str, int]:
        names = sorted(entry.name for entry in os.scandir(self.dataset_dir) if entry.is_dir())
        if not self.class_indexing:
            return {name: number for number, name in enumerate(names)}
        return {name: self.class_indexing[name] for name in names if name in self.class_indexing}

    def _listed(self) -> list[tuple[str, int]]:
        if self._files is None:
            found = []
            for name, label in self._classes().items():
                folder = os.path.join(self.dataset_dir, name)
                for file in sorted(os.listdir(folder)):
                    path = os.path.join(folder, file)
                    wanted = not self.extensions or os.path.splitext(file)[1] in self.extensions
                    if wanted and os.path.isfile(path):
                        found.append((path, label))
            if not found:
                raise located(
                    RuntimeError,
                    "Invalid data, ImageFolderDataset API can't read the data file (interface "
                    "mismatch or no data found). Check image folder file path: "
                    f"{self.dataset_dir}",
                )
            self._files = found
        return self._files

    def _length(self) -> int:
        return len(self._listed())

    def _labels(self) -> Any:
        return lambda: np.array([label for _, label in self._listed()], np.int32)

    def num_classes(self) -> int:
        """Give the number of classes."""
        return len(self._classes())

    def get_class_indexing(self) -> dict[str, int]:
        """Give the label of each class."""
        return self._classes()

    def _read(self, number: int) -> tuple[Any, ...]:
        from mindjax.dataset.vision.codec import Decode

        path, label = self._listed()[number]
        if self.decrypt is not None:
            content = self.decrypt(path)
        else:
            with open(path, "rb") as file:
                content = file.read()
        image = np.frombuffer(content, np.uint8)
        return Decode()(image) if self.decode else image, np.array(label, np.int32)

    def _rows(self, run: Run) -> Iterator[tuple[Any, ...]]:
        rows = self._indices(run).tolist()
        count = self._worker_count()
        return run.map(self, self._read, rows, count, False, "ImageFolderDataset")
