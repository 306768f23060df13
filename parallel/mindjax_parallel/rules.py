"""How operators relate the dimensions of their inputs: which must be cut alike, which never.

Each rule names every dimension of an operator's inputs by a label; dimensions of one label are one
dimension of the computation, so their strategies must agree. A label in ``whole`` must not be cut,
as the original's rule for the operator says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Shapes = Sequence[tuple[int, ...]]
Labels = tuple[str, ...]


class Dimensions(NamedTuple):
    """The labelled dimensions of one call.

    Attributes:
        inputs: labels of each input's dimensions.
        outputs: labels of each output's; None where the rule does not say.
        whole: labels that must not be cut, each with the reason.
        last: whether devices beyond the strategy's hold copies along the first axes of the mesh,
            so that parts lie along the last ones.
        first: labels whose parts lie along the first axes of the mesh, whatever input they are of.
    """

    inputs: list[Labels]
    outputs: list[Labels] | None = None
    whole: dict[str, str] = {}  # noqa: RUF012 never written
    last: bool = False
    first: Labels = ()


Rule = Callable[[Any, Shapes], Dimensions]
RULES: dict[str, Rule] = {}


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, rule))
        return rule

    return register


def dimensions(record: Any, shapes: Shapes) -> Dimensions:
    """Give the labelled dimensions of an operator's inputs.

    Args:
        record: the operator.
        shapes: of its array inputs.
    """
    rule = RULES.get(record.name.lstrip("_"))
    if rule is not None:
        return rule(record, shapes)
    return _elementwise(record, shapes) if _broadcast(shapes) else _apart(record, shapes)


def _broadcast(shapes: Shapes) -> bool:
    most = max((len(s) for s in shapes), default=0)
    for place in range(1, most + 1):
        sizes = {s[-place] for s in shapes if len(s) >= place}
        if len(sizes - {1}) > 1:
            return False
    return True


def _names(prefix: str, count: int) -> Labels:
    return tuple(f"{prefix}{i}" for i in range(count))


def _elementwise(record: Any, shapes: Shapes) -> Dimensions:
    """Dimensions that match from the right are the same; those of size 1 are repeated."""
    del record
    most = max((len(s) for s in shapes), default=0)
    labels = _names("x", most)
    inputs = []
    for n, shape in enumerate(shapes):
        skip = most - len(shape)
        inputs.append(
            tuple(
                labels[skip + i] if size != 1 or most == 0 else f"one{n}.{i}"
                for i, size in enumerate(shape)
            )
        )
    return Dimensions(inputs, None)


def _apart(record: Any, shapes: Shapes) -> Dimensions:
    """Nothing is known: each dimension stands for itself."""
    del record
    return Dimensions([_names(f"{n}.", len(s)) for n, s in enumerate(shapes)])


def _axes(value: Any, rank: int) -> list[int]:
    if value is None or (isinstance(value, tuple | list) and not value):
        return list(range(rank))
    given = value if isinstance(value, tuple | list) else (value,)
    return [int(a) % rank for a in given] if rank else []


def _field(record: Any, *names: str, default: Any = None) -> Any:
    for name in names:
        if name in record.__dict__:
            return record.__dict__[name]
    return default


@_rule("MatMul", "MatMulV2", "Mm")
def _matmul(record: Any, shapes: Shapes) -> Dimensions:
    first = ("k", "i") if _field(record, "transpose_a") else ("i", "k")
    second = ("j", "k") if _field(record, "transpose_b") else ("k", "j")
    return Dimensions([first, second], [("i", "j")], last=True)


@_rule("BatchMatMul", "BatchMatMulExt", "MatMulExt")
def _batch_matmul(record: Any, shapes: Shapes) -> Dimensions:
    most = max(len(s) for s in shapes) - 2
    labels = _names("b", most)

    def of(n: int, shape: tuple[int, ...], last: Labels) -> Labels:
        if len(shape) == 1:
            return ("k",)
        skip = most - (len(shape) - 2)
        front = [labels[skip + i] if s != 1 else f"one{n}.{i}" for i, s in enumerate(shape[:-2])]
        return (*front, *last)

    first = ("k", "i") if _field(record, "transpose_a") else ("i", "k")
    second = ("j", "k") if _field(record, "transpose_b") else ("k", "j")
    inputs = [of(0, shapes[0], first), of(1, shapes[1], second)]
    if min(len(s) for s in shapes) < 2:
        return Dimensions(inputs, last=True)
    return Dimensions(inputs, [(*labels, "i", "j")], last=True)


@_rule("Dense", "Linear")
def _dense(record: Any, shapes: Shapes) -> Dimensions:
    front = _names("b", len(shapes[0]) - 1)
    weight = ("j", "k")[-len(shapes[1]) :] if len(shapes[1]) == 1 else ("j", "k")
    inputs: list[Labels] = [(*front, "k"), weight, *([("j",)] if len(shapes) > 2 else [])]
    return Dimensions(inputs, [(*front, "j")] if len(shapes[1]) == 2 else None, last=True)


@_rule("BiasAdd")
def _bias_add(record: Any, shapes: Shapes) -> Dimensions:
    labels = _names("x", len(shapes[0]))
    channel = len(shapes[0]) - 1 if _field(record, "data_format") == "NHWC" else 1
    return Dimensions([labels, (labels[channel],)], [labels])


@_rule("Conv2D", "Conv3D", "Conv2DExt", "Convolution")
def _convolution(record: Any, shapes: Shapes) -> Dimensions:
    spatial = len(shapes[0]) - 2
    kernel = _names("kernel", spatial)
    grouped = (_field(record, "group", "groups", default=1) or 1) != 1
    within = "within" if grouped else "c"
    inputs: list[Labels] = [("n", "c", *_names("s", spatial)), ("o", within, *kernel)]
    if len(shapes) > 2:
        inputs.append(("o",))
    whole = dict.fromkeys(kernel, "the kernel size can not be split")
    return Dimensions(inputs, [("n", "o", *_names("s", spatial))], whole)


@_rule("Gather", "EmbeddingLookup", "Embedding")
def _gather(record: Any, shapes: Shapes) -> Dimensions:
    if record.name.lstrip("_") == "Embedding" and len(shapes[0]) != 2:
        shapes = [shapes[1], shapes[0]]
    table = _names("p", len(shapes[0]))
    index = _names("i", len(shapes[1]))
    axis = _field(record, "axis", default=0)
    inputs: list[Labels] = [table, index, *(() for _ in shapes[2:])]
    if not isinstance(axis, int) or _field(record, "batch_dims", default=0):
        return Dimensions(inputs, first=index)
    axis %= len(table)
    # A batch lies along the first axes, as in the products that follow.
    return Dimensions(inputs, [(*table[:axis], *index, *table[axis + 1 :])], first=index)


_ALONG_AXIS = (
    "Softmax LogSoftmax LogSoftmaxExt CumSum CumProd CumsumExt ArgMaxWithValue ArgMinWithValue "
    "Argmax Argmin ArgMaxExt ArgMinExt Sort SortExt ReverseV2 Reverse Flip"
)
_REDUCTIONS = (
    "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceAll ReduceAny SumExt MeanExt Max Min"
)


@_rule(*_ALONG_AXIS.split())
def _along_axis(record: Any, shapes: Shapes) -> Dimensions:
    labels = _names("x", len(shapes[0]))
    default = 0 if "Value" in record.name else -1
    given = _field(record, "axis", "dim", "dims", default=default)
    axes = _axes(default if given is None else given, len(labels))
    why = "the strategy corresponding to axis dimension is not 1"
    same = record.name.lstrip("_") in ("Softmax", "LogSoftmax", "CumSum", "CumProd")
    outputs = [labels] if same else None
    rest = [_names(f"{n}.", len(s)) for n, s in enumerate(shapes[1:], 1)]
    return Dimensions([labels, *rest], outputs, {labels[a]: why for a in axes})


@_rule("TopK", "TopkExt")
def _top(record: Any, shapes: Shapes) -> Dimensions:
    labels = _names("x", len(shapes[0]))
    rest = [_names(f"{n}.", len(s)) for n, s in enumerate(shapes[1:], 1)]
    return Dimensions([labels, *rest], None, {labels[-1]: "the last dimension can not be split"})


@_rule("LayerNorm", "LayerNormExt", "RmsNorm", "RMSNorm")
def _layer_norm(record: Any, shapes: Shapes) -> Dimensions:
    rank = len(shapes[0])
    labels = _names("x", rank)
    first = _field(record, "begin_norm_axis")
    begin = rank - len(shapes[1]) if first is None or len(shapes) < 2 else first % rank
    inputs = [labels, *(labels[rank - len(s) :] for s in shapes[1:])]
    why = "the normalized dimensions can not be split"
    return Dimensions(inputs, None, dict.fromkeys(labels[begin:], why))


@_rule("BatchNorm", "BatchNormExt", "InstanceNorm")
def _batch_norm(record: Any, shapes: Shapes) -> Dimensions:
    labels = _names("x", len(shapes[0]))
    return Dimensions([labels, *((labels[1],) if s else () for s in shapes[1:])], None)


@_rule(*_REDUCTIONS.split())
def _reduce(record: Any, shapes: Shapes) -> Dimensions:
    labels = _names("x", len(shapes[0]))
    rest = [_names(f"{n}.", len(s)) for n, s in enumerate(shapes[1:], 1)]
    return Dimensions([labels, *rest])


@_rule("Concat", "Stack", "Split", "Unstack", "SplitTensor", "SplitWithSize")
def _joined(record: Any, shapes: Shapes) -> Dimensions:
    labels = _names("x", len(shapes[0]))
    axis = _field(record, "axis", "dim", default=0)
    inputs = [
        labels if len(s) == len(labels) else _names(f"{n}.", len(s)) for n, s in enumerate(shapes)
    ]
    if record.name == "Stack" or not isinstance(axis, int) or not labels:
        return Dimensions(inputs)
    why = "the strategy corresponding to axis dimension is not 1"
    return Dimensions(inputs, None, {labels[axis % len(labels)]: why})


@_rule("Transpose")
def _transpose(record: Any, shapes: Shapes) -> Dimensions:
    labels = _names("x", len(shapes[0]))
    order = _field(record, "perm", "input_perm", "permutation", "dims")
    if not isinstance(order, tuple) or len(order) != len(labels):
        return Dimensions([labels])
    return Dimensions([labels], [tuple(labels[i] for i in order)])


@_rule("SoftmaxCrossEntropyWithLogits")
def _cross_entropy(record: Any, shapes: Shapes) -> Dimensions:
    labels = _names("x", len(shapes[0]))
    why = "the strategies of inputs corresponding to num_class dimension is not 1"
    return Dimensions([labels, labels], None, {labels[-1]: why})


@_rule("SparseSoftmaxCrossEntropyWithLogits", "NLLLoss")
def _sparse_cross_entropy(record: Any, shapes: Shapes) -> Dimensions:
    labels = _names("x", len(shapes[0]))
    why = "the strategies of inputs corresponding to num_class dimension is not 1"
    inputs: list[Labels] = [labels, labels[:1]]
    if len(shapes) > 2:
        inputs.append(labels[-1:])
    return Dimensions(inputs, None, {labels[-1]: why})


RING_ATTRIBUTES = ("enable_ring_attention", "enable_flash_sp")
"""Attributes by which attention is computed in a ring, keys cut along the sequence too."""
EXCHANGE_ATTRIBUTE = "enable_ulysses"
"""The attribute, ours, by which devices exchange parts of the sequence for heads."""


@_rule("FlashAttentionScore")
def _attention(record: Any, shapes: Shapes) -> Dimensions:
    """Heads and batches are cut alike; of masks and the like only the first dimensions are."""
    layouts: dict[str, tuple[Labels, Labels]] = {
        "BNSD": (("b", "n", "s", "d"), ("b", "kv", "t", "d")),
        "BSND": (("b", "s", "n", "d"), ("b", "t", "kv", "d")),
        "BSH": (("b", "s", "n"), ("b", "t", "kv")),
        "SBH": (("s", "b", "n"), ("t", "b", "kv")),
        "TND": (("s", "n", "d"), ("t", "kv", "d")),
    }
    layout = str(_field(record, "input_layout", default="BSH"))
    found = layouts.get(layout)
    if found is None:
        return _apart(record, shapes)
    query, key = found
    sizes = dict(zip(query, shapes[0], strict=False)) | dict(zip(key, shapes[1], strict=False))
    whole = {"d": "the head size can't be shard"}
    one_head = sizes.get("kv", 0) * _field(record, "head_num", default=1) == sizes.get("n", 0)
    if layout not in ("BSH", "SBH"):
        one_head = sizes.get("kv") == 1
    if one_head and sizes.get("n") != sizes.get("kv"):
        whole["kv"] = "under MQA the hidden dimension of input 'key' can't be shard"
    else:
        key = tuple("n" if label == "kv" else label for label in key)
    exchanged = record.attrs.get(EXCHANGE_ATTRIBUTE) is True
    if exchanged or any(record.attrs.get(name) is True for name in RING_ATTRIBUTES):
        key = tuple("s" if label == "t" else label for label in key)
    else:
        whole["t"] = "the sequence length of key and value can't be shard"

    def of_rest(n: int, shape: tuple[int, ...]) -> Labels:
        if len(shape) not in (2, 4):
            return _names(f"{n}.", len(shape))
        whole[f"{n}.last"] = "the last dimension of a mask can't be shard"
        rows = "s" if shape[-2] == sizes.get("s") and not exchanged else f"{n}.rows"
        front = [
            label if size != 1 else f"{n}.{label}"
            for label, size in zip(("b", "n"), shape[:-2], strict=False)
        ]
        return (*front, rows, f"{n}.last")

    rest = [of_rest(n, s) for n, s in enumerate(shapes[3:], 3)]
    return Dimensions([query, key, key, *rest], None, whole)


@_rule("MixtureOfExperts")
def _mixture(record: Any, shapes: Shapes) -> Dimensions:
    """Tokens, experts and their hidden dimension are cut; nothing else is."""
    del record
    inner, outer = ("e", "h1", "f"), ("e", "f", "h2")
    inputs: list[Labels] = [("n", "h"), ("h0", "e0"), inner, outer, inner]
    why = "of a mixture only tokens, experts and their hidden dimension can be split"
    return Dimensions(
        inputs[: len(shapes)], None, dict.fromkeys(("h", "h0", "e0", "h1", "h2"), why)
    )
