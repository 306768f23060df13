"""Writing MindRecord files."""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import IO, Any

from mindjax import log
from mindjax.core.atomic import replacing
from mindjax.core.errors import located
from mindjax.mindrecord import config
from mindjax.mindrecord.exceptions import (
    MRMAddSchemaError,
    MRMDefineIndexError,
    MRMGetMetaError,
    ParamTypeError,
    ParamValueError,
    damaged,
)
from mindjax.mindrecord.header import (
    DEFAULT_HEADER_SIZE,
    DEFAULT_PAGE_SIZE,
    HEADER_SIZES,
    MAX_SHARD_COUNT,
    PAGE_SIZES,
    Header,
    read_header,
)
from mindjax.mindrecord.index import Row, index_path, new_index
from mindjax.mindrecord.pages import PageWriter, rows_of
from mindjax.mindrecord.schema import Schema, check_schema
from mindjax.mindrecord.shards import check_filename

Encoded = tuple[bytes, bytes, int]


class FileWriter:
    """Writes rows to MindRecord files, which appear when ``commit`` is called.

    Until then the files lie beside their places under other names; a program that ends before
    leaves what was there as it was. The original shows unfinished files instead.

    Args:
        file_name: path of the file; several get a number behind it.
        shard_num: number of files, 1 to 1000.
        overwrite: whether files that exist are replaced.

    Raises:
        ParamValueError: an argument is wrong.
        RuntimeError: several files are asked for while there is a key for encryption.
    """

    def __init__(self, file_name: str, shard_num: int = 1, overwrite: bool = False) -> None:
        check_filename(file_name)
        if shard_num is None:
            raise ParamValueError("Parameter shard_num is None.")
        if not isinstance(shard_num, int):
            raise ParamValueError("Parameter shard_num's type is not int.")
        if not 1 <= shard_num <= MAX_SHARD_COUNT:
            raise ParamValueError(
                f"Parameter shard_num's value: {shard_num} should between 1 and {MAX_SHARD_COUNT}."
            )
        if not isinstance(overwrite, bool):
            raise ParamValueError("Parameter overwrite's type is not bool.")
        if shard_num > 1 and config.get_enc_key() is not None:
            raise located(
                RuntimeError,
                "When encode mode is enabled, the automatic sharding function is unavailable.",
            )
        digits = len(str(shard_num - 1))
        self._paths = (
            [file_name]
            if shard_num == 1
            else [f"{file_name}{place:0{digits}}" for place in range(shard_num)]
        )
        self._overwrite = overwrite
        self._append = False
        self._schema: Schema | None = None
        self._index_fields: list[str] = []
        self._sizes: dict[str, int] = {}
        self._parallel: bool | None = None
        self._files: list[_Draft] | None = None
        self._workers: list[_Worker] = []
        self._turn = 0
        self._committed = False

    @classmethod
    def open_for_append(cls, file_name: str) -> FileWriter:
        """Open a file to append rows to it.

        The rows go behind those that are there; the header is replaced last.

        Args:
            file_name: path of the file.

        Returns:
            A writer that has the file's schema.

        Raises:
            ParamValueError: the path is none.
            RuntimeError: there is no such file or index, it is damaged, or one of several files.
        """
        check_filename(file_name)
        for path in (file_name, index_path(file_name)):
            config.open_plain(path).close()
        writer = cls(file_name, overwrite=True)
        writer._append = True
        draft = _Draft(file_name, 0, Header(), append=True)
        assert draft.header.schema is not None
        writer._schema, writer._index_fields = draft.header.schema, draft.header.index_fields
        writer._files = [draft]
        return writer

    def add_schema(self, content: dict[str, dict[str, Any]], desc: str | None = None) -> None:
        """Say which fields a row has.

        Args:
            content: name to ``{"type": kind}``, with kind one of int32, int64, float32, float64,
                string, bytes; or to ``{"type": number, "shape": [...]}`` for an array, with at most
                one size -1.
            desc: text that is kept in the file.

        Raises:
            MRMInvalidSchemaError: ``content`` is no such dictionary.
            MRMBuildSchemaError: a shape has sizes that no array has.
            MRMAddSchemaError: there is a schema already.
        """
        schema = check_schema(content, desc)
        if self._schema is not None:
            raise MRMAddSchemaError
        self._schema = schema

    def add_index(self, index_fields: list[str]) -> None:
        """Choose the fields that the index holds; without a choice, all single numbers and texts.

        Args:
            index_fields: their names.

        Raises:
            ParamTypeError: it is no list of texts.
            MRMGetMetaError: there is no schema yet.
            MRMDefineIndexError: a field is an array or bytes.
            RuntimeError: there is no such field, it is chosen already, or rows were written.
        """
        if not index_fields or not isinstance(index_fields, list):
            raise ParamTypeError("index_fields", "list")
        if self._schema is None:
            raise MRMGetMetaError
        blobs = {field.name for field in self._schema.blobs}
        for name in index_fields:
            if not isinstance(name, str):
                raise ParamTypeError("index field", "str")
            if name in blobs:
                raise MRMDefineIndexError(
                    f"Failed to set field {name} since it's not primitive type."
                )
        self._refuse_after_start("add_index")
        for name in index_fields:
            if name not in self._schema.fields:
                raise located(
                    RuntimeError,
                    f"Invalid input, 'index_fields': {name} can not found in schema: "
                    f"{self._schema.content()}. Please use 'add_index' function to add proper "
                    "'index_fields'.",
                )
            if name in self._index_fields:
                raise located(
                    RuntimeError,
                    f"The 'index_fields': {name} is added repeatedly. Please remove the redundant "
                    "'add_index' function.",
                )
            self._index_fields.append(name)

    def set_header_size(self, header_size: int) -> None:
        """Set the bytes that the header may take.

        Args:
            header_size: 16 KiB to 128 MiB, a multiple of 4.

        Raises:
            RuntimeError: it is out of range, or rows were written.
            TypeError: it is no number.
        """
        self._sizes["header_size"] = self._size("header size", header_size, HEADER_SIZES)

    def set_page_size(self, page_size: int) -> None:
        """Set the bytes of a page, which a row must fit in.

        Args:
            page_size: 32 KiB to 256 MiB, a multiple of 4.

        Raises:
            RuntimeError: it is out of range, or rows were written.
            TypeError: it is no number.
        """
        self._sizes["page_size"] = self._size("page size", page_size, PAGE_SIZES)

    def _size(self, name: str, value: Any, bounds: tuple[int, int]) -> int:
        owner = f"set_{name.replace(' ', '_')}"
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise located(
                TypeError,
                f"For '{owner}', the {name} should be an int of at least 0, but got {value!r}.",
            )
        if not bounds[0] <= value <= bounds[1]:
            raise located(
                RuntimeError,
                f"Invalid data, {name}: {value} should be in range [{bounds[0]} bytes, {bounds[1]} "
                "bytes].",
            )
        if value % 4:
            raise located(RuntimeError, f"Invalid data, {name} {value} should be divided by four.")
        self._refuse_after_start(owner)
        return value

    def _refuse_after_start(self, owner: str) -> None:
        if self._files is not None:
            raise located(RuntimeError, f"For '{owner}', rows are written already: call it before.")

    def write_raw_data(self, raw_data: list[dict[str, Any]], parallel_writer: bool = False) -> None:
        """Write rows; those that do not fit the schema are taken out of the list, with a warning.

        Rows are dealt to the files in equal parts. The original deals what is left over by chance;
        here the files take turns.

        Args:
            raw_data: rows: field to value.
            parallel_writer: whether each call's rows go to one file as a whole, written by a thread
                of its own, the files in turn.

        Raises:
            TypeError: ``parallel_writer`` is no bool.
            ParamTypeError: ``raw_data`` is no list of dictionaries.
            RuntimeError: no row is left, a file exists, there is no schema, a row is larger than a
                page, calls differ in ``parallel_writer``, ``commit`` was called, or a thread
                failed.
        """
        if not isinstance(parallel_writer, bool):
            raise located(TypeError, "The parameter `parallel_writer` must be bool.")
        if self._parallel is None:
            self._parallel = parallel_writer
        if self._parallel != parallel_writer:
            raise located(
                RuntimeError, "The parameter `parallel_writer` must be consistent during use."
            )
        files = self._open()
        if not isinstance(raw_data, list):
            raise ParamTypeError("raw_data", "list")
        if self._committed:
            raise located(
                RuntimeError,
                "Not allowed to call `write_raw_data` on flushed MindRecord files: call `commit` "
                "last, or `open_for_append` to append to an existing file.",
            )
        for row in raw_data:
            if not isinstance(row, dict):
                raise ParamTypeError("raw_data item", "dict")
        if parallel_writer:
            if not self._workers:
                self._workers = [_Worker(file) for file in files]
            self._workers[self._turn].put(self._encoded(raw_data))
            self._turn = (self._turn + 1) % len(files)
            return
        rows = self._encoded(raw_data)
        saved = sum(row[2] for row in rows)
        each, left = divmod(len(rows), len(files))
        start = 0
        for place, file in enumerate(files):
            extra = (place - self._turn) % len(files) < left
            stop = start + each + extra
            file.append(rows[start:stop])
            file.header.compression_size += saved
            start = stop
        self._turn = (self._turn + left) % len(files)

    def _encoded(self, raw_data: list[dict[str, Any]]) -> list[Encoded]:
        assert self._schema is not None
        faults = [(place, self._schema.fault(row)) for place, row in enumerate(raw_data)]
        for place, fault in reversed(faults):
            if fault:
                del raw_data[place]
                log.warning("for schema, %s th data is wrong, %s", place, fault)
        if not raw_data:
            raise located(
                RuntimeError,
                "There is no valid data which can be written by 'write_raw_data' to mindrecord "
                "file. Please check the abnormal input data indicated in the warning log above.",
            )
        return [self._schema.encode(row) for row in raw_data]

    def _open(self) -> list[_Draft]:
        if self._files is not None:
            return self._files
        if self._schema is None:
            raise located(
                RuntimeError,
                "Invalid data, schema is not found in header, please use 'add_schema' to add a "
                "schema for new mindrecord files.",
            )
        for path in self._paths:
            folder = os.path.dirname(os.path.abspath(path))
            if not os.path.isdir(folder):
                raise located(
                    RuntimeError,
                    "Invalid dir, failed to get the realpath of mindrecord file dir. Please check "
                    f"path: {folder}",
                )
            if not self._overwrite and os.path.exists(path):
                raise located(
                    RuntimeError,
                    f"Invalid file, mindrecord files already exist. Please check file path: {path}."
                    " If you do not want to keep the files, set the 'overwrite' parameter to True "
                    "and try again.",
                )
        fields = self._index_fields or [field.name for field in self._schema.raws]
        names = [os.path.basename(path) for path in self._paths]
        self._files = [
            _Draft(
                path,
                place,
                Header(
                    self._schema,
                    fields,
                    # MindSpore: a file written in parallel knows only itself.
                    shards=[names[place]] if self._parallel else names,
                    shard=0 if self._parallel else place,
                    header_size=self._sizes.get("header_size", DEFAULT_HEADER_SIZE),
                    page_size=self._sizes.get("page_size", DEFAULT_PAGE_SIZE),
                ),
            )
            for place, path in enumerate(self._paths)
        ]
        return self._files

    def commit(self) -> None:
        """Finish the files and write their indexes.

        Raises:
            RuntimeError: there is no schema, a file exists, the header is larger than its size, a
                thread failed, or it was called before.
        """
        files = self._open()
        if self._committed:
            raise located(RuntimeError, "For 'commit', the files are committed already.")
        try:
            for worker in self._workers:
                worker.finish()
            with ExitStack() as stack:
                for file in files:
                    file.prepare(stack)
                for file in files:
                    file.place()
        finally:
            self._committed = True
            self._discard()

    def _discard(self) -> None:
        for worker in self._workers:
            worker.abandon()
        for file in self._files or []:
            file.discard()

    def __del__(self) -> None:
        if hasattr(self, "_workers"):
            self._discard()


