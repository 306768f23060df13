"""No argument is ignored: away from its default it changes the result, or raises, or is listed.

The base calls come from the op tables. `SHOWN` holds calls of their own for what these cannot show;
`DEVICE_TUNING` what has no effect by its documentation.
"""
# ruff: noqa: E501

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor, mint
from mindjax.core.dtype import Type
from tests.house.arguments import is_tuning
from tests.ops.calls import Call, table_calls
from tests.ops.compare import NAMES

CALLS = table_calls()
GROUP = 60
STRINGS = [
    ("none", "mean", "sum"),
    ("constant", "reflect", "replicate", "circular", "edge"),
    ("valid", "same", "pad", "VALID", "SAME", "PAD"),
    ("nearest", "bilinear", "linear", "bicubic", "area", "trilinear"),
    ("trunc", "floor"),
    ("left", "right"),
    ("none", "tanh"),
    ("zeros", "border", "reflection"),
    ("reduced", "complete"),
    ("valid", "same", "full"),
    ("backward", "ortho", "forward"),
    ("max", "min", "add", "sum", "mean", "prod", "amax", "amin"),
]
# Effects that the calls of the tables do not show: name, argument, expression, two values.
SHOWN = [
    ("range", "maxlen", "ops.range(0, 9, 1, {})", "100", "3"),
    (
        "Map",
        "reverse",
        "(lambda seen: (ops.Map(None, {})(lambda t: seen.append(t), (1, 2)), seen))([])[1]",
        "False",
        "True",
    ),
    (
        "Conv2DBackpropInput",
        "pad_mode",
        "ops.Conv2DBackpropInput(1, 2, pad_mode={}, pad=0, stride=2)(ops.ones((1, 1, 2, 2)), ops.ones((1, 1, 2, 2)), (1, 1, 4, 4))",
        "'valid'",
        "'nope'",
    ),
    ("isclose", "equal_nan", "mint.isclose(nan, nan, equal_nan={})", "False", "True"),
    ("isclose", "equal_nan", "ops.isclose(nan, nan, equal_nan={})", "False", "True"),
    ("median", "keepdim", "mint.median(m, 1, {})", "False", "True"),
    ("median", "axis", "ops.median(m, {})", "0", "1"),
    ("avg_pool2d", "ceil_mode", "F.avg_pool2d(x5, 2, ceil_mode={})", "False", "True"),
    (
        "avg_pool2d",
        "count_include_pad",
        "F.avg_pool2d(x5, 3, padding=1, count_include_pad={})",
        "False",
        "True",
    ),
    ("avg_pool1d", "ceil_mode", "ops.avg_pool1d(x3, 2, 2, ceil_mode={})", "False", "True"),
    (
        "avg_pool1d",
        "count_include_pad",
        "ops.avg_pool1d(x3, 3, 1, padding=1, count_include_pad={})",
        "False",
        "True",
    ),
    ("max_pool2d", "ceil_mode", "F.max_pool2d(x5, 2, ceil_mode={})", "False", "True"),
    ("MaxPool", "pad_mode", "ops.MaxPool(2, 2, {})(x5)", '"valid"', '"same"'),
    ("AvgPool", "pad_mode", "ops.AvgPool(2, 2, {})(x5)", '"valid"', '"same"'),
    (
        "dropout",
        "inplace",
        "(lambda t: (F.dropout(t, 0.9, True, inplace={}), t))(m + 0)[1]",
        "False",
        "True",
    ),
    ("relu", "inplace", "(lambda t: (F.relu(t, inplace={}), t))(-m)[1]", "False", "True"),
    ("embedding", "norm_type", "F.embedding(i, m + 0, max_norm=1.0, norm_type={})", "2.0", "1.0"),
    (
        "embedding",
        "padding_idx",
        "ms.grad(lambda w: F.embedding(i, w, padding_idx={}).sum())(m + 0)",
        "None",
        "1",
    ),
    (
        "nll_loss",
        "weight",
        "F.nll_loss(m, Tensor([0, 1]), weight={})",
        "None",
        "Tensor([1.0, 2.0, 3.0])",
    ),
    (
        "nll_loss",
        "weight",
        "ops.nll_loss(m, Tensor([0, 1], ms.int32), weight={})",
        "None",
        "Tensor([1.0, 2.0, 3.0])",
    ),
    ("normalize", "eps", "F.normalize(m, eps={})", "1e-12", "100.0"),
    ("topk", "dim", "mint.topk(m, 1, {})", "0", "1"),
    ("topk", "dim", "ops.topk(m, 1, {})", "0", "1"),
    ("Dropout", "Seed0", "(ms.set_seed(1), ops.Dropout(0.5, {}, 7)(ops.ones(50)))[1]", "0", "5"),
    ("Dropout", "Seed1", "(ms.set_seed(1), ops.Dropout(0.5, 7, {})(ops.ones(50)))[1]", "0", "5"),
    ("dropout", "seed", "(ms.set_seed(1), ops.dropout(ops.ones(50), seed={}))[1]", "1", "5"),
    ("FillV2", "shape", "ops.FillV2()({}, Tensor(1.0))", "(2,)", "(3,)"),
    ("Gather", "batch_dims", "ops.Gather({})(m, i, 1)", "0", "1"),
    ("gather", "batch_dims", "ops.gather(m, i, 1, {})", "0", "1"),
    ("L2Normalize", "epsilon", "ops.L2Normalize(0, {})(m)", "1e-4", "100.0"),
    ("OneHot", "axis", "ops.OneHot({})(i, 3, Tensor(1.0), Tensor(0.0))", "-1", "0"),
    ("Range", "maxlen", "ops.Range({})(Tensor(0), Tensor(9), Tensor(1))", "100", "3"),
    (
        "ResizeNearestNeighbor",
        "align_corners",
        "ops.ResizeNearestNeighbor((3, 2), {})(x)",
        "False",
        "True",
    ),
    (
        "ResizeNearestNeighbor",
        "half_pixel_centers",
        "ops.ResizeNearestNeighbor((3, 2), False, {})(x)",
        "False",
        "True",
    ),
    ("Unstack", "num", "ops.Unstack(0, {})(m)", "2", "3"),
    (
        "amax",
        "where",
        "ops.amax(m, 1, initial=2.5, where={})",
        "None",
        "Tensor([[False, True, True], [True, True, False]])",
    ),
    (
        "amin",
        "where",
        "ops.amin(m, 1, initial=2.5, where={})",
        "None",
        "Tensor([[True, False, True], [True, True, False]])",
    ),
    (
        "max",
        "where",
        "ops.max(m, 1, initial=Tensor(2.5), where={})",
        "None",
        "Tensor([[False, True, True], [True, True, False]])",
    ),
    (
        "min",
        "where",
        "ops.min(m, 1, initial=Tensor(2.5), where={})",
        "None",
        "Tensor([[True, False, True], [True, True, False]])",
    ),
    (
        "clip_by_norm",
        "error_if_nonfinite",
        "ops.clip_by_norm(nan, 1.0, error_if_nonfinite={})",
        "False",
        "True",
    ),
    ("cosine_similarity", "eps", "ops.cosine_similarity(m, m, eps={})", "1e-8", "1000.0"),
    ("diagonal", "dim2", "ops.diagonal(x, dim1=0, dim2={})", "1", "2"),
    ("diff", "axis", "ops.diff(m, axis={})", "0", "1"),
    ("gaussian_nll_loss", "eps", "ops.gaussian_nll_loss(m, m, m * 0, eps={})", "1e-6", "1.0"),
    ("nansum", "axis", "ops.nansum(m, {})", "0", "1"),
    (
        "batch_norm",
        "momentum",
        "(lambda r: (F.batch_norm(m, r, one.repeat(3), training=True, momentum={}), r))(m[0] + 0)[1]",
        "0.1",
        "0.9",
    ),
    (
        "HyperMap",
        "reverse",
        "(lambda seen: (ops.HyperMap(None, {})(lambda t: seen.append(t), (1, 2)), seen))([])[1]",
        "False",
        "True",
    ),
]
# Those that only `make test-all` runs: each compiles programs of its own.
SHOWN_SLOWLY = [
    (
        "avg_pool3d",
        "count_include_pad",
        "ops.avg_pool3d(x[None], 2, 1, 1, count_include_pad={})",
        "True",
        "False",
    ),
    (
        "max_unpool1d",
        "stride",
        "ops.max_unpool1d(m, Tensor([[0, 1, 2], [2, 1, 0]]), 3, {})",
        "None",
        "2",
    ),
    (
        "max_unpool2d",
        "stride",
        "ops.max_unpool2d(m[None, None], Tensor([[[[0, 1, 2], [3, 4, 5]]]]), 3, {})",
        "None",
        "2",
    ),
    (
        "max_unpool2d",
        "stride",
        "F.max_unpool2d(m[None, None], Tensor([[[[0, 1, 2], [3, 4, 5]]]]), 3, {})",
        "None",
        "2",
    ),
    (
        "max_unpool3d",
        "stride",
        "ops.max_unpool3d(m[None, None, None], Tensor([[[[[0, 1, 2], [3, 4, 5]]]]]), 3, {})",
        "None",
        "2",
    ),
    (
        "unique_consecutive",
        "dim",
        "mint.unique_consecutive(Tensor([[1, 1], [1, 1]]), dim={})",
        "None",
        "0",
    ),
    (
        "unique_consecutive",
        "dim",
        "ops.unique_consecutive(Tensor([[1, 1], [1, 1]]), dim={})",
        "None",
        "0",
    ),
    ("linspace", "axis", "ms.numpy.linspace(m[0], m[1], 4, axis={})", "0", "1"),
    (
        "CTCLossV2",
        "zero_infinity",
        "ops.CTCLossV2(0, 'none', {})(ops.log_softmax(x[0], -1), Tensor([[1, 1], [2, 2], [1, 2]]), Tensor([2, 2, 2]), Tensor([2, 2, 2]))[0]",
        "False",
        "True",
    ),
    (
        "ctc_loss",
        "zero_infinity",
        "ops.ctc_loss(ops.log_softmax(x[0], -1), Tensor([[1, 1], [2, 2], [1, 2]]), Tensor([2, 2, 2]), Tensor([2, 2, 2]), 0, 'none', {})[0]",
        "False",
        "True",
    ),
    (
        "CTCLoss",
        "ignore_longer_outputs_than_inputs",
        "ops.CTCLoss(ignore_longer_outputs_than_inputs={})(x[0].swapaxes(0, 1), Tensor([[0, 0], [0, 1], [0, 2]]), Tensor([1, 1, 2], ms.int32), Tensor([2, 2], ms.int32))[0]",
        "False",
        "True",
    ),
    (
        "DeformableOffsets",
        "dilations",
        "ops.DeformableOffsets((1, 1, 1, 1), (1, 1, 1, 1), (2, 2), {})(x5, ops.zeros((1, 12, 5, 5)))",
        "(1, 1, 2, 2)",
        "(1, 1, 1, 1)",
    ),
    (
        "deformable_conv2d",
        "dilations",
        "ops.deformable_conv2d(x5, ops.ones((1, 1, 2, 2)), ops.zeros((1, 12, 5, 5)), (2, 2), (1, 1, 1, 1), (1, 1, 1, 1), None, {})",
        "(1, 1, 2, 2)",
        "(1, 1, 1, 1)",
    ),
    (
        "FFTWithSize",
        "signal_sizes",
        "ops.FFTWithSize(1, True, True, signal_sizes={})(m.astype(ms.complex64))",
        "()",
        "(5,)",
    ),
    (
        "fractional_max_pool2d",
        "output_ratio",
        "ops.fractional_max_pool2d(x5, 2, output_ratio={}, _random_samples=ops.ones((1, 1, 2)) / 2)",
        "(0.5, 0.5)",
        "(0.8, 0.5)",
    ),
    (
        "MaxPool3DWithArgmax",
        "ceil_mode",
        "ops.MaxPool3DWithArgmax(2, 2, 0, ceil_mode={})(ops.ones((1, 1, 3, 3, 3)))[0]",
        "False",
        "True",
    ),
    ("NuclearNorm", "dim", "ops.NuclearNorm({})(x[0])", "(0, 1)", "(1, 2)"),
    ("cov", "aweights", "ops.cov(m, aweights={})", "None", "Tensor([1.0, 2.0, 3.0])"),
    ("cross", "dim", "ops.cross(q, q.T, {})", "0", "1"),
    ("cross", "dim", "mint.cross(q, q.T, {})", "0", "1"),
    ("Cross", "dim", "ops.Cross({})(q, q.T)", "0", "1"),
    ("matrix_solve", "adjoint", "ops.matrix_solve(q, q[:, :1], {})", "False", "True"),
    ("MatrixSolve", "adjoint", "ops.MatrixSolve({})(q, q[:, :1])", "False", "True"),
    (
        "batch_norm_gather_stats_with_counts",
        "running_mean",
        "(lambda r: (mint.batch_norm_gather_stats_with_counts(m[None], m, m, {}, None, 0.5, 1e-5, Tensor([3.0, 5.0])), r))(m[0] + 0)[1]",
        "None",
        "r",
    ),
    ("bincount", "minlength", "mint.bincount(i[0], minlength={})", "0", "5"),
    ("Quantile", "ignore_nan", "ops.Quantile(None, False, {})(nan, 0.5)", "False", "True"),
    (
        "ResizeNearestNeighborV2",
        "align_corners",
        "ops.ResizeNearestNeighborV2({})(x, Tensor([2, 3], ms.int32))",
        "False",
        "True",
    ),
    (
        "ResizeNearestNeighborV2",
        "half_pixel_centers",
        "ops.ResizeNearestNeighborV2(False, {})(x, Tensor([2, 3], ms.int32))",
        "False",
        "True",
    ),
    ("batch_dot", "axes", "ops.batch_dot(x[0], x[0], {})", "(2, 2)", "(1, 1)"),
    ("stft", "pad_mode", "ops.stft(x5.reshape(1, 25), 4, pad_mode={})", "'REFLECT'", "'CONSTANT'"),
    ("stft", "onesided", "ops.stft(x5.reshape(1, 25), 4, onesided={})", "True", "False"),
    (
        "FractionalMaxPool",
        "pseudo_random",
        "[ops.FractionalMaxPool([1.0, 1.4, 1.4, 1.0], {}, False, False, 3, s)(x9)[1] for s in (1, 2, 3)]",
        "False",
        "True",
    ),
    (
        "FractionalMaxPool",
        "deterministic",
        "(lambda p: (p(x9), p(x9)[1]))(ops.FractionalMaxPool([1.0, 1.4, 1.4, 1.0], True, False, {}, 1, 2))[1]",
        "False",
        "True",
    ),
    (
        "FractionalMaxPool",
        "seed",
        "ops.FractionalMaxPool([1.0, 1.4, 1.4, 1.0], False, False, True, {}, 7)(x9)[1]",
        "1",
        "5",
    ),
    (
        "FractionalMaxPool",
        "seed2",
        "ops.FractionalMaxPool([1.0, 1.4, 1.4, 1.0], False, False, True, 7, {})(x9)[1]",
        "1",
        "5",
    ),
    (
        "FractionalAvgPool",
        "pseudo_random",
        "[ops.FractionalAvgPool([1.0, 1.4, 1.4, 1.0], {}, False, False, 3, s)(x9)[1] for s in (1, 2, 3)]",
        "False",
        "True",
    ),
    (
        "FractionalAvgPool",
        "deterministic",
        "(lambda p: (p(x9), p(x9)[1]))(ops.FractionalAvgPool([1.0, 1.4, 1.4, 1.0], True, False, {}, 1, 2))[1]",
        "False",
        "True",
    ),
    (
        "FractionalAvgPool",
        "seed",
        "ops.FractionalAvgPool([1.0, 1.4, 1.4, 1.0], False, False, True, {}, 7)(x9)[1]",
        "1",
        "5",
    ),
    (
        "FractionalAvgPool",
        "seed2",
        "ops.FractionalAvgPool([1.0, 1.4, 1.4, 1.0], False, False, True, 7, {})(x9)[1]",
        "1",
        "5",
    ),
    (
        "batch_norm_gather_stats_with_counts",
        "running_var",
        "(lambda r: (mint.batch_norm_gather_stats_with_counts(m[None], m, m, None, {}, 0.5, 1e-5, Tensor([3.0, 5.0])), r))(m[0] + 0)[1]",
        "None",
        "r",
    ),
    (
        "batch_norm_gather_stats_with_counts",
        "momentum",
        "(lambda r: (mint.batch_norm_gather_stats_with_counts(m[None], m, m, r, None, {}, 1e-5, Tensor([3.0, 5.0])), r))(m[0] + 0)[1]",
        "0.5",
        "0.1",
    ),
]
X = Tensor(np.arange(1, 25, dtype=np.float32).reshape(1, 2, 3, 4))
WORLD = {
    **NAMES,
    "F": mint.nn.functional,
    "x": X,
    "x3": Tensor(np.arange(1, 8, dtype=np.float32).reshape(1, 1, 7)),
    "x5": Tensor(np.arange(1, 26, dtype=np.float32).reshape(1, 1, 5, 5)),
    "nan": Tensor([float("nan"), 1.0]),
    "m": Tensor([[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]]),
    "i": Tensor([[0, 1], [1, 0]]),
    "one": Tensor([1.0]),
    "q": Tensor([[2.0, 1.0, 0.5], [0.0, 3.0, 1.0], [4.0, 0.0, 1.0]]),
    "x9": Tensor(np.arange(100, dtype=np.float32).reshape(1, 10, 10, 1)),
}


