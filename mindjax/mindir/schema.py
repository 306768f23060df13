"""The messages of a MindIR file: numbers, kinds and names of their fields.

The names are those under which MindSpore programs reach the fields of ``load_mindir``'s result and
in the ``custom_func`` of ``export``.
"""

from __future__ import annotations

from typing import NamedTuple


class Field(NamedTuple):
    """One field of a message.

    Attributes:
        number: number on the wire.
        kind: ``int``, ``uint``, ``bool``, ``float``, ``double``, ``text``, ``bytes``, ``map`` (of
            text to text) or a message's name.
        repeated: whether it is a list.
        name: attribute of the `Message`.
    """

    number: int
    kind: str
    repeated: bool
    name: str


_TABLE = {
    "Model": """
        1 text ir_version, 2 text producer_name, 3 text producer_version, 4 text domain,
        5 text model_version, 6 text doc_string, 7 Graph graph, 8 Graph* functions,
        9 Preprocessor preprocessor, 10 bool little_endian, 11 Parallel parallel,
        12 Primitive* primitives, 13 int mind_ir_version, 14 map user_info""",
    "Graph": """
        1 Node* node, 2 text name, 3 Tensor* parameter, 4 text doc_string, 5 Value* input,
        6 Value* output, 7 text bprop_hash, 8 Attribute* attribute, 9 text bprop_filepath,
        10 MapTensor* map_parameter""",
    "Node": """
        1 text* input, 2 text* output, 3 text name, 4 text op_type, 5 Attribute* attribute,
        6 text doc_string, 7 text domain, 8 Attribute* node_attr, 9 Attribute* primal_attr""",
    "Value": """
        1 text name, 2 Tensor* tensor, 3 text doc_string, 4 text denotation,
        5 Attribute attr_info""",
    "Primitive": """
        1 text name, 2 text op_type, 3 Attribute* attribute, 4 text instance_name,
        5 int prim_type""",
    "Attribute": """
        1 text name, 2 float f, 3 int i, 4 double d, 5 bytes s, 6 Tensor t, 7 Graph g,
        8 float* floats, 9 double* doubles, 10 int* ints, 11 bytes* strings, 12 Tensor* tensors,
        13 Graph* graphs, 14 text doc_string, 15 text ref_attr_name, 16 int type,
        17 Attribute* values, 18 Sequence seq_info, 19 Functor functor,
        20 ScalarGraph graph_holder""",
    "Sequence": "1 bool is_dyn_len, 2 Attribute tuple_elem_item",
    "Functor": "1 int type, 2 text name, 3 Attribute* values",
    "ScalarGraph": "1 ScalarNode* scalar_node, 2 uint* input_shape_index",
    "ScalarNode": "1 int scalar_op_type, 2 int* in_index, 3 int* value",
    "Tensor": """
        1 int* dims, 2 int data_type, 3 float* float_data, 4 int* int32_data,
        5 bytes* string_data, 6 int* int64_data, 7 text name, 8 text doc_string, 9 bytes raw_data,
        10 double* double_data, 11 uint* uint64_data, 12 External external_data, 13 text ref_key,
        14 int* min_dims, 15 int* max_dims, 16 int compression_type,
        17 Quantization* quant_params""",
    "External": "1 text location, 2 int offset, 3 int length",
    "Quantization": "1 text quant_algo_name, 2 Attribute* attribute",
    "MapTensor": """
        1 text name, 2 Attribute default_value, 3 Tensor key_tensor, 4 Tensor value_tensor,
        5 Tensor status_tensor""",
    "Preprocessor": "1 PreprocessorOp* op",
    "PreprocessorOp": """
        1 text input_columns, 2 text output_columns, 3 text project_columns, 4 text op_type,
        5 text operations, 6 bool offload""",
    "Parallel": "1 Layout* layout",
    "Layout": """
        1 text name, 2 int* device_arrangement_int, 3 int* tensor_map_int, 4 int* slice_shape_int,
        5 int field_size, 6 bool uniform_split, 7 text opt_shard_group, 8 bool pipeline_shared,
        9 bool is_send, 10 int peer_rank, 11 int sr_tag, 12 int* opt_shard_slice_shape_int""",
}


def _fields(text: str) -> list[Field]:
    found = []
    for part in text.split(","):
        number, kind, name = part.split()
        found.append(Field(int(number), kind.rstrip("*"), kind.endswith("*"), name))
    return found


BY_NUMBER = {kind: {f.number: f for f in _fields(text)} for kind, text in _TABLE.items()}
BY_NAME = {kind: {f.name: f for f in table.values()} for kind, table in BY_NUMBER.items()}

# Codes of `Attribute.type`; those up to 16 are also codes of `Tensor.data_type`.
(
    UNDEFINED, FLOAT32, UINT8, INT8, UINT16, INT16, INT32, INT64, STRING, BOOL, FLOAT16, FLOAT64,
    UINT32, UINT64, COMPLEX64, COMPLEX128, BFLOAT16, TENSOR, GRAPH, TENSORS, TUPLE, LIST, DICT,
    UMONAD, IOMONAD, NONE,
) = range(26)  # fmt: skip
CLASS_TYPE, TYPE_NULL = 33, 36

# Names of numpy dtypes by `Tensor.data_type`.
DTYPES = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool",
    10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128",
    16: "bfloat16", 17: "float64",
}  # fmt: skip
DTYPE_CODES = {name: code for code, name in reversed(DTYPES.items())}

# Numbers that stand for dtypes among the inputs of nodes.
TYPE_IDS = {
    30: "bool", 32: "int8", 33: "int16", 34: "int32", 35: "int64", 37: "uint8", 38: "uint16",
    39: "uint32", 40: "uint64", 42: "float16", 43: "float32", 44: "float64", 45: "bfloat16",
    51: "complex64", 52: "complex128",
}  # fmt: skip
TYPE_NUMBERS = {name: number for number, name in TYPE_IDS.items()}
