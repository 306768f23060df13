"""Choosing elements and flat indices."""

from tests.ops.table import Case, f32, lit

F = lit([[0.25, 1.5, 2.75], [3.5, 4.25, 5.5]])
K = lit([[0, 1, 2], [3, 4, 5]], "i32")
D = lit([[0.25, 1.5, 2.75], [3.5, 4.25, 5.5]], "f64")
B = lit([True, False, True], "bool")
H = lit([1, 0.5, 2], "f16")
L = lit([0, 1, 2], "i64")
X = f32(2, 3, 2)

CASES = [
    Case("where", [B, F, K], 'ms.numpy.where(a, b, c)'),
    Case("where_2", [B], 'ms.numpy.where(a, 1, 0)'),
    Case("where_3", [B], 'ms.numpy.where(a, 1, 0.5)'),
    Case("where_4", [B], 'ms.numpy.where([1, 0], a[:2], a[1:])'),
    Case("where_5", [F], 'ms.numpy.where(a > 2, a, Tensor(2))', grad=False),
    Case("where_6", [B, F], 'ms.numpy.where(a, b)', raises=True),
    Case("where_7", [L, H], 'ms.numpy.where(a, b, a)', grad=False),
    Case("where_8", [B, D], 'ms.numpy.where(a, b, 1)', grad=False),
    Case("where_9", [B, K], 'ms.numpy.where(a, b, Tensor([1, 2]))', raises=True),
    Case("take_along_axis", [F], 'ms.numpy.take_along_axis(a, Tensor([[0, 1, 0]]), 0)'),
    Case("take_along_axis_2", [F], 'ms.numpy.take_along_axis(a, Tensor([[2], [0]]), 1)', grad=False),
    Case("take_along_axis_3", [F], 'ms.numpy.take_along_axis(a, Tensor([1, 5]), None)', grad=False),
    Case("take_along_axis_4", [F], 'ms.numpy.take_along_axis(a, Tensor([1]), 1)', raises=True),
    Case("take", [F], 'ms.numpy.take(a, Tensor([1, 9]))'),
    Case("take_2", [F], 'ms.numpy.take(a, Tensor([[1, 2]]), 1)', grad=False),
    Case("take_3", [F], 'ms.numpy.take(a, Tensor([4]), 1, "wrap")', grad=False),
    Case("take_4", [F], 'ms.numpy.take(a, Tensor([4]), 1, "raise")', raises=True),
    Case("take_5", [F], 'ms.numpy.take(a, Tensor([4]), 1, "x")', raises=True),
    Case("take_6", [F], 'ms.numpy.take(a, [1])', raises=True),
    Case("select", [], 'ms.numpy.select([[True, False], [False, False]], [[1, 2], [3, 4]], 9)'),
    Case("select_2", [B, F], 'ms.numpy.select([a, a], [b, b + 1])', math="np.select([a & (b > 0)] * 2, [b, b + 1])", judge="math"),
    Case("select_3", [B], 'ms.numpy.select([a], [Tensor([1.0, 2, 3])], default=Tensor([7.0, 8, 9]))'),
    Case("choose", [], 'ms.numpy.choose([0, 1, 1], [[1, 2, 3], [4, 5, 6]])'),
    Case("choose_2", [L], 'ms.numpy.choose(a, [Tensor([1, 2, 3]), Tensor([4, 5, 6])], "wrap")'),
    Case("choose_3", [L], 'ms.numpy.choose(a, Tensor([[1.0, 2, 3], [4, 5, 6]]))'),
    Case("choose_4", [F], 'ms.numpy.choose(a, [1])', raises=True),
    Case("choose_5", [L], 'ms.numpy.choose(a, [1, 2], "raise")', raises=True),
    Case("choose_6", [L], 'ms.numpy.choose(a - 1, [1, 2])'),
    Case("apply_along_axis", [F], 'ms.numpy.apply_along_axis(ms.numpy.sum, 0, a)'),
    Case("apply_along_axis_2", [F], 'ms.numpy.apply_along_axis(lambda q: q * 2, 1, a)', grad=False),
    Case("apply_along_axis_3", [F], 'ms.numpy.apply_along_axis(ms.numpy.diag, -1, a)', grad=False),
    Case("apply_along_axis_4", [X], 'ms.numpy.apply_along_axis(lambda q, k: q[:1] * k, 0, a, k=3)', grad=False),
    Case("piecewise", [F], 'ms.numpy.piecewise(a, [a < 2, a >= 4], [-1, 1])', grad=False),
    Case("piecewise_2", [F], 'ms.numpy.piecewise(a, [a < 2, a >= 4], [lambda q: -q, lambda q: q * 2, lambda q: q])'),
    Case("piecewise_3", [F], 'ms.numpy.piecewise(a, [a < 2], [1, 2, 3])', raises=True),
    Case("piecewise_4", [F], 'ms.numpy.piecewise(a, a < 2, [1, 2])', grad=False),
    Case("unravel_index", [], 'ms.numpy.unravel_index(5, (2, 3))'),
    Case("unravel_index_2", [], 'ms.numpy.unravel_index([1, 4], (2, 3))'),
    Case("unravel_index_3", [], 'ms.numpy.unravel_index(Tensor([1, 4]), (2, 3), "F")'),
    Case("unravel_index_4", [], 'ms.numpy.unravel_index([9, -9], (2, 3))'),
    Case("unravel_index_5", [], 'ms.numpy.unravel_index(3, 6)'),
    Case("unravel_index_6", [], 'ms.numpy.unravel_index(3, 6, "A")', raises=True),
    Case("unravel_index_7", [], 'ms.numpy.unravel_index([[1, 2], [3, 4]], (2, 3))'),
    Case("apply_over_axes", [X], 'ms.numpy.apply_over_axes(ms.numpy.sum, a, (0, 2))', grad=False),
    Case("apply_over_axes_2", [F], 'ms.numpy.apply_over_axes(ms.numpy.mean, a, 1)', grad=False),
    Case("argwhere", [F], 'ms.numpy.argwhere(a > 2)', grad=False, graph=False),
    Case("argwhere_2", [], 'ms.numpy.argwhere([1, 0, 2])', graph=False),
    Case("ravel_multi_index", [], 'ms.numpy.ravel_multi_index(Tensor([[1, 1], [0, 2]]), (2, 3))'),
    Case("ravel_multi_index_2", [], 'ms.numpy.ravel_multi_index([[1, 5], [0, 7]], (2, 3), "wrap")'),
    Case("ravel_multi_index_3", [], 'ms.numpy.ravel_multi_index([[1, 5], [0, 7]], (2, 3), "clip", "F")'),
    Case("ravel_multi_index_4", [], 'ms.numpy.ravel_multi_index([1, 2], (2, 3))'),
    Case("ravel_multi_index_5", [], 'ms.numpy.ravel_multi_index([1, 2], (2, 3), "raise")', raises=True),
    Case("ravel_multi_index_6", [], 'ms.numpy.ravel_multi_index([1, 2.0], (2, 3))', raises=True),
    Case("ravel_multi_index_7", [], 'ms.numpy.ravel_multi_index([1, 2], (2, 3, 4))', raises=True),
]