def candidates(value: Any, name: str, tensors: list[Tensor]) -> Iterator[Any]:
    """Give other values of the kind of an argument."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (v for v in (value + 1, value - 1, 0, 1, 2, -1) if v != value)
    elif isinstance(value, float):
        yield from (v for v in (value + 0.5, 0.25, value * 2 + 1, -1.0) if v != value)
    elif isinstance(value, str):
        yield from (v for group in STRINGS if value in group for v in group if v != value)
        yield "no such choice"
    elif isinstance(value, tuple | list) and value and all(type(v) is int for v in value):
        yield type(value)(v + 1 for v in value)
        yield type(value)(reversed(value))
        yield type(value)(0 for _ in value)
    elif isinstance(value, Type):
        yield from (ms.float64, ms.int32, ms.int64, ms.float32)
    elif value is None or value == ():
        yield from missing(name, tensors)


def missing(name: str, tensors: list[Tensor]) -> Iterator[Any]:
    """Give values of an argument that may be left out."""
    if "dtype" in name:
        yield from (ms.float64, ms.int32, ms.float16)
    elif name in ("axis", "dim", "dims", "start_dim"):
        yield from (0, 1, (0,), (0, 1))
    else:
        yield from (1, 0, 2, True, 0.25, 2.0, (0,), (1, 1), "floor", "no such choice")
        for x in tensors[:1]:
            yield Tensor(np.full(x.shape, 0.5, np.float32))
            if len(x.shape) > 1:
                yield Tensor(np.full(x.shape[1], 0.5, np.float32))
        yield from (Tensor([True, False]), [2, 1])


def told(value: Any) -> Any:
    """Describe a result, to tell whether it changed."""
    if isinstance(value, tuple | list):
        return [told(v) for v in value]
    if isinstance(value, Tensor):
        array = np.asarray(value.asnumpy())
        return str(value.dtype), array.shape, array.tobytes()
    return repr(value)


def run(call: Call, changed: dict[str, Any]) -> Any:
    """Run a call with other values of some arguments, always from the same seed."""
    ms.set_seed(3)
    target = call.target()
    args, kwargs = call.values()
    if call.constructor is None:
        out = target(*args, **{**kwargs, **changed})
    else:
        fields, named = call.attributes()
        out = target(*fields, **{**named, **changed})(*args, **kwargs)
    return told([out, *args])  # in-place ones change an input


def parameters(call: Call) -> dict[str, Any]:
    """Give the arguments that can be changed by name, with the values that the call has."""
    signature = inspect.signature(call.target())
    args, kwargs = call.values() if call.constructor is None else call.attributes()
    try:
        bound = signature.bind_partial(*args, **kwargs)
    except TypeError:
        return {}
    positional = set(list(bound.arguments)[: len(args)])
    # What a record of ours binds is an argument of its call in the original.
    bound_fields = call.constructor is not None
    return {
        name: bound.arguments.get(name, p.default)
        for name, p in signature.parameters.items()
        if p.default is not p.empty
        and name not in positional
        and not (bound_fields and p.kind is p.KEYWORD_ONLY)
    }


def effect(call: Call, name: str, value: Any, base: Any) -> str:
    """Tell whether other values of an argument have an effect: "seen", "raises" or "none"."""
    args, _ = call.values()
    flat = [x for a in args for x in (a if isinstance(a, tuple | list) else (a,))]
    outcome = "raises"
    for other in candidates(value, name, [x for x in flat if isinstance(x, Tensor)]):
        try:
            if run(call, {name: other}) != base:
                return "seen"
            outcome = "none"
        except Exception:
            continue
    return outcome


def ignored(path: str) -> list[str]:
    """List the arguments of a name whose other values are taken without any effect."""
    open_names: dict[str, str] = {}
    for call in CALLS[path][:4]:
        wanted = {n: v for n, v in parameters(call).items() if open_names.get(n) != "seen"}
        if not wanted:
            break
        try:
            base = run(call, {})
        except Exception:
            continue
        for name, value in wanted.items():
            found = effect(call, name, value, base)
            if found == "seen" or open_names.get(name) != "none":
                open_names[name] = found
    return [n for n, state in open_names.items() if state == "none"]


PATHS = sorted(CALLS)
KNOWN = {row[:2] for row in SHOWN + SHOWN_SLOWLY}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("start", range(0, len(PATHS), GROUP))
def test_every_argument_has_an_effect(start: int) -> None:
    with jax.disable_jit():
        found = [(path, name) for path in PATHS[start : start + GROUP] for name in ignored(path)]
    found = [(path.rpartition(".")[2], name) for path, name in found]
    assert [x for x in found if x not in KNOWN and not is_tuning(".".join(x))] == []


def shown(expression: str, value: str) -> Any:
    """Evaluate an expression with a value; an error is an outcome too."""
    try:
        return told(eval(expression.format(value), dict(WORLD)))
    except (ValueError, RuntimeError) as error:
        return repr(error)


@pytest.mark.parametrize(
    "rows", [SHOWN, pytest.param(SHOWN_SLOWLY, marks=pytest.mark.slow)], ids=["few", "others"]
)
def test_effects_that_the_tables_do_not_show(rows: list[tuple[str, ...]]) -> None:
    assert [r[2] for r in rows if shown(r[2], r[3]) == shown(r[2], r[4])] == []
