"""ImageNet to MindRecord."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from mindjax import log
from mindjax.core.errors import located
from mindjax.mindrecord.conversion import (
    SUCCESS,
    MSRStatus,
    check_partitions,
    set_large_pages,
    write_all,
)
from mindjax.mindrecord.exceptions import PathNotExistsError
from mindjax.mindrecord.filewriter import FileWriter
from mindjax.mindrecord.shards import check_filename


class ImageNetToMR:
    """Converts a folder of classes, each a folder of JPEG files, which are kept as they are.

    Args:
        map_file: text file with a line for each class: its folder's name, a space, its number.
        image_dir: the folder that holds them.
        destination: path of the MindRecord file.
        partition_number: number of files.

    Raises:
        ParamValueError: a path or the number is wrong.
        ValueError: ``partition_number`` is no int.
    """

    def __init__(
        self, map_file: str, image_dir: str, destination: str, partition_number: int = 1
    ) -> None:
        for path in (map_file, image_dir, destination):
            check_filename(path)
        self.map_file, self.image_dir, self.destination = map_file, image_dir, destination
        self.partition_number = check_partitions(partition_number)
        self.writer = FileWriter(destination, self.partition_number)

    def run(self) -> MSRStatus:
        """Write all images.

        Returns:
            SUCCESS.

        Raises:
            OSError: the map file does not exist.
            ValueError: a line of it is wrong.
            PathNotExistsError: no class has a folder.
            RuntimeError: the destination exists.
        """
        set_large_pages(self.writer)
        schema = {
            "label": {"type": "int32"},
            "image": {"type": "bytes"},
            "file_name": {"type": "string"},
        }
        self.writer.add_schema(schema, "imagenet_schema")
        self.writer.add_index(["label", "file_name"])
        write_all(self.writer, self._rows(), parallel=True)
        return SUCCESS

    def _classes(self) -> Iterator[tuple[int, str]]:
        if not os.path.exists(self.map_file):
            raise located(OSError, f"map file {self.map_file} not exists")
        with open(self.map_file, encoding="utf-8") as file:
            lines = [line.split() for line in file]
        found = False
        for line in lines:
            if len(line) < 2 or not line[1].isdecimal():
                raise located(
                    ValueError,
                    f"map file {self.map_file}: a line should be a folder's name, a space and a "
                    f"number, but is {' '.join(line)!r}.",
                )
            folder = os.path.join(self.image_dir, line[0])
            if os.path.isdir(folder):
                found = True
                yield int(line[1]), folder
            else:
                log.warning("%s dir is not exist", folder)
        if not found:
            raise PathNotExistsError(f"not valid image dir in {self.image_dir}")

    def _rows(self) -> Iterator[dict[str, Any]]:
        for label, folder in self._classes():
            for name in sorted(os.listdir(folder)):
                path = os.path.join(folder, name)
                if not name.endswith(("JPEG", "jpg")):
                    log.warning("%s file is not suffix with JPEG/jpg, skip it.", path)
                    continue
                with open(path, "rb") as file:
                    image = file.read()
                if not image:
                    log.warning("The image file: %s is invalid.", path)
                    continue
                yield {"file_name": path, "label": label, "image": image}

    def transform(self) -> None:
        """Write all images.

        Raises:
            OSError: the map file does not exist.
            ValueError: a line of it is wrong.
            PathNotExistsError: no class has a folder.
            RuntimeError: the destination exists.
        """
        self.run()
