"""Sets of speech and music."""

from __future__ import annotations

import os
import re
from typing import Any, ClassVar

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_type
from mindjax.dataset.engine.failures import pipeline_error
from mindjax.dataset.sources.listed import (
    ListedDataset,
    bad_line,
    check_choice,
    check_folder,
    list_folder,
    numbers,
    read_lines,
)
from mindjax.dataset.sources.sound import read_sphere, read_wav


class SoundDataset(ListedDataset):
    """A source of WAV files of one rate, or of any."""

    _rate: ClassVar[int | None] = None
    _rate_type: ClassVar[Any] = np.uint32

    def _sound(self, path: str) -> tuple[np.ndarray, np.ndarray]:
        waveform, rate = read_wav(path)
        if self._rate not in (None, rate):
            name = type(self).__name__.removesuffix("Dataset")
            raise pipeline_error(
                f"Invalid file, sampling rate of {name} wav file must be {self._rate}, but got "
                f"{rate}, file path: {path}"
            )
        return waveform, np.array(rate, self._rate_type)


class PartedSoundDataset(SoundDataset):
    """A source of sound that has parts.

    Args:
        dataset_dir: folder of the set.
        usage: which part; None for all.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.
    """

    _usages: ClassVar[tuple[str, ...]] = ("train", "valid", "test", "all")

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = type(self).__name__
        check_folder(owner, dataset_dir)
        self.usage = check_choice(owner, "usage", usage, self._usages, "all")
        super().__init__(
            dataset_dir,
            num_samples,
            num_parallel_workers,
            shuffle,
            sampler,
            num_shards,
            shard_id,
            cache,
        )


class WholeSoundDataset(SoundDataset):
    """A source of sound without parts.

    Args:
        dataset_dir: folder of the set.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.
    """

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
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
        )


