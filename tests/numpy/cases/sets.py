"""Distinct elements and sets."""

from tests.ops.table import Case, lit

F = lit([[0.25, 1.5, 2.75], [3.5, 4.25, 5.5]])
K = lit([[0, 1, 2], [3, 4, 5]], "i32")
C = lit([3, 1, 3, 2, 1], "i32")

CASES = [
    Case("unique", [C], 'ms.numpy.unique(a)', graph=False),
    Case("unique_2", [C], 'ms.numpy.unique(a, True)', graph=False),
    Case("unique_3", [K], 'ms.numpy.unique(a, True)', graph=False),
    Case("unique_4", [F], 'ms.numpy.unique(a)', grad=False, graph=False),
    Case("unique_5", [], 'ms.numpy.unique([1])', raises=True),
    Case("intersect1d", [C], 'ms.numpy.intersect1d(a, [1, 3, 5])', graph=False),
    Case("intersect1d_2", [C], 'ms.numpy.intersect1d(a, [1, 3, 5], return_indices=True)', graph=False),
    Case("intersect1d_3", [], 'ms.numpy.intersect1d([1, 2, 3], [3, 2, 5], True)', graph=False),
    Case("intersect1d_4", [], 'ms.numpy.intersect1d([1, 2, 3], [3, 2, 5], True, True)', graph=False),
    Case("intersect1d_5", [], 'ms.numpy.intersect1d([1, 2], [3, 4])', graph=False),
    Case("intersect1d_6", [F, C], 'ms.numpy.intersect1d(a, b)', grad=False, graph=False),
    Case("intersect1d_7", [], 'ms.numpy.intersect1d([1], [2], 1)', raises=True),
    Case("setdiff1d", [C], 'ms.numpy.setdiff1d(a, [1])', graph=False),
    Case("setdiff1d_2", [], 'ms.numpy.setdiff1d([3, 2, 1], [1], True)', graph=False),
    Case("setdiff1d_3", [], 'ms.numpy.setdiff1d([3, 2, 1, 3], [1])', graph=False),
    Case("in1d", [C], 'ms.numpy.in1d(a, [1, 2])'),
    Case("in1d_2", [C], 'ms.numpy.in1d(a, [1, 2], True)'),
    Case("isin", [K], 'ms.numpy.isin(a, [1, 2])'),
    Case("isin_2", [], 'ms.numpy.isin(2, [1, 2])'),
    Case("isin_3", [F, C], 'ms.numpy.isin(a, b)', grad=False),
]