class _Discard(Exception):
    """Ends a draft that is not to be kept."""


class _Draft:
    """A shard that is being written.

    Args:
        path: the file.
        place: its number among the shards.
        header: its header.
        append: whether it exists and grows.
    """

    def __init__(self, path: str, place: int, header: Header, append: bool = False) -> None:
        self.path, self.header = path, header
        self._append = append
        self._ending: AbstractContextManager[IO[bytes]] | None = None
        if append and config.get_enc_key() is None:
            self._file = open(path, "r+b")  # noqa: SIM115  (closed by `place`)
        else:
            self._ending = replacing(path, 0o600)
            self._file = self._ending.__enter__()
        if append:
            try:
                if config.get_enc_key() is not None:
                    with config.open_plain(path) as plain:
                        shutil.copyfileobj(plain, self._file, 1 << 20)
                self._resume()
            except BaseException:
                self.discard()
                raise
        self._pages = PageWriter(self._file, self.header)

    def _resume(self) -> None:
        try:
            self.header = read_header(self._file)
        except ValueError as error:
            raise damaged(self.path, str(error)) from None
        if len(self.header.shards) > 1:
            raise located(
                RuntimeError,
                f"Invalid file, {self.path} is one of {len(self.header.shards)} files that were "
                "written together: rows can be appended to a single file.",
            )

    def discard(self) -> None:
        """Leave what was there as it was; a file that grew keeps its old header."""
        ending, self._ending = self._ending, None
        if ending is not None:
            with contextlib.suppress(_Discard):
                ending.__exit__(_Discard, _Discard(), None)
        elif hasattr(self, "_file"):
            self._file.close()

    def append(self, rows: list[Encoded]) -> None:
        """Append encoded rows."""
        if rows:
            self._pages.append([row[0] for row in rows], [row[1] for row in rows])

    def prepare(self, stack: ExitStack) -> None:
        """Write all but what makes the file and its index visible; ``stack`` shows the index."""
        file = self._file
        try:
            self._start = self.header.to_bytes()
        except ValueError as error:
            raise located(RuntimeError, f"Invalid data, {error}.") from None
        if not self._append:
            file.seek(0)
            file.write(self._start)
        file.flush()
        name = os.path.basename(self.path)
        index = index_path(self.path)
        stack.enter_context(new_index(index, name, self.header, self._rows()))

    def _rows(self) -> Iterator[Row]:
        schema = self.header.schema
        assert schema is not None
        try:
            for positions, raw in rows_of(self._file, self.header):
                yield positions, schema.decode_raw(raw) if schema.raws else {}
        except ValueError as error:
            raise damaged(self.path, str(error)) from None

    def place(self) -> None:
        """Put the file where it belongs. An old index goes first: it says nothing of a new file."""
        os.fsync(self._file.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.unlink(index_path(self.path))
        if self._append:
            self._file.seek(0)
            self._file.write(self._start)
            self._file.flush()
            os.fsync(self._file.fileno())
        if config.get_enc_key() is not None:
            with replacing(self.path, 0o600) as sealed:
                config.seal(self._file, sealed)
        ending = self._ending
        if ending is not None and config.get_enc_key() is None:
            self._ending = None
            ending.__exit__(None, None, None)
        self.discard()


class _Worker:
    """A thread that writes one shard.

    Args:
        file: the shard.
    """

    def __init__(self, file: _Draft) -> None:
        self._file = file
        self._queue: queue.Queue[list[Encoded] | None] = queue.Queue(2)
        self._error: Exception | None = None
        self._abandoned = False
        self._thread = threading.Thread(target=self._run, name="mindrecord writer", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while (rows := self._queue.get()) is not None and not self._abandoned:
            if self._error is None:
                try:
                    self._file.append(rows)
                    self._file.header.compression_size += sum(row[2] for row in rows)
                except Exception as error:  # shown by the next call
                    self._error = error

    def put(self, rows: list[Encoded]) -> None:
        """Hand over rows; waits while two lists are waiting."""
        self._check()
        self._queue.put(rows)

    def finish(self) -> None:
        """Wait until all rows are written."""
        self._queue.put(None)
        self._thread.join()
        self._check()

    def abandon(self) -> None:
        """End the thread without the rows that are waiting."""
        self._abandoned = True
        with contextlib.suppress(queue.Full):
            self._queue.put_nowait(None)
        self._thread.join()

    def _check(self) -> None:
        if self._error is not None:
            raise located(
                RuntimeError, f"A thread that writes rows has stopped abnormally: {self._error}"
            ) from self._error