class CMUArcticDataset(SoundDataset):
    """Read sentences: ``waveform`` (1, n) float32, ``sample_rate`` uint32 and two texts.

    The texts are the columns ``transcript`` and ``utterance_id``.

    Args:
        dataset_dir: folder with folders such as ``cmu_us_aew_arctic``.
        name: the speaker: ``"aew"``, ``"ahw"``, ``"aup"``, ``"awb"``, ``"axb"``, ``"bdl"``,
            ``"clb"``, ``"eey"``, ``"fem"``, ``"gka"``, ``"jmk"``, ``"ksp"``, ``"ljm"``, ``"lnh"``,
            ``"rms"``, ``"rxr"``, ``"slp"`` or ``"slt"``; None for the first.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.

    Raises:
        ValueError: the folder does not exist, or ``name`` or a shard is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is missing or bad.
    """

    _column_names = ("waveform", "sample_rate", "transcript", "utterance_id")
    _rate = 16000

    def __init__(
        self,
        dataset_dir: str,
        name: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        check_folder("CMUArcticDataset", dataset_dir)
        self.name = check_choice("CMUArcticDataset", "name", name, _CMU_SPEAKERS.split(), "aew")
        super().__init__(
            dataset_dir,
            num_samples,
            num_parallel_workers,
            shuffle,
            sampler,
            num_shards,
            shard_id,
            cache,
        )

    def _list(self) -> list[Any]:
        folder = self._path(f"cmu_us_{self.name}_arctic")
        path = os.path.join(folder, "etc", "txt.done.data")
        if not os.path.isfile(path):
            raise located(RuntimeError, f"Invalid file, failed to find label file: {path}")
        found = []
        for number, line in enumerate(read_lines(path, "CMUArctic"), 1):
            if not line.strip():
                continue
            match = re.match(r'\s*\(\s*(\S+)\s+"(.*)"\s*\)', line)
            if match is None:
                raise bad_line(path, number, line, "a name and a text, within brackets")
            found.append((os.path.join(folder, "wav", f"{match[1]}.wav"), match[2], match[1]))
        return found

    def _row(self, entry: Any) -> tuple[Any, ...]:
        path, text, name = entry
        return (*self._sound(path), np.array(text), np.array(name.rpartition("_")[2]))


class GTZANDataset(PartedSoundDataset):
    """Music of ten genres: ``waveform`` (1, n) float32, ``sample_rate`` uint32 and ``label``.

    The folder holds a folder a genre, of files such as ``blues.00000.wav``; usages are ``"train"``,
    ``"valid"``, ``"test"``, the usual parts without faulty pieces, and ``"all"``, the default.
    Arguments are ``PartedSoundDataset``'s.
    """

    _column_names = ("waveform", "sample_rate", "label")
    _rate = 22050

    def _list(self) -> list[Any]:
        if self.usage == "all":
            found = [
                (self._path(genre, name), genre)
                for genre in list_folder(self.dataset_dir, folders=True)
                for name in list_folder(self._path(genre), (".wav",))
            ]
        else:
            found = [
                (self._path(genre, f"{genre}.{number:05}.wav"), genre)
                for genre, ranges in _GTZAN_PARTS[self.usage].items()
                for first, _, last in (word.partition("-") for word in ranges.split())
                for number in range(int(first), int(last or first) + 1)
            ]
            found = [entry for entry in found if os.path.isfile(entry[0])]
        if not found:
            raise located(
                RuntimeError, f"Invalid data, no valid data found in path:{self.dataset_dir}"
            )
        return found

    def _row(self, entry: Any) -> tuple[Any, ...]:
        return (*self._sound(entry[0]), np.array(entry[1]))


class LibriTTSDataset(PartedSoundDataset):
    """Read books: ``waveform`` (1, n) float32, ``sample_rate`` uint32, two texts and three names.

    The other columns are ``original_text``, ``normalized_text``, ``speaker_id`` and ``chapter_id``
    uint32, and ``utterance_id``. The folder holds a folder a part, which are the usages; the
    default is ``"all"``. Arguments are ``PartedSoundDataset``'s.
    """

    _column_names = (
        "waveform",
        "sample_rate",
        "original_text",
        "normalized_text",
        "speaker_id",
        "chapter_id",
        "utterance_id",
    )
    _rate = 24000
    _usages = (
        "dev-clean",
        "dev-other",
        "test-clean",
        "test-other",
        "train-clean-100",
        "train-clean-360",
        "train-other-500",
        "all",
    )

    def _list(self) -> list[Any]:
        found = []
        for part in self._usages[:-1] if self.usage == "all" else (self.usage,):
            if not os.path.isdir(self._path(part)):
                continue
            for speaker in list_folder(self._path(part), folders=True):
                for chapter in list_folder(self._path(part, speaker), folders=True):
                    found += self._chapter(self._path(part, speaker, chapter), speaker, chapter)
        if not found:
            raise located(
                RuntimeError,
                "Invalid data, no valid data matching the dataset API LibriTTSDataset. Please "
                f"check dataset API or file path: {self.dataset_dir}.",
            )
        return found

    def _chapter(self, folder: str, speaker: str, chapter: str) -> list[Any]:
        path = os.path.join(folder, f"{speaker}_{chapter}.trans.tsv")
        if not os.path.isfile(path):
            return []
        found = []
        for number, line in enumerate(read_lines(path, "LibriTTS"), 1):
            words = line.split("\t")
            if len(words) != 3:
                raise bad_line(path, number, line, "a name and two texts")
            parts = words[0].split("_")[:2]
            numbers_of = numbers(path, number, line, parts, int)
            if len(numbers_of) != 2:
                raise bad_line(path, number, line, "a name of numbers, and two texts")
            found.append((os.path.join(folder, f"{words[0]}.wav"), words, numbers_of))
        return found

    def _row(self, entry: Any) -> tuple[Any, ...]:
        path, (name, *texts), numbers_of = entry
        return (
            *self._sound(path),
            *map(np.array, texts),
            *(np.array(number, np.uint32) for number in numbers_of),
            np.array(name),
        )


class LJSpeechDataset(WholeSoundDataset):
    """A read book: ``waveform`` (1, n) float32, ``sample_rate`` int32 and two texts.

    The texts are the columns ``transcription`` and ``normalized_transcription``. The folder holds
    ``metadata.csv`` and ``wavs``. Arguments are ``WholeSoundDataset``'s.
    """

    _column_names = ("waveform", "sample_rate", "transcription", "normalized_transcription")
    _rate_type = np.int32

    def _list(self) -> list[Any]:
        path = self._path("metadata.csv")
        if not os.path.isfile(path):
            raise located(RuntimeError, f"Invalid file, failed to find metadata file: {path}")
        found = []
        for number, line in enumerate(read_lines(path, "LJSpeech"), 1):
            words = line.split("|")
            if len(words) != 3:
                raise bad_line(path, number, line, "a name and two texts")
            found.append((self._path("wavs", f"{words[0]}.wav"), words[1:]))
        return found

    def _row(self, entry: Any) -> tuple[Any, ...]:
        return (*self._sound(entry[0]), *map(np.array, entry[1]))


class SpeechCommandsDataset(PartedSoundDataset):
    """Spoken words: ``waveform`` (1, n) float32, ``sample_rate`` int32, ``label`` and who spoke.

    The other columns are ``speaker_id``, a text, and ``utterance_number`` int32. The folder holds a
    folder a word, ``validation_list.txt`` and ``testing_list.txt``; usages are ``"train"``,
    ``"test"``, ``"valid"`` and ``"all"``, the default. Arguments are ``PartedSoundDataset``'s.
    """

    _column_names = ("waveform", "sample_rate", "label", "speaker_id", "utterance_number")
    _rate_type = np.int32
    _usages = ("train", "test", "valid", "all")

    def _listed_in(self, kind: str) -> set[str]:
        lines = read_lines(self._path(f"{kind}_list.txt"), "SpeechCommands")
        return {line.strip() for line in lines if line.strip()}

    def _list(self) -> list[Any]:
        found = [
            f"{word}/{name}"
            for word in list_folder(self.dataset_dir, folders=True)
            if word != "_background_noise_"
            for name in list_folder(self._path(word), (".wav",))
        ]
        if not found:
            raise located(
                RuntimeError, f"Invalid file, no .wav files found under {self.dataset_dir}"
            )
        if self.usage == "train":
            others = self._listed_in("validation") | self._listed_in("testing")
            found = [name for name in found if name not in others]
        elif self.usage != "all":
            kind = "testing" if self.usage == "test" else "validation"
            wanted = self._listed_in(kind)
            found = [name for name in found if name in wanted]
        return [self._named(name) for name in found]

    def _named(self, name: str) -> tuple[Any, ...]:
        word, _, file = name.partition("/")
        speaker, _, number = file[:-4].partition("_nohash_")
        if not number.isdigit():
            raise located(
                RuntimeError,
                f"Invalid file, the name of {self._path(name)} should be a speaker, _nohash_ and a "
                "number.",
            )
        return self._path(word, file), word, speaker, int(number)

    def _row(self, entry: Any) -> tuple[Any, ...]:
        path, word, speaker, number = entry
        return (
            *self._sound(path),
            np.array(word),
            np.array(speaker),
            np.array(number, np.int32),
        )


class TedliumDataset(SoundDataset):
    """Pieces of talks: ``waveform`` (1, n) float32, ``sample_rate`` int32 and four texts.

    The texts are ``transcript``, ``talk_id``, ``speaker_id`` and ``identifier``. The first piece of
    each talk comes first, as in the original, then the second of each.

    Args:
        dataset_dir: folder with ``train``, ``test`` and ``dev``, or ``data`` in the third release.
        release: ``"release1"``, ``"release2"`` or ``"release3"``.
        usage: ``"train"``, ``"test"``, ``"dev"`` or ``"all"``, in the third release only
            ``"all"``; None for all.
        extensions: ending of the files of sound: ``".sph"`` or None for it.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.

    Raises:
        ValueError: the folder does not exist, or an argument is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is missing or bad.
    """

    _column_names = (
        "waveform",
        "sample_rate",
        "transcript",
        "talk_id",
        "speaker_id",
        "identifier",
    )

    def __init__(
        self,
        dataset_dir: str,
        release: str,
        usage: str | None = None,
        extensions: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "TedliumDataset"
        check_folder(owner, dataset_dir)
        releases = ("release1", "release2", "release3")
        self.release = check_choice(owner, "release", release, releases)
        usages = ("all",) if release == "release3" else ("train", "test", "dev", "all")
        self.usage = check_choice(owner, "usage", usage, usages, "all")
        check_type(owner, "extensions", extensions, (str, type(None)))
        if extensions not in (None, ".sph"):
            raise located(
                RuntimeError, f"TedliumNode: extension {extensions} is not supported: use .sph."
            )
        super().__init__(
            dataset_dir,
            num_samples,
            num_parallel_workers,
            shuffle,
            sampler,
            num_shards,
            shard_id,
            cache,
        )

    def _list(self) -> list[Any]:
        if self.release == "release3":
            parts = ("data",)
        else:
            parts = ("train", "test", "dev") if self.usage == "all" else (self.usage,)
        found = []
        for part in parts:
            folder = self._path(part, "stm")
            if not os.path.isdir(folder):
                raise located(RuntimeError, f"Invalid file, failed to open folder: {folder}")
            for name in list_folder(folder, (".stm",)):
                path = os.path.join(folder, name)
                sound = self._path(part, "sph", f"{name[:-4]}.sph")
                for number, line in enumerate(read_lines(path, "Tedlium"), 1):
                    words = line.split(" ", 6)
                    if len(words) != 7:
                        raise bad_line(path, number, line, "six words and a text")
                    times = numbers(path, number, line, words[3:5], float)
                    found.append((number, name, sound, times, words))
        return sorted(found, key=lambda entry: entry[:2])

    def _row(self, entry: Any) -> tuple[Any, ...]:
        _, _, sound, times, (talk, _, speaker, _, _, identifier, text) = entry
        waveform, rate = read_sphere(sound, *times)
        texts = map(np.array, (text, talk, speaker, identifier))
        return (waveform, np.array(rate, np.int32), *texts)


class YesNoDataset(WholeSoundDataset):
    """Eight times yes or no: ``waveform`` (1, n) float32, ``sample_rate`` and ``label`` (8,) int32.

    The folder holds files such as ``1_0_0_1_0_1_1_1.wav``. Arguments are ``WholeSoundDataset``'s.
    """

    _column_names = ("waveform", "sample_rate", "label")
    _rate_type = np.int32

    def _list(self) -> list[Any]:
        names = list_folder(self.dataset_dir, (".wav",))
        if not names:
            raise located(
                RuntimeError, f"Invalid file, no .wav files found under {self.dataset_dir}"
            )
        for name in names:
            if not re.fullmatch(r"\d+(_\d+)*", name[:-4]):
                raise located(
                    RuntimeError,
                    f"Invalid file, the name of {self._path(name)} should be made of numbers with "
                    "'_' between them.",
                )
        return names

    def _row(self, entry: Any) -> tuple[Any, ...]:
        answers = [int(word) for word in entry[:-4].split("_")]
        return (*self._sound(self._path(entry)), np.array(answers, np.int32))


_CMU_SPEAKERS = "aew ahw aup awb axb bdl clb eey fem gka jmk ksp ljm lnh rms rxr slp slt"

# Numbers of the files of each part.
_GTZAN_PARTS = {
    "train": {
        "blues": "29-49 73-97",
        "classical": "30-33 43-48 50-67 80-99",
        "country": "19-26 28-29 65-99",
        "disco": "5 15-20 22-37 39-45 47 49 53-54 56-57 59 61 70 73-74 89",
        "hiphop": "2-25 28-29 31-38 41-42 55-61 77-80",
        "jazz": "0-1 11-24 41 47-72",
        "metal": "2-3 5 21 24 35 46-57 59-66 69 71-72 79-80 84 86 89-99",
        "pop": "2-9 11-12 16-20 23-29 31-36 38-42 44 46 49-50 80 97-99",
        "reggae": "0-2 4 6 9 11-12 14-32 42-45 49-51 54-60 63 69",
        "rock": "0-9 16-26 57-70 91-99",
    },
    "valid": {
        "blues": "0-11 50-60",
        "classical": "0-10 68-76",
        "country": "0-7 9-18 27 41-42 45 49",
        "disco": "0 2-4 6-14 46 48 52 67-68 72 75 90 95",
        "hiphop": "81-98",
        "jazz": "2-10 25-32",
        "metal": "0-1 6-11 16-20 36-37 68 76-77 81-82",
        "pop": "10 53 55 58-62 81 83-86",
        "reggae": "61-62 70 72 74 76-78 85 92-99",
        "rock": "38 49-56 71-85",
    },
    "test": {
        "blues": "12-28 61-72 98-99",
        "classical": "11-29 34-41 49 77-79",
        "country": "30-40 43-44 46-48 50-51 53-64",
        "disco": "1 21 58 62-66 69 76-88 91-94 96-97 99",
        "hiphop": "0 26-27 30 40 43-45 51-54 62-75 99",
        "jazz": "73-99",
        "metal": "12-15 22-23 25-33 38-39 67 70 73-75 78 83 85 87-88",
        "pop": "0-1 13-14 43 63-66 69-79 82 88-96",
        "reggae": "34-40 46-48 52-53 64-68 71 79 82-84 87-90",
        "rock": "10-15 27-37 39-48 86-90",
    },
}
