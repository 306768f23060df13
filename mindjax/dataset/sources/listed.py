"""The base of sources that list their rows first and then read each by itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_bool, check_member, check_type
from mindjax.dataset.engine.failures import pipeline_error
from mindjax.dataset.engine.run import Run
from mindjax.dataset.engine.samplers import PKSampler
from mindjax.dataset.sources.mappable import MappableDataset, check_folder


class ListedDataset(MappableDataset):
    """A source that lists its rows and reads one when it is asked for.

    A subclass gives the names of its columns, the list (``_list``), whose entries are what it
    likes, and the columns of one entry (``_row``).

    Args:
        dataset_dir: folder of the set.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.
        decode: whether images are decoded.

    Raises:
        ValueError: the folder does not exist, or a shard is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is missing or bad.
    """

    _column_names: ClassVar[tuple[str, ...]] = ("image", "label")
    _refuses_pk: ClassVar[bool] = False
    decrypt: Callable[[str], Any] | None = None

    def __init__(
        self,
        dataset_dir: Any,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        decode: bool | None = False,
    ) -> None:
        owner = type(self).__name__
        self.dataset_dir = check_folder(owner, dataset_dir)
        self.decode = decode is not None and check_bool(owner, "decode", decode)
        if self._refuses_pk and isinstance(sampler, PKSampler):
            raise located(ValueError, f"{owner} doesn't support PKSampler.")
        super().__init__(
            num_parallel_workers, num_samples, sampler, shuffle, num_shards, shard_id, cache
        )
        self._listed: list[Any] | None = None

    # What a subclass says.

    def _list(self) -> list[Any]:
        raise NotImplementedError(type(self).__name__)

    def _row(self, entry: Any) -> tuple[Any, ...]:
        raise NotImplementedError(type(self).__name__)

    def _class_of(self, entry: Any) -> int:
        raise NotImplementedError(type(self).__name__)

    def _columns(self) -> list[str]:
        return list(self._column_names)

    # What they use.

    def _path(self, *names: str) -> str:
        return os.path.join(self.dataset_dir, *names)

    def _image(self, path: str) -> np.ndarray:
        return read_image(path, self.decode, self.decrypt)

    def _no_rows(self, what: str = "file in directory") -> Exception:
        return located(
            RuntimeError,
            f"Invalid data, {type(self).__name__} API can't read the data file (interface mismatch "
            f"or no data found). Check {what}: {self.dataset_dir}",
        )

    # What the engine asks.

    def _entries(self) -> list[Any]:
        if self._listed is None:
            self._listed = self._list()
            if not self._listed:
                self._listed = None
                raise self._no_rows()
        return self._listed

    def _length(self) -> int:
        return len(self._entries())

    def _labels(self) -> Any:
        if type(self)._class_of is ListedDataset._class_of:
            return None
        return lambda: np.array([self._class_of(entry) for entry in self._entries()])

    def _read(self, number: int) -> tuple[Any, ...]:
        return self._row(self._entries()[number])

    def _rows(self, run: Run) -> Iterator[tuple[Any, ...]]:
        rows = self._indices(run).tolist()
        return run.map(self, self._read, rows, self._worker_count(), False, type(self).__name__)


class ClassesDataset(ListedDataset):
    """A source whose entries are pairs of a path and a number of a class.

    Args:
        dataset_dir: folder of the set.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        decode: whether images are decoded.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.
    """

    _label_type: ClassVar[Any] = np.uint32

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        super().__init__(
            dataset_dir,
            num_samples,
            num_parallel_workers,
            shuffle,
            sampler,
            num_shards,
            shard_id,
            cache,
            decode,
        )

    def _class_of(self, entry: Any) -> int:
        return entry[1]

    def _row(self, entry: Any) -> tuple[Any, ...]:
        return self._image(entry[0]), np.array(entry[1], self._label_type)


class PartsDataset(ListedDataset):
    """A source that has parts.

    Args:
        dataset_dir: folder of the set.
        usage: which part; None for the default one.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        decode: whether images are decoded.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.
    """

    _usages: ClassVar[tuple[str, ...]] = ("train", "test", "all")
    _default_usage: ClassVar[str] = "all"

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = type(self).__name__
        check_folder(owner, dataset_dir)
        self.usage = check_choice(owner, "usage", usage, self._usages, self._default_usage)
        super().__init__(
            dataset_dir,
            num_samples,
            num_parallel_workers,
            shuffle,
            sampler,
            num_shards,
            shard_id,
            cache,
            decode,
        )


def check_file(owner: str, path: Any, name: str) -> str:
    """Give a file as a text.

    Raises:
        TypeError: it is no path.
        ValueError: there is no such file.
    """
    check_type(owner, name, path, (str, os.PathLike))
    if not os.path.isfile(path) or not os.access(path, os.R_OK):
        raise located(
            ValueError, f"For '{owner}': The file {path} does not exist or permission denied!"
        )
    return os.fspath(path)


def check_choice(
    owner: str, name: str, value: Any, allowed: Iterable[str], default: str | None = None
) -> str:
    """Give one of some texts, or the default for None.

    Raises:
        TypeError: it is no text.
        ValueError: it is another one.
    """
    if value is None and default is not None:
        return default
    check_type(owner, name, value, str)
    check_member(owner, name, value, allowed)
    return str(value)


def check_decrypt(owner: str, decrypt: Any) -> Callable[[str], Any] | None:
    """Refuse what is neither None nor a function; give it back."""
    if decrypt is not None and not callable(decrypt):
        raise located(
            TypeError,
            f"For '{owner}': Argument decrypt is not a callable object, but got {type(decrypt)}.",
        )
    return decrypt


def read_bytes(path: str, decrypt: Callable[[str], Any] | None = None) -> bytes:
    """Read a file of a row, or have it decrypted.

    Raises:
        RuntimeError: it cannot be read.
    """
    if decrypt is not None:
        return decrypt(path)
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise pipeline_error(f"Failed to open file: {path}: {error.strerror}.") from None


def read_image(path: str, decode: bool, decrypt: Callable[[str], Any] | None = None) -> np.ndarray:
    """Read an image of a row.

    Args:
        path: the file.
        decode: whether it is decoded.
        decrypt: function from a path to the bytes of the file.

    Returns:
        The bytes of the file, or an image of shape (H, W, 3); uint8.

    Raises:
        RuntimeError: it cannot be read or decoded.
    """
    content = np.frombuffer(read_bytes(path, decrypt), np.uint8)
    if not decode:
        return content
    from mindjax.dataset.vision.codec import Decode

    try:
        return Decode()(content)
    except RuntimeError:
        raise pipeline_error(
            f"Invalid image, failed to decode {path}: the image is broken or permission denied."
        ) from None


def read_lines(path: str, kind: str) -> list[str]:
    """Read the lines of a file that lists rows.

    Args:
        path: the file.
        kind: what it is, for messages.

    Raises:
        RuntimeError: it cannot be read.
    """
    try:
        with open(path, encoding="utf-8", newline="\n") as file:
            return file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise located(
            RuntimeError,
            f"Invalid file, failed to open {path}: {kind} file is damaged or permission denied: "
            f"{error}.",
        ) from None


def list_folder(folder: str, endings: tuple[str, ...] = (), folders: bool = False) -> list[str]:
    """Give the sorted names of a folder's files, or of its folders.

    Args:
        folder: where to look.
        endings: endings of names of files that count, in either case; none for all.
        folders: whether folders are wanted.

    Raises:
        RuntimeError: it cannot be read.
    """
    try:
        entries = list(os.scandir(folder))
    except OSError as error:
        raise located(
            RuntimeError,
            f"Invalid path, failed to open folder: {folder}, not exists or permission denied: "
            f"{error.strerror}.",
        ) from None
    if folders:
        return sorted(entry.name for entry in entries if entry.is_dir())
    return sorted(
        entry.name
        for entry in entries
        if entry.is_file() and (not endings or entry.name.lower().endswith(endings))
    )


def bad_line(path: str, number: int, line: str, wanted: str) -> Exception:
    """Build the error of a line that says nothing known; it names the file and the line."""
    return located(
        RuntimeError,
        f"Invalid file, line {number} of {path} should be {wanted}, but got {line[:100]!r}.",
    )


def numbers(path: str, number: int, line: str, words: Iterable[str], kind: type) -> list[Any]:
    """Read some words of a line as numbers.

    Raises:
        RuntimeError: one is none.
    """
    try:
        return [kind(word) for word in words]
    except ValueError:
        raise bad_line(path, number, line, f"numbers ({kind.__name__})") from None


def read_mat(owner: str, path: str, *wanted: str) -> dict[str, Any]:
    """Read a MATLAB file.

    Args:
        owner: name of the dataset, for messages.
        path: the file.
        wanted: variables that it must hold.

    Raises:
        RuntimeError: it cannot be read, or a variable is missing.
    """
    from scipy.io import loadmat

    try:
        found = loadmat(path)
    except Exception as error:  # a spoiled file raises whatever its first bytes lead to
        raise pipeline_error(
            f"Invalid file, {owner} failed to read {path}: {type(error).__name__}: {error}."
        ) from None
    for name in wanted:
        if name not in found:
            raise pipeline_error(f"Invalid file, {owner}: {name} is missing in {path}.")
    return found
