"""Messages of strategy files, for programs that parse these with protobuf themselves.

`checkpoint.strategy` reads and writes the files; this module only gives the message classes.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "mindspore.straspb"
_FIELD = descriptor_pb2.FieldDescriptorProto
_LABELS = {"one": _FIELD.LABEL_REQUIRED, "many": _FIELD.LABEL_REPEATED}
_TYPES = {
    "int32": _FIELD.TYPE_INT32,
    "int64": _FIELD.TYPE_INT64,
    "uint32": _FIELD.TYPE_UINT32,
    "string": _FIELD.TYPE_STRING,
}
# Message -> its fields, numbered from 1.
_MESSAGES: dict[str, tuple[str, ...]] = {
    "ParallelStrategy": ("many uint32 dim",),
    "ParallelStrategys": ("one uint32 stage", "many ParallelStrategy parallel_strategy"),
    "ParallelStrategyItem": ("one string node_name", "one ParallelStrategys parallel_strategys"),
    "DevMatrix": ("many uint32 dim",),
    "TensorMap": ("many int32 dim",),
    "ParamSplitShape": ("many int64 dim",),
    "IndicesOffset": ("many int64 dim",),
    "ParallelLayouts": (
        "many DevMatrix dev_matrix",
        "many TensorMap tensor_map",
        "many ParamSplitShape param_split_shape",
        "many IndicesOffset indices_offset",
        "one int32 field",
        "one int32 opt_weight_shard_step",
        "one int32 opt_weight_shard_size",
    ),
    "ParallelLayoutItem": ("one string param_name", "one ParallelLayouts parallel_layouts"),
    "ParallelGroupRanks": ("many uint32 dim",),
    "ParallelGroupItem": (
        "one string group_name",
        "one ParallelGroupRanks parallel_group_ranks",
    ),
    "ParallelGroupMap": (
        "many ParallelGroupItem parallel_group_item",
        "one ParallelGroupRanks ckpt_restore_rank_list",
    ),
    "ParallelStrategyMap": (
        "one uint32 current_stage",
        "many ParallelStrategyItem parallel_strategy_item",
        "many ParallelLayoutItem parallel_layout_item",
    ),
}


def _classes() -> dict[str, Any]:
    """Make the message classes in a pool of their own: the original's may be loaded as well."""
    file = descriptor_pb2.FileDescriptorProto(
        name="node_strategy.proto", package=_PACKAGE, syntax="proto2"
    )
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, line in enumerate(fields, 1):
            label, kind, field_name = line.split()
            field = message.field.add(name=field_name, number=number, label=_LABELS[label])
            if kind in _TYPES:
                field.type = _TYPES[kind]
            else:
                field.type = _FIELD.TYPE_MESSAGE
                field.type_name = f".{_PACKAGE}.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        for name in _MESSAGES
    }


_made = _classes()
ParallelStrategy: Any = _made["ParallelStrategy"]
ParallelStrategys: Any = _made["ParallelStrategys"]
ParallelStrategyItem: Any = _made["ParallelStrategyItem"]
DevMatrix: Any = _made["DevMatrix"]
TensorMap: Any = _made["TensorMap"]
ParamSplitShape: Any = _made["ParamSplitShape"]
IndicesOffset: Any = _made["IndicesOffset"]
ParallelLayouts: Any = _made["ParallelLayouts"]
ParallelLayoutItem: Any = _made["ParallelLayoutItem"]
ParallelGroupRanks: Any = _made["ParallelGroupRanks"]
ParallelGroupItem: Any = _made["ParallelGroupItem"]
ParallelGroupMap: Any = _made["ParallelGroupMap"]
ParallelStrategyMap: Any = _made["ParallelStrategyMap"]
