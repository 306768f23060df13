"""Images with images: Cityscapes, DIV2K, Flowers102 and the semantic boundaries dataset."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_member, check_type
from mindjax.dataset.engine.failures import pipeline_error
from mindjax.dataset.sources.listed import (
    ListedDataset,
    check_choice,
    check_file,
    check_folder,
    list_folder,
    read_bytes,
    read_lines,
    read_mat,
)


class CityscapesDataset(ListedDataset):
    """Streets of cities: columns ``image`` and ``task``, an image or a text of JSON.

    Args:
        dataset_dir: folder with ``leftImg8bit`` and ``gtFine`` or ``gtCoarse``.
        usage: ``"train"``, ``"test"``, ``"val"`` or ``"all"``; ``"train_extra"`` instead of
            ``"test"`` where ``quality_mode`` is ``"coarse"``.
        quality_mode: ``"fine"`` or ``"coarse"``.
        task: ``"instance"``, ``"semantic"``, ``"polygon"`` or ``"color"``.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        decode: whether images are decoded; None for no.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.

    Raises:
        ValueError: the folder does not exist, or an argument is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is missing or bad.
    """

    _column_names = ("image", "task")
    _endings = (
        ("instance", "instanceIds.png"),
        ("semantic", "labelIds.png"),
        ("polygon", "polygons.json"),
        ("color", "color.png"),
    )

    def __init__(
        self,
        dataset_dir: str,
        usage: str = "train",
        quality_mode: str = "fine",
        task: str = "instance",
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "CityscapesDataset"
        check_folder(owner, dataset_dir)
        self.task = check_choice(owner, "task", task, dict(self._endings))
        self.quality_mode = check_choice(owner, "quality_mode", quality_mode, ("fine", "coarse"))
        self._parts = (
            ("train", "test", "val") if quality_mode == "fine" else ("train", "train_extra", "val")
        )
        self.usage = check_choice(owner, "usage", usage, (*self._parts, "all"))
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

    def _list(self) -> list[Any]:
        kind = "gtFine" if self.quality_mode == "fine" else "gtCoarse"
        end = "_leftImg8bit.png"
        found = []
        for part in self._parts if self.usage == "all" else (self.usage,):
            images, targets = self._path("leftImg8bit", part), self._path(kind, part)
            for folder, what in ((images, "image"), (targets, "task")):
                if not os.path.isdir(folder):
                    raise located(
                        RuntimeError,
                        f"Invalid path, Cityscapes Dataset {what} dir: {folder} is not a directory "
                        "path.",
                    )
            for city in list_folder(images, folders=True):
                for name in list_folder(os.path.join(images, city), (end.lower(),)):
                    target = f"{name[: -len(end)]}_{kind}_{dict(self._endings)[self.task]}"
                    paths = os.path.join(images, city, name), os.path.join(targets, city, target)
                    if not os.path.isfile(paths[1]):
                        raise located(
                            RuntimeError,
                            f"Invalid file path, Cityscapes Dataset task file: {paths[1]} does not "
                            "exist.",
                        )
                    found.append(paths)
        return found

    def _row(self, entry: Any) -> tuple[Any, ...]:
        path, target = entry
        if self.task != "polygon":
            return self._image(path), self._image(target)
        try:
            outlines = json.loads(read_bytes(target))
        except ValueError as error:
            raise pipeline_error(f"Invalid json file, failed to parse {target}: {error}.") from None
        text = json.dumps(outlines, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        return self._image(path), np.array(text)


class DIV2KDataset(ListedDataset):
    """Images of high and low resolution: columns ``hr_image`` and ``lr_image``.

    Args:
        dataset_dir: folder with folders such as ``DIV2K_train_HR`` and
            ``DIV2K_train_LR_bicubic/X2``.
        usage: ``"train"``, ``"valid"`` or ``"all"``.
        downgrade: ``"bicubic"``, ``"unknown"``, ``"mild"``, ``"difficult"`` or ``"wild"``.
        scale: 2, 3, 4 or 8; 8 only for ``"bicubic"``, and 4 for the last three.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        decode: whether images are decoded; None for no.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.

    Raises:
        ValueError: the folder does not exist, or an argument is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is missing or bad.
    """

    _column_names = ("hr_image", "lr_image")

    def __init__(
        self,
        dataset_dir: str,
        usage: str = "train",
        downgrade: str = "bicubic",
        scale: int = 2,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "DIV2KDataset"
        check_folder(owner, dataset_dir)
        self.usage = check_choice(owner, "usage", usage, ("train", "valid", "all"))
        alone = ("mild", "difficult", "wild")
        self.downgrade = check_choice(owner, "downgrade", downgrade, ("bicubic", "unknown", *alone))
        check_type(owner, "scale", scale, int)
        check_member(owner, "scale", scale, (2, 3, 4, 8))
        if scale == 8 and downgrade != "bicubic":
            raise located(
                ValueError, "DIV2KNode: scale equal to 8 is allowed only in bicubic downgrade."
            )
        if scale != 4 and downgrade in alone:
            raise located(
                ValueError, f"DIV2KNode: {downgrade} downgrade requires scale equal to 4."
            )
        self.scale = scale
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

    def _list(self) -> list[Any]:
        ending = f"x{self.scale}"
        low = f"LR_{self.downgrade}"
        if self.scale == 8:
            low = "LR_x8"
        elif self.downgrade in ("bicubic", "unknown"):
            low = os.path.join(low, f"X{self.scale}")
        else:
            ending += self.downgrade[0]
        found = []
        for part in ("train", "valid") if self.usage == "all" else (self.usage,):
            folders = self._path(f"DIV2K_{part}_HR"), self._path(f"DIV2K_{part}_{low}")
            for folder, what in zip(folders, ("hr", "lr"), strict=True):
                if not os.path.isdir(folder):
                    raise located(
                        RuntimeError,
                        f"Invalid path, div2k {what} image dir: {folder} is not a directory.",
                    )
            for name in list_folder(folders[0], (".png",)):
                other = os.path.join(folders[1], f"{name[:-4]}{ending}.png")
                if not os.path.isfile(other):
                    raise located(
                        RuntimeError, f"Invalid file path, DIV2K image: {other} does not exist."
                    )
                found.append((os.path.join(folders[0], name), other))
        return found

    def _row(self, entry: Any) -> tuple[Any, ...]:
        return tuple(self._image(path) for path in entry)


class Flowers102Dataset(ListedDataset):
    """Flowers of 102 kinds: ``image``, for ``Segmentation`` ``segmentation``, and ``label`` uint32.

    Args:
        dataset_dir: folder with ``jpg``, ``segmim``, ``imagelabels.mat`` and ``setid.mat``.
        task: ``"Classification"`` or ``"Segmentation"``.
        usage: ``"train"``, ``"valid"``, ``"test"`` or ``"all"``.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        decode: whether images are decoded.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.

    Raises:
        ValueError: a folder or a file does not exist, or an argument is out of range.
        RuntimeError: arguments exclude each other; when rows are read: a file is missing or bad.
    """

    _refuses_pk = True
    _parts = (("train", "trnid"), ("test", "tstid"), ("valid", "valid"))

    def __init__(
        self,
        dataset_dir: str,
        task: str = "Classification",
        usage: str = "all",
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        owner = "Flowers102Dataset"
        folder = check_folder(owner, dataset_dir)
        check_folder(owner, os.path.join(folder, "jpg"))
        self.task = check_choice(owner, "task", task, ("Classification", "Segmentation"))
        self.usage = check_choice(owner, "usage", usage, ("train", "valid", "test", "all"))
        if task == "Segmentation":
            check_folder(owner, os.path.join(folder, "segmim"))
        for name in ("imagelabels.mat", "setid.mat"):
            check_file(owner, os.path.join(folder, name), "file")
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

    def _columns(self) -> list[str]:
        return ["image", *(["segmentation"] if self.task == "Segmentation" else []), "label"]

    def get_class_indexing(self) -> dict[str, int]:
        """Give the label of each kind of flower."""
        names = " ".join(_FLOWERS.split()).split(", ")
        return {name: number for number, name in enumerate(names)}

    def _list(self) -> list[Any]:
        owner = "Flowers102Dataset"
        labels = read_mat(owner, self._path("imagelabels.mat"), "labels")["labels"].ravel()
        wanted = [key for part, key in self._parts if self.usage in (part, "all")]
        parts = read_mat(owner, self._path("setid.mat"), *wanted)
        images = np.concatenate([parts[key].ravel() for key in wanted]).astype(np.int64)
        if len(images) and not 1 <= images.min() <= images.max() <= len(labels):
            raise located(
                RuntimeError,
                f"Invalid file, {self._path('setid.mat')} names an image that is none of the "
                f"{len(labels)} of imagelabels.mat.",
            )
        return [(int(number), int(labels[number - 1]) - 1) for number in images]

    def _row(self, entry: Any) -> tuple[Any, ...]:
        number, label = entry
        columns: list[Any] = [self._image(self._path("jpg", f"image_{number:05}.jpg"))]
        if self.task == "Segmentation":
            columns.append(self._image(self._path("segmim", f"segmim_{number:05}.jpg")))
        return (*columns, np.array(label, np.uint32))


class SBDataset(ListedDataset):
    """Semantic boundaries: columns ``image`` and ``task``.

    ``task`` is (20, H, W) uint8 for ``Boundaries``, the edges of each class, and (H, W) uint8 for
    ``Segmentation``, the class of each pixel.

    Args:
        dataset_dir: folder with ``img``, ``cls`` and the lists ``train.txt``, ``val.txt`` and
            ``train_noval.txt``.
        task: ``"Boundaries"`` or ``"Segmentation"``.
        usage: ``"train"``, ``"val"``, ``"train_noval"`` or ``"all"``: training and validation.
        num_samples: at most so many rows.
        num_parallel_workers: number of worker threads that read.
        shuffle: whether the order is random; None for yes.
        decode: whether images are decoded; None for no.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.

    Raises:
        ValueError: the folder does not exist, or an argument is out of range.
        FileNotFoundError: a list does not exist.
        RuntimeError: arguments exclude each other; when rows are read: a file is missing or bad.
    """

    _column_names = ("image", "task")
    _refuses_pk = True

    def __init__(
        self,
        dataset_dir: str,
        task: str = "Boundaries",
        usage: str = "all",
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        decode: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        owner = "SBDataset"
        folder = check_folder(owner, dataset_dir)
        self.task = check_choice(owner, "task", task, ("Boundaries", "Segmentation"))
        self.usage = check_choice(owner, "usage", usage, ("train", "val", "train_noval", "all"))
        parts = ("train", "val") if usage == "all" else (usage,)
        self._lists = [os.path.join(folder, f"{part}.txt") for part in parts]
        for path in self._lists:
            if not os.path.isfile(path):
                raise located(FileNotFoundError, f"SBDataset: {path} not found")
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

    def _list(self) -> list[Any]:
        lines = [line.strip() for path in self._lists for line in read_lines(path, "SBD")]
        return [name for name in lines if name]

    def _row(self, entry: Any) -> tuple[Any, ...]:
        path = self._path("cls", f"{entry}.mat")
        found = read_mat("SBDataset", path, "GTcls")["GTcls"]
        try:
            value = found[0, 0][self.task]
        except (IndexError, ValueError):
            raise pipeline_error(
                f"Invalid file, SBDataset: GTcls has no {self.task} in {path}."
            ) from None
        if self.task == "Boundaries":
            sheets = [sheet.toarray() for sheet in value.ravel()]
            return self._image(self._path("img", f"{entry}.jpg")), np.stack(sheets).astype(np.uint8)
        return self._image(self._path("img", f"{entry}.jpg")), np.asarray(value, np.uint8)


_FLOWERS = """
    pink primrose, hard-leaved pocket orchid, canterbury bells, sweet pea, english marigold, tiger
    lily, moon orchid, bird of paradise, monkshood, globe thistle, snapdragon, colt's foot, king
    protea, spear thistle, yellow iris, globe-flower, purple coneflower, peruvian lily, balloon
    flower, giant white arum lily, fire lily, pincushion flower, fritillary, red ginger, grape
    hyacinth, corn poppy, prince of wales feathers, stemless gentian, artichoke, sweet william,
    carnation, garden phlox, love in the mist, mexican aster, alpine sea holly, ruby-lipped
    cattleya, cape flower, great masterwort, siam tulip, lenten rose, barbeton daisy, daffodil,
    sword lily, poinsettia, bolero deep blue, wallflower, marigold, buttercup, oxeye daisy, common
    dandelion, petunia, wild pansy, primula, sunflower, pelargonium, bishop of llandaff, gaura,
    geranium, orange dahlia, pink-yellow dahlia?, cautleya spicata, japanese anemone, black-eyed
    susan, silverbush, californian poppy, osteospermum, spring crocus, bearded iris, windflower,
    tree poppy, gazania, azalea, water lily, rose, thorn apple, morning glory, passion flower,
    lotus, toad lily, anthurium, frangipani, clematis, hibiscus, columbine, desert-rose, tree
    mallow, magnolia, cyclamen, watercress, canna lily, hippeastrum, bee balm, ball moss,
    foxglove, bougainvillea, camellia, mallow, mexican petunia, bromelia, blanket flower, trumpet
    creeper, blackberry lily
"""
