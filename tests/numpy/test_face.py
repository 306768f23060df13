"""The namespace: its names, dtypes and numbers, and how it takes array-likes."""

from __future__ import annotations

import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor
from mindjax import numpy as mnp


def test_dtypes_have_this_namespaces_widths() -> None:
    assert (mnp.int_, mnp.uint, mnp.float_) == (ms.int32, ms.uint32, ms.float32)
    assert mnp.bool_ is ms.bool_ and mnp.float64 is ms.float64
    assert mnp.numeric_types[0] == "int_"


def test_numbers() -> None:
    assert mnp.inf == mnp.PINF == -mnp.NINF == float("inf")
    assert mnp.nan != mnp.nan
    assert mnp.pi == np.pi


def test_aliases() -> None:
    assert mnp.abs is mnp.fabs is mnp.absolute
    assert mnp.max is mnp.amax and mnp.min is mnp.amin
    assert mnp.mod is mnp.remainder
    assert mnp.bitwise_not is mnp.invert
    assert mnp.round is mnp.around


def test_star_import_leaves_numbers_and_builtins_of_python_out() -> None:
    names: dict[str, object] = {}
    exec("from mindjax.numpy import *", names)
    assert {"sum", "abs", "array", "float32", "mgrid"} <= set(names)
    assert not {"round", "pi", "inf", "copy", "importlib", "Any"} & set(names)


def test_arrays_of_numpy_are_no_array_likes() -> None:
    for function in (mnp.add, mnp.maximum):
        with pytest.raises(TypeError):
            function(np.ones(3), Tensor([1.0]))
    with pytest.raises(TypeError):
        mnp.asarray(np.ones(3))


def test_tensors_in_a_list_keep_their_gradients() -> None:
    def loss(x: Tensor, y: Tensor) -> Tensor:
        return mnp.sum(mnp.multiply(mnp.array([x, y]), mnp.array([2.0, 3.0])))

    gradients = ms.grad(loss, (0, 1))(Tensor(1.0), Tensor(5.0))
    assert [float(g) for g in gradients] == [2.0, 3.0]
    assert float(ms.jit(loss)(Tensor(1.0), Tensor(5.0))) == 17.0


def test_array_copies_and_asarray_does_not() -> None:
    x = Tensor([1.0, 2.0])
    assert mnp.asarray(x) is x
    made = mnp.array(x)
    made[0] = 7.0
    assert x.asnumpy().tolist() == [1.0, 2.0]


def test_arguments_that_the_original_drops() -> None:
    """There `full` of a Tensor has the Tensor's dtype, and empty shapes have Float32."""
    assert mnp.full((2, 2), Tensor([1, 2]), dtype=ms.float32).dtype == ms.float32
    assert mnp.zeros((0, 2), ms.float64).dtype == ms.float64


def test_windows_and_ranges_are_constants_of_a_program() -> None:
    def function(x: Tensor) -> Tensor:
        return mnp.hanning(4) * x + mnp.arange(4) + mnp.linspace(0, 3, 4)

    got = ms.jit(function)(Tensor(np.ones(4, np.float32))).asnumpy()
    np.testing.assert_allclose(got, np.hanning(4) + 2 * np.arange(4), atol=1e-6)


def test_large_integers_are_exact() -> None:
    """The original counts in Float32, whose steps are 2 above 16777216."""
    assert mnp.arange(16777216, 16777220).asnumpy().tolist() == [16777216 + i for i in range(4)]
    assert mnp.flip(Tensor([16777217, 1])).asnumpy().tolist() == [1, 16777217]


def test_values_that_the_original_misses() -> None:
    """There: NaN for the root of 0, a cut mean of integers, cut numbers of a mixed list."""
    assert mnp.cbrt(Tensor([0.0, -8.0])).asnumpy().tolist() == [0.0, -2.0]
    whole = Tensor([0, 1, 2, 3], ms.int32)
    assert float(mnp.var(whole)) == 1.25
    assert mnp.correlate([1, 2, 3], [0, 1, 0.5]).asnumpy().tolist() == [3.5]
    assert mnp.promote_types("uint16", "float64") is ms.float64
    truth = Tensor([True, False, True, False])
    assert [float(f(truth)) for f in (mnp.mean, mnp.nanmean, mnp.nanvar)] == [0.5, 0.5, 0.25]


def test_gradients_that_the_original_misses() -> None:
    """There `convolve` has none for the shorter vector, nor `select` for Tensors in a list."""
    x, y = Tensor([1.0, 2.0, 4.0]), Tensor([1.0, 1.0])
    second = ms.grad(lambda a, b: mnp.sum(mnp.convolve(a, b)), 1)(x, y)
    assert second.asnumpy().tolist() == [7.0, 7.0]
    chosen = ms.grad(lambda a: mnp.sum(mnp.select([a > 1], [a * 3])))(x)
    assert chosen.asnumpy().tolist() == [0.0, 3.0, 3.0]


def test_an_unknown_name() -> None:
    with pytest.raises(AttributeError):
        mnp.bogus  # noqa: B018
