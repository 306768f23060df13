"""Tokenizing by SentencePiece; needs the package of that name."""

from __future__ import annotations

import importlib
import io
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_int, check_type
from mindjax.dataset.text.enums import SentencePieceModel, SPieceTokenizerOutType
from mindjax.dataset.text.operation import TextOperation


def _package() -> Any:
    try:
        return importlib.import_module("sentencepiece")
    except ImportError:
        raise located(
            ImportError, 'SentencePiece is not installed: pip install "mindjax[text]".'
        ) from None


class SentencePieceVocab:
    """A model of SentencePiece; made by ``from_dataset`` or ``from_file``."""

    def __init__(self) -> None:
        self.model = b""

    @classmethod
    def from_dataset(
        cls,
        dataset: Any,
        col_names: list[str],
        vocab_size: int,
        character_coverage: float,
        model_type: SentencePieceModel,
        params: dict[str, Any],
    ) -> SentencePieceVocab:
        """Train a model on columns of a data set.

        Args:
            dataset: the data set.
            col_names: its columns of texts.
            vocab_size: number of pieces.
            character_coverage: share of the characters that are covered.
            model_type: how pieces are found.
            params: more arguments of SentencePiece's trainer.

        Returns:
            The model.

        Raises:
            ImportError: SentencePiece is not installed.
            RuntimeError: there are too few texts for so many pieces.
        """
        check_type("SentencePieceVocab", "col_names", col_names, list)
        chosen = dataset.project(col_names) if col_names else dataset

        def texts() -> Iterator[str]:
            for row in chosen.create_tuple_iterator(num_epochs=1, output_numpy=True):
                for column in row:
                    yield from map(str, np.ravel(column))

        source = {"sentence_iterator": texts()}
        return cls._train(source, vocab_size, character_coverage, model_type, params)

    @classmethod
    def from_file(
        cls,
        file_path: list[str],
        vocab_size: int,
        character_coverage: float,
        model_type: SentencePieceModel,
        params: dict[str, Any],
    ) -> SentencePieceVocab:
        """Train a model on the lines of files.

        Args:
            file_path: paths of the files.
            vocab_size: number of pieces.
            character_coverage: share of the characters that are covered.
            model_type: how pieces are found.
            params: more arguments of SentencePiece's trainer.

        Returns:
            The model.

        Raises:
            ImportError: SentencePiece is not installed.
            RuntimeError: a file is missing, or there are too few texts for so many pieces.
        """
        check_type("SentencePieceVocab", "file_path", file_path, list)
        for path in file_path:
            if not os.path.isfile(path):
                raise located(RuntimeError, f"Invalid file, SentencePiece file not exist: {path}.")
        source = {"input": ",".join(file_path)}
        return cls._train(source, vocab_size, character_coverage, model_type, params)

    @classmethod
    def _train(
        cls,
        source: dict[str, Any],
        vocab_size: int,
        character_coverage: float,
        model_type: SentencePieceModel,
        params: dict[str, Any],
    ) -> SentencePieceVocab:
        check_int("SentencePieceVocab", "vocab_size", vocab_size, 0)
        check_type("SentencePieceVocab", "character_coverage", character_coverage, float)
        check_type("SentencePieceVocab", "model_type", model_type, SentencePieceModel)
        check_type("SentencePieceVocab", "params", params, dict)
        package, written = _package(), io.BytesIO()
        try:
            package.SentencePieceTrainer.train(
                **source,
                model_writer=written,
                vocab_size=vocab_size,
                character_coverage=character_coverage,
                model_type=model_type.name.lower(),
                minloglevel=2,
                **params,
            )
        except (OSError, RuntimeError) as error:
            text = " ".join(str(error).split())
            raise located(RuntimeError, f"SentencePiece cannot be trained: {text}") from None
        made = cls()
        made.model = written.getvalue()
        return made

    @classmethod
    def save_model(cls, vocab: SentencePieceVocab, path: str, filename: str) -> None:
        """Write a model into a file.

        Args:
            vocab: the model.
            path: folder.
            filename: name of the file.

        Raises:
            TypeError: an argument has the wrong type.
            RuntimeError: there is no such folder.
        """
        check_type("SentencePieceVocab", "vocab", vocab, cls)
        check_type("SentencePieceVocab", "path", path, str)
        check_type("SentencePieceVocab", "filename", filename, str)
        if not os.path.isdir(path):
            raise located(RuntimeError, f"SentencePieceVocab: no folder to save the model: {path}.")
        with open(os.path.join(path, filename), "wb") as file:
            file.write(vocab.model)


class SentencePieceTokenizer(TextOperation):
    """Cuts a text into the pieces of a SentencePiece model.

    Args:
        mode: a ``SentencePieceVocab``, or the path of a model.
        out_type: whether pieces are texts, or their numbers (int32).

    Raises:
        TypeError: an argument has the wrong type.
        ImportError: SentencePiece is not installed.
        RuntimeError: there is no such model.
    """

    def __init__(self, mode: str | SentencePieceVocab, out_type: SPieceTokenizerOutType) -> None:
        if not isinstance(mode, str | SentencePieceVocab):
            raise self._fail(
                f"Argument mode with value {mode!r} is not of type [str, SentencePieceVocab].",
                TypeError,
            )
        if not isinstance(out_type, SPieceTokenizerOutType):
            raise self._fail(
                f"Argument out_type with value {out_type!r} is not of type "
                "[SPieceTokenizerOutType].",
                TypeError,
            )
        self.out_type = out_type
        model = mode.model if isinstance(mode, SentencePieceVocab) else self._read(mode)
        try:
            self._pieces = _package().SentencePieceProcessor(model_proto=model)
        except RuntimeError as error:
            raise self._fail(f"parse model failed: {' '.join(str(error).split())}") from None

    def _read(self, path: str) -> bytes:
        if not os.path.isfile(path):
            raise self._fail(f"load model failed, there is no file: {path}")
        with open(path, "rb") as file:
            return file.read()

    def _apply(self, column: np.ndarray) -> np.ndarray:
        texts = self._texts(column)
        if texts.ndim:
            raise self._fail(f"the input shape should be scalar, but got shape: {texts.shape}.")
        as_text = self.out_type is SPieceTokenizerOutType.STRING
        found = self._pieces.encode(str(texts), out_type=str if as_text else int)
        return np.array(found, np.str_ if as_text else np.int32)
