"""TFRecord files to MindRecord, without TensorFlow."""

from __future__ import annotations

import string
from collections.abc import Iterator
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.mindrecord.conversion import SUCCESS, MSRStatus, write_all
from mindjax.mindrecord.filewriter import FileWriter
from mindjax.mindrecord.shards import check_filename
from mindjax.mindrecord.tf_example import parse_example, read_records

_TYPES = {
    "string": "string",
    "bool": "int32",
    "int8": "int32",
    "int16": "int32",
    "int32": "int32",
    "int64": "int64",
    "uint8": "int32",
    "uint16": "int32",
    "uint32": "int64",
    "uint64": "int64",
    "float16": "float32",
    "float32": "float32",
    "float64": "float64",
}
_SPECIAL = str.maketrans(dict.fromkeys(string.punctuation.replace("_", "") + " ", "_"))


def _type_name(dtype: Any) -> str:
    name = getattr(dtype, "name", None) or (dtype if isinstance(dtype, str) else "")
    try:
        name = name or np.dtype(dtype).name
    except TypeError:
        name = str(dtype)
    if name not in _TYPES:
        raise located(ValueError, f"Type {name} is not supported in MindRecord.")
    return name


class TFRecordToMR:
    """Converts a TFRecord file of ``tf.train.Example`` messages.

    Args:
        source: path of the TFRecord file, not packed.
        destination: path of the MindRecord file.
        feature_dict: feature to ``tf.io.FixedLenFeature``, or to any object with its ``shape``,
            ``dtype`` and ``default_value``, as ``mindrecord.tf_example.FixedLenFeature``; of shape
            ``[]`` or ``[n]``.
        bytes_fields: the string features that become bytes; the others become text.

    Raises:
        ValueError: an argument is wrong.
        ParamValueError: a path is wrong.
    """

    def __init__(
        self,
        source: str,
        destination: str,
        feature_dict: dict[str, Any],
        bytes_fields: list[str] | None = None,
    ) -> None:
        for name, path in (("source", source), ("destination", destination)):
            if not isinstance(path, str):
                raise located(ValueError, f"Parameter {name} must be string, but got {path!r}.")
            check_filename(path, f"'{name}'")
        if not isinstance(feature_dict, dict):
            raise located(ValueError, "Parameter feature_dict is None or not dict.")
        for feature in feature_dict.values():
            if not hasattr(feature, "shape") or not hasattr(feature, "dtype"):
                raise located(
                    ValueError,
                    f"Parameter feature_dict: only supports FixedLenFeature, but got {feature!r}.",
                )
        self.source, self.destination = source, destination
        self.feature_dict = feature_dict
        self._kinds = {name: _type_name(entry.dtype) for name, entry in feature_dict.items()}
        self.bytes_fields_list = [self._bytes_field(name) for name in self._listed(bytes_fields)]
        self.mindrecord_schema = {
            name.translate(_SPECIAL): self._schema(name) for name in feature_dict
        }

    def _listed(self, bytes_fields: Any) -> list[str]:
        if bytes_fields is not None and not isinstance(bytes_fields, list):
            raise located(ValueError, f"Parameter bytes_fields: {bytes_fields} must be list(str).")
        return bytes_fields or []

    def _bytes_field(self, name: Any) -> str:
        if not isinstance(name, str):
            raise located(ValueError, f"Parameter bytes_fields's item: {name} is not str.")
        if name not in self.feature_dict:
            raise located(
                ValueError, f"Parameter bytes_fields's item: {name} is not in feature_dict."
            )
        if not isinstance(self.feature_dict[name].shape, list):
            raise located(ValueError, f"Parameter feature_dict[{name}].shape should be a list.")
        if self._kinds[name] != "string":
            raise located(
                ValueError,
                f"Parameter bytes_field: {name} should be tf.string in feature_dict.",
            )
        return name.translate(_SPECIAL)

    def _schema(self, name: str) -> dict[str, Any]:
        shape, kind = self.feature_dict[name].shape, _TYPES[self._kinds[name]]
        if not shape:
            is_bytes = name.translate(_SPECIAL) in self.bytes_fields_list
            return {"type": "bytes" if is_bytes else kind}
        if len(shape) != 1 or not isinstance(shape[0], int) or shape[0] < 1:
            raise located(
                ValueError,
                f"Parameter feature_dict[{name}].shape should be [] or one positive int, but is "
                f"{shape}.",
            )
        if kind == "string":
            raise located(
                ValueError,
                f"Parameter feature_dict[{name}].dtype is tf.string which shape[0] is not None. It "
                "is not supported.",
            )
        return {"type": kind, "shape": [shape[0]]}

    def run(self) -> MSRStatus:
        """Write all records.

        Returns:
            SUCCESS.

        Raises:
            OSError: the file cannot be read.
            ValueError: it is damaged, or a record has not the features.
            RuntimeError: the destination exists.
        """
        writer = FileWriter(self.destination)
        writer.add_schema(self.mindrecord_schema, "TFRecord to MindRecord")
        write_all(writer, self.tfrecord_iterator(), parallel=True)
        return SUCCESS

    def tfrecord_iterator(self) -> Iterator[dict[str, Any]]:
        """Read the records as rows.

        Yields:
            Field to value.

        Raises:
            OSError: the file cannot be read.
            ValueError: it is damaged, or a record has not the features.
        """
        for record in read_records(self.source):
            example = parse_example(record)
            yield {
                name.translate(_SPECIAL): self._value(name, example.get(name))
                for name in self.feature_dict
            }

    def _value(self, name: str, values: list[Any] | None) -> Any:
        feature = self.feature_dict[name]
        if not values:
            default = getattr(feature, "default_value", None)
            if default is None:
                raise located(
                    ValueError,
                    f"TFRecord feature_dict parameter error: a record has no feature {name}.",
                )
            values = list(np.ravel(default)) if feature.shape else [default]
        wanted = feature.shape[0] if feature.shape else 1
        is_text = self._kinds[name] == "string"
        if len(values) != wanted or any(isinstance(v, bytes | str) != is_text for v in values):
            raise located(
                ValueError,
                f"TFRecord feature_dict parameter error: feature {name} of a record is not "
                f"{wanted} of {self._kinds[name]}.",
            )
        field = self.mindrecord_schema[name.translate(_SPECIAL)]
        if feature.shape:
            return np.asarray(values, field["type"])
        value = values[0]
        if field["type"] == "bytes":
            return value if isinstance(value, bytes) else value.encode("utf-8")
        if field["type"] == "string":
            return value if isinstance(value, str) else value.decode("utf-8")
        return int(value) if field["type"].startswith("int") else float(value)

    def transform(self) -> None:
        """Write all records.

        Raises:
            OSError: the file cannot be read.
            ValueError: it is damaged, or a record has not the features.
            RuntimeError: the destination exists.
        """
        self.run()
