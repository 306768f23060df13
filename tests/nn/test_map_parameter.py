"""`experimental.MapParameter` as its documentation says; the original's CPU has no kernels."""

import numpy as np
import pytest

import mindjax as ms
from mindjax.experimental import MapParameter


def keys(*values):
    return ms.Tensor(np.array(values, np.int32))


def table(**kwargs):
    return MapParameter(
        key_dtype=ms.int32,
        value_dtype=ms.float32,
        value_shape=3,
        **({"default_value": "zeros"} | kwargs),
    )


def test_rows_are_made_set_and_erased():
    m = table()
    np.testing.assert_array_equal(m.get(keys(1, 2, 3)).asnumpy(), np.zeros((3, 3)))
    m.put(keys(1, 2), ms.Tensor(np.array([[1, 1, 1], [2, 2, 2]], np.float32)))
    wanted = [[1, 1, 1], [2, 2, 2], [0, 0, 0]]
    np.testing.assert_array_equal(m.get(keys(1, 2, 3)).asnumpy(), wanted)
    m.erase(keys(2, 3, 9))
    np.testing.assert_array_equal(m.get_keys().asnumpy(), [1])
    np.testing.assert_array_equal(m.get_values().asnumpy(), [[1, 1, 1]])
    m[keys(5)] = ms.Tensor(np.full((1, 3), 5, np.float32))
    np.testing.assert_array_equal(m[keys(5)].asnumpy(), [[5, 5, 5]])


def test_a_row_that_is_not_kept():
    m = table(default_value=7)
    np.testing.assert_array_equal(m.get(keys(4), False).asnumpy(), [[7, 7, 7]])
    assert m.get_keys().shape == (0,)


def test_first_rows_and_exports():
    values = ms.Tensor(np.array([[1.0, 2], [3, 4]], np.float32))
    m = MapParameter(key_tensor=keys(1, 2), value_tensor=values, name="k")
    assert (m.name, m.dtype, m.key_dtype) == ("k", ms.float32, ms.int32)
    exported = m.export_data()
    # The original's, recorded.
    for got, want in zip(exported, ([1, 2], [[1, 2], [3, 4]], [0, 0]), strict=True):
        np.testing.assert_array_equal(got, want)
    m.put(keys(3), values[:1])
    m.erase(keys(1))
    found, rows, status = m.export_data(incremental=True)
    assert (found.tolist(), rows.tolist(), status.tolist()) == ([1, 3], [[1, 2]], [2, 1])
    other = m.clone()
    other.import_data(exported)
    other.import_data((found, rows, status))
    assert other.get_keys().asnumpy().tolist() == [2, 3]
    assert m.export_bytes(True) == (b"", b"", b"")
    assert m.export_slice_data()[3] is True


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: MapParameter(key_dtype=ms.int64, key_tensor=keys(1)), ValueError),
        (lambda: MapParameter(key_dtype=ms.float32), TypeError),
        (lambda: table(permit_filter_value=2), NotImplementedError),
        (lambda: table(evict_filter_value=2), NotImplementedError),
        (lambda: table().get(ms.Tensor([1.0])), TypeError),
        (lambda: table().put(keys(1), ms.Tensor(np.ones((1, 2), np.float32))), ValueError),
    ],
)
def test_bad_input(make, kind):
    with pytest.raises(kind, match="MapParameter"):
        make()


def test_a_graph_refuses_it():
    m = table()
    with pytest.raises(NotImplementedError, match="Embedding"):
        ms.jit(lambda: m.get(keys(1)))()
