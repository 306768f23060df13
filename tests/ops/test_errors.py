"""Common mistakes: the original's class and key phrase, on one line, with op, file and line."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Callable
from typing import Any

import pytest

import mindjax as ms
from mindjax import Parameter, Tensor, mint, ops
from mindjax.core import context, device
from tests.ops.mistakes import MISTAKES, names

GOLDEN = pathlib.Path(__file__).parent.parent / "goldens/errors.json"
ORIGINAL: dict[str, Any] = json.loads(GOLDEN.read_text())
ROWS = {name: (expression, phrase) for name, expression, phrase in MISTAKES}
# What the original says and MindJAX does not: rows of docs/differences.md, or a missing device.
DIFFERENT = {
    "embedding_oob": "the nearest row",
    "ce_label_oob": "a loss of 0",
    "cell_np_input": "a numpy array counts as a Tensor",
    "tensor_np_dtype": "numpy's dtypes are dtypes",
    "tensor_str_np": "Tensors hold numbers",
    "grad_noncallable": "refused at once, not when the gradient is called",
    "einsum_bad": "the original's message cannot be decoded",
    "set_context_target": "TPU is a device",
    "comm_init_cpu": "a world of one needs no launcher",
    "vmap_axis": "the original cannot parse the lambda on its line",
}
# Python's own machinery raises these: no place to add the line.
UNPLACED = {
    *("cell_missing_attr", "tensor_missing_attr", "ops_missing", "mint_missing"),
    *("prim_missing_arg", "prim_extra_arg"),
}
FOREIGN = re.compile(r"\bjax\.|\blax\.|Xla|mhlo|stablehlo|dot_general|Traceback|Tracer")


def outcome(name: str) -> Exception | None:
    """Run a mistake and give its error; the settings stay as they were."""
    settings, place = dict(context._settings), (device._Choice.target, device._Choice.index)
    try:
        eval(ROWS[name][0], names(ms))
    except Exception as error:
        return error
    finally:
        context._settings.clear()
        context._settings.update(settings)
        device._Choice.target, device._Choice.index = place
    return None


def is_absent(error: Exception | None, name: str) -> bool:
    """Tell whether a name that the expression uses is still to come."""
    found = re.search(r"has no attribute '(\w+)'", str(error))
    return isinstance(error, AttributeError) and bool(found) and name not in UNPLACED


@pytest.mark.parametrize("name", ROWS)
def test_mistake(name: str) -> None:
    expression, phrase = ROWS[name]
    error = outcome(name)
    if error is not None:
        check_form(name, error)
    if name in DIFFERENT:
        return
    wanted = ORIGINAL[name]
    if is_absent(error, name):
        pytest.skip(f"{error}")
    if wanted is None:
        assert error is None, f"{expression} is accepted by the original: {error!r}"
        return
    assert wanted[0][0] in [c.__name__ for c in type(error).__mro__], f"{wanted} but {error!r}"
    assert phrase.lower() in wanted[1].lower(), f"the original says: {wanted[1]}"
    assert phrase.lower() in str(error).lower(), f"{phrase!r} is not in {error}"


def check_form(name: str, error: Exception) -> None:
    """Check one line, no word of jax's machinery, the op or argument, the user's file and line."""
    text = str(error)
    assert "\n" not in text
    assert not FOREIGN.search(text)
    if name not in UNPLACED and not is_absent(error, name):
        assert re.search(r"\[<string>:\d+\]\"?$|\[.*test_errors.py:\d+\]\"?$", text), text
        assert re.match(r"[\"]?For |.*\b[A-Z]\w+\b", text), text


def test_the_line_is_the_users() -> None:
    x, y = Tensor([[1.0, 2.0]]), Tensor([[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError) as caught:
        x + y
    assert source_line(caught.value) == "x + y"


def test_the_line_is_the_users_in_graph() -> None:
    @ms.jit
    def f(x: Tensor, y: Tensor) -> Tensor:
        z = x * 2
        return z + y

    with pytest.raises(ValueError, match="broadcast") as caught:
        f(Tensor([[1.0, 2.0]]), Tensor([[1.0, 2.0, 3.0]]))
    assert source_line(caught.value) == "return z + y"


# An index out of range, given to the operators themselves; the functions call these.
OUT_OF_RANGE: dict[str, Any] = {
    "Gather": lambda x, i: ops.Gather()(x, i, 0),
    "GatherD": lambda x, i: ops.GatherD()(x, 0, i.reshape(1, 1)),
    "GatherNd": lambda x, i: ops.GatherNd()(x, i.reshape(1, 1)),
    "ScatterNd": lambda x, i: ops.ScatterNd()(i.reshape(1, 1), x[:1], (3, 2)),
    "TensorScatterAdd": lambda x, i: ops.TensorScatterAdd()(x, i.reshape(1, 1), x[:1]),
    "ScatterUpdate": lambda x, i: ops.ScatterUpdate()(Parameter(x, name="p"), i, x[:1]),
    "ScatterNdAdd": lambda x, i: ops.ScatterNdAdd()(Parameter(x, name="p"), i.reshape(1, 1), x[:1]),
}


@pytest.mark.parametrize("name", OUT_OF_RANGE)
def test_an_index_out_of_range(name: str) -> None:
    with pytest.raises(RuntimeError, match=rf"For '{name}'.*range|not index") as caught:
        OUT_OF_RANGE[name](Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([9]))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("jit", [False, True])
def test_a_result_beyond_any_memory(jit: bool) -> None:
    """The compiler would end the process."""

    def f(x: Tensor) -> Tensor:
        return ops.broadcast_to(x, (1 << 61, 2))

    with pytest.raises(ValueError, match=r"For 'BroadcastTo'.*too big"):
        (ms.jit(f) if jit else f)(Tensor([1.0, 2.0]))


def test_bmm_of_matrices() -> None:
    with pytest.raises(ValueError, match="'bmm', the 'mat2' must have 3 axes"):
        mint.bmm(Tensor([[[1.0]]]), Tensor([[1.0]]))


def source_line(error: Exception) -> str:
    """Read the line of this file that a message names."""
    found = re.search(r"test_errors.py:(\d+)\]$", str(error))
    assert found, error
    return pathlib.Path(__file__).read_text().splitlines()[int(found[1]) - 1].strip()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ops.make_range(10**13), RuntimeError, "For 'make_range', no memory"),
        (lambda: ops.TrilIndices(10**13, 10**13)(), RuntimeError, "For 'tril_indices'.*no memory"),
        (lambda: ops.triu_indices(2**70, 3), RuntimeError, "For 'triu_indices'.*no memory"),
        (lambda: ms.numpy.tril_indices(10**13), RuntimeError, "no memory"),
        (lambda: ops.arange(10**13)[0].asnumpy(), RuntimeError, r"shape \(\).*not enough memory"),
        (lambda: ops.vander(Tensor([[1.0]])), ValueError, "For 'vander', 'x'"),
        (
            lambda: ops.Conv2DBackpropInput(3, 3)(Tensor(1.0), Tensor(1.0), (1, 1, 3, 3)),
            ValueError,
            "'out_backprop' must have 4 axes",
        ),
    ],
)
def test_sizes_beyond_any_memory_and_wrong_ranks(
    call: Callable[[], Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words) as caught:
        call()
    assert type(caught.value) is error and "\n" not in str(caught.value)


def test_a_diagonal_far_off() -> None:
    assert ops.triu_indices(2, 2, 2**70).shape == (2, 0)
    assert ops.triu_indices(2, 2, -(2**70)).shape == (2, 4)
