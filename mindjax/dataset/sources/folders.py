"""Images in folders of their classes: Caltech, Omniglot, rendered SST-2, LSUN, SUN397."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_bool, check_member, check_type
from mindjax.dataset.sources.listed import (
    ClassesDataset,
    ListedDataset,
    PartsDataset,
    bad_line,
    check_choice,
    check_folder,
    list_folder,
    numbers,
    read_lines,
    read_mat,
)


def _in_classes(folder: str, classes: list[str], endings: tuple[str, ...]) -> list[Any]:
    """List the files of some folders, each with the number of its folder."""
    return [
        (os.path.join(folder, name, file), number)
        for number, name in enumerate(classes)
        for file in list_folder(os.path.join(folder, name))
        if not endings or file.endswith(endings)
    ]


class Caltech256Dataset(ClassesDataset):
    """Things of 257 classes: columns ``image`` and ``label`` int32, in the order of the folders.

    Files end with ``.jpg`` or ``.JPEG``. Arguments are ``ClassesDataset``'s.
    """

    _label_type = np.int32

    def num_classes(self) -> int:
        """Give the number of classes."""
        return len(list_folder(self.dataset_dir, folders=True))

    def _list(self) -> list[Any]:
        classes = list_folder(self.dataset_dir, folders=True)
        return _in_classes(self.dataset_dir, classes, (".jpg", ".JPEG"))


class Caltech101Dataset(ListedDataset):
    """Things of 101 classes: ``image``, and ``category`` int64, ``annotation`` float64 or both.

    Args:
        dataset_dir: folder with ``101_ObjectCategories`` and ``Annotations``.
        target_type: ``"category"``, ``"annotation"``, the outline of the thing, or ``"all"``; None
            for ``"category"``.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        decode: whether images are decoded.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.

    Raises:
        ValueError: the folder does not exist, or ``target_type`` or a shard is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is missing or bad.
    """

    _refuses_pk = True
    # Classes whose annotations lie in a folder of another name.
    _renamed = (
        ("Faces", "Faces_2"),
        ("Faces_easy", "Faces_3"),
        ("Motorbikes", "Motorbikes_16"),
        ("airplanes", "Airplanes_Side_2"),
    )

    def __init__(
        self,
        dataset_dir: str,
        target_type: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        owner = "Caltech101Dataset"
        check_folder(owner, dataset_dir)
        kinds = ("category", "annotation", "all")
        self.target_type = check_choice(owner, "target_type", target_type, kinds, "category")
        super().__init__(
            dataset_dir,
            num_samples,
            num_parallel_workers,
            shuffle,
            sampler,
            num_shards,
            shard_id,
            None,
            decode,
        )
        folder = self._path("101_ObjectCategories")
        if not os.path.isdir(folder):
            raise located(FileNotFoundError, f"For '{owner}': No such file or directory: {folder}")

    def _columns(self) -> list[str]:
        both = self.target_type == "all"
        return ["image", *(("category", "annotation") if both else (self.target_type,))]

    def get_class_indexing(self) -> dict[str, int]:
        """Give the label of each class."""
        return {name: number for number, name in enumerate(_CALTECH_101.split())}

    def _list(self) -> list[Any]:
        folder = self._path("101_ObjectCategories")
        classes = list_folder(folder, folders=True)
        if "BACKGROUND_Google" in classes:
            classes.remove("BACKGROUND_Google")
        return [(*entry, classes[entry[1]]) for entry in _in_classes(folder, classes, (".jpg",))]

    def _row(self, entry: Any) -> tuple[Any, ...]:
        path, label, name = entry
        columns: list[Any] = [self._image(path)]
        if self.target_type != "annotation":
            columns.append(np.array(label, np.int64))
        if self.target_type != "category":
            number = os.path.splitext(path)[0].rpartition("_")[2]
            place = str(dict(self._renamed).get(name, name))
            outline = self._path("Annotations", place, f"annotation_{number}.mat")
            columns.append(read_mat("Caltech101Dataset", outline, "obj_contour")["obj_contour"])
        return tuple(columns)


class OmniglotDataset(ClassesDataset):
    """Characters of fifty alphabets: columns ``image`` and ``label`` int32.

    Args:
        dataset_dir: folder with ``images_background`` and ``images_evaluation``, of alphabets of
            characters.
        background: whether the background set is read and not the evaluation set; None for yes.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        decode: whether images are decoded.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.

    Raises:
        ValueError: the folder does not exist, or a shard is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is missing or bad.
    """

    _label_type = np.int32

    def __init__(
        self,
        dataset_dir: str,
        background: bool | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        check_folder("OmniglotDataset", dataset_dir)
        self.background = background is None or check_bool(
            "OmniglotDataset", "background", background
        )
        super().__init__(
            dataset_dir,
            num_samples,
            num_parallel_workers,
            shuffle,
            decode,
            sampler,
            num_shards,
            shard_id,
            cache,
        )

    def num_classes(self) -> int:
        """Give the number of characters."""
        return len(self._characters()[1])

    def _characters(self) -> tuple[str, list[str]]:
        folder = self._path("images_background" if self.background else "images_evaluation")
        if not os.path.isdir(folder):
            raise located(
                RuntimeError,
                f"Invalid parameter, input path is invalid or not set, path: {folder}",
            )
        return folder, [
            os.path.join(alphabet, name)
            for alphabet in list_folder(folder, folders=True)
            for name in list_folder(os.path.join(folder, alphabet), folders=True)
        ]

    def _list(self) -> list[Any]:
        return _in_classes(*self._characters(), ())


class RenderedSST2Dataset(PartsDataset):
    """Pictures of sentences: columns ``image`` and ``label`` uint32, in the order of the folders.

    The folder holds ``train``, ``valid`` and ``test``, each with ``negative`` and ``positive``;
    usages are ``"train"``, ``"val"``, ``"test"`` and ``"all"``, the default. Arguments are
    ``PartsDataset``'s.
    """

    _usages = ("val", "all", "train", "test")

    def num_classes(self) -> int:
        """Give the number of classes."""
        return len({label for _, label in self._entries()})

    def _class_of(self, entry: Any) -> int:
        return entry[1]

    def _list(self) -> list[Any]:
        parts = {"val": ["valid"], "all": ["test", "train", "valid"]}.get(self.usage, [self.usage])
        found = []
        for part in parts:
            folder = self._path(part)
            if os.path.isdir(folder):
                classes = list_folder(folder, folders=True)
                found += _in_classes(folder, classes, (".png",))
        if not found:
            raise self._no_rows("rendered sst2 file path")
        return found

    def _row(self, entry: Any) -> tuple[Any, ...]:
        return self._image(entry[0]), np.array(entry[1], np.uint32)


class LSUNDataset(ClassesDataset):
    """Scenes of ten classes: columns ``image`` and ``label`` uint32.

    A label is the place of the folder among those that are read: with usage ``"all"``, a class has
    one label in training and another in validation, as in the original.

    Args:
        dataset_dir: folder with folders such as ``bedroom_train`` and ``bedroom_val``, and
            ``test``.
        usage: ``"train"``, ``"test"``, ``"valid"`` or ``"all"``; None for all: training and
            validation.
        classes: list of the classes that are read; None for all.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        decode: whether images are decoded.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.

    Raises:
        ValueError: the folder does not exist, or ``usage``, a class or a shard is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is missing or bad.
    """

    _scenes = (
        "bedroom",
        "bridge",
        "church_outdoor",
        "classroom",
        "conference_room",
        "dining_room",
        "kitchen",
        "living_room",
        "restaurant",
        "tower",
    )

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        classes: list[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "LSUNDataset"
        check_folder(owner, dataset_dir)
        usages = ("train", "test", "valid", "all")
        self.usage = check_choice(owner, "usage", usage, usages, "all")
        check_type(owner, "classes", classes, (list, type(None)))
        for name in classes or ():
            check_member(owner, "classes", name, self._scenes)
        self.classes = list(classes or self._scenes)
        super().__init__(
            dataset_dir,
            num_samples,
            num_parallel_workers,
            shuffle,
            decode,
            sampler,
            num_shards,
            shard_id,
            cache,
        )

    def num_classes(self) -> int:
        """Give the number of classes."""
        return len({name.rpartition("_")[0] for name in self._folders()})

    def _folders(self) -> list[str]:
        if self.usage == "test":
            return ["test"]
        endings = [
            ending
            for part, ending in (("train", "train"), ("valid", "val"))
            if self.usage in (part, "all")
        ]
        wanted = {f"{name}_{ending}" for name in self.classes for ending in endings}
        return [name for name in list_folder(self.dataset_dir, folders=True) if name in wanted]

    def _list(self) -> list[Any]:
        if self.usage == "test" and not os.path.isdir(self._path("test")):
            raise located(
                RuntimeError,
                f"Invalid dataset_dir, {self._path('test')} does not exist or permission denied.",
            )
        found = _in_classes(self.dataset_dir, self._folders(), ())
        if not found:
            raise self._no_rows("lsun file path")
        return found


class SUN397Dataset(ClassesDataset):
    """Scenes of 397 classes: columns ``image`` and ``label`` uint32, in the order of the list.

    The folder holds ``ClassName.txt``, a folder such as ``/a/abbey`` a line, and these folders, of
    files such as ``sun_x.jpg``. Arguments are ``ClassesDataset``'s.
    """

    def _list(self) -> list[Any]:
        lines = read_lines(self._path("ClassName.txt"), "SUN397")
        classes = [name for line in lines if (name := line.strip().strip("/"))]
        found = _in_classes(self.dataset_dir, classes, (".jpg",))
        return [entry for entry in found if os.path.basename(entry[0]).startswith("sun_")]


class Places365Dataset(ClassesDataset):
    """Scenes of 365 classes: columns ``image`` and ``label`` uint32.

    Args:
        dataset_dir: folder with ``categories_places365.txt``, lists of images and folders of them.
        usage: ``"train-standard"``, ``"train-challenge"`` or ``"val"``; None for the first.
        small: whether images of 256 pixels are read and not those of full size.
        decode: whether images are decoded.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.

    Raises:
        ValueError: the folder does not exist, or ``usage`` or a shard is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is missing or bad.
    """

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        small: bool = True,
        decode: bool = False,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "Places365Dataset"
        check_folder(owner, dataset_dir)
        usages = ("train-standard", "train-challenge", "val")
        self.usage = check_choice(owner, "usage", usage, usages, "train-standard")
        self.small = check_bool(owner, "small", small)
        super().__init__(
            dataset_dir,
            num_samples,
            num_parallel_workers,
            shuffle,
            decode,
            sampler,
            num_shards,
            shard_id,
            cache,
        )

    def _pairs(self, name: str) -> list[tuple[str, int]]:
        path = self._path(name)
        found = []
        for number, line in enumerate(read_lines(path, "Places365"), 1):
            words = line.split()
            if words:
                if len(words) != 2:
                    raise bad_line(path, number, line, "a path and a number")
                found.append((words[0], numbers(path, number, line, words[1:], int)[0]))
        return found

    def _list(self) -> list[Any]:
        known = {label for _, label in self._pairs("categories_places365.txt")}
        stem = "places365_" + self.usage.replace("-", "_")
        size = "256" if self.small else "large"
        kind = self.usage.rpartition("-")[2]
        folder = f"val_{size}" if kind == "val" else f"data_{size}_{kind}"
        pairs = self._pairs(f"{stem}.txt")
        for name, label in pairs:
            if label not in known:
                raise located(
                    RuntimeError,
                    f"Invalid label, {label} of {name} in {stem}.txt is none of "
                    f"categories_places365.txt of {self.dataset_dir}.",
                )
        return [(self._path(folder, name.strip("/")), label) for name, label in pairs]


_CALTECH_101 = """
    Faces Faces_easy Leopards Motorbikes accordion airplanes anchor ant barrel bass beaver
    binocular bonsai brain brontosaurus buddha butterfly camera cannon car_side ceiling_fan
    cellphone chair chandelier cougar_body cougar_face crab crayfish crocodile crocodile_head cup
    dalmatian dollar_bill dolphin dragonfly electric_guitar elephant emu euphonium ewer ferry
    flamingo flamingo_head garfield gerenuk gramophone grand_piano hawksbill headphone hedgehog
    helicopter ibis inline_skate joshua_tree kangaroo ketch lamp laptop llama lobster lotus
    mandolin mayfly menorah metronome minaret nautilus octopus okapi pagoda panda pigeon pizza
    platypus pyramid revolver rhino rooster saxophone schooner scissors scorpion sea_horse snoopy
    soccer_ball stapler starfish stegosaurus stop_sign strawberry sunflower tick trilobite
    umbrella watch water_lilly wheelchair wild_cat windsor_chair wrench yin_yang
"""
