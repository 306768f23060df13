"""Covariances, histograms, sorted places."""

from tests.ops.table import Case, f32, lit

F = lit([[0.25, 1.5, 2.75], [3.5, 4.25, 5.5]])
K = lit([[0, 1, 2], [3, 4, 5]], "i32")
L = lit([0, 1, 2], "i64")
C = lit([3, 1, 3, 2, 1], "i32")
V = lit([1.0, 2.0, 4.0, 7.0])
X = f32(2, 3, 2)
W = lit([1.0, 2.0, 3.0])

CASES = [
    Case("histogram_bin_edges", [], 'ms.numpy.histogram_bin_edges([1, 2, 3], 4)'),
    Case("histogram_bin_edges_2", [K], 'ms.numpy.histogram_bin_edges(a, 4, (0, 10))'),
    Case("histogram_bin_edges_3", [K], 'ms.numpy.histogram_bin_edges(a, [1, 2, 3])'),
    Case("histogram_bin_edges_4", [K], 'ms.numpy.histogram_bin_edges(a, "auto")', raises=True),
    Case("histogram_bin_edges_5", [], 'ms.numpy.histogram_bin_edges(Tensor([1.0, 1.0]), 2)'),
    Case("histogram_bin_edges_6", [K], 'ms.numpy.histogram_bin_edges(a, 4, (3, 1))', raises=True),
    Case("cov", [F], 'ms.numpy.cov(a)'),
    Case("cov_2", [F], 'ms.numpy.cov(a, bias=True)', grad=False),
    Case("cov_3", [F], 'ms.numpy.cov(a, rowvar=False)', grad=False),
    Case("cov_4", [], 'ms.numpy.cov([1.0, 2, 4])'),
    Case("cov_5", [], 'ms.numpy.cov([1.0, 2, 4], [2.0, 3, 1])'),
    Case("cov_6", [F], 'ms.numpy.cov(a, ddof=0)', grad=False),
    Case("cov_7", [F], 'ms.numpy.cov(a, fweights=[1, 2, 3])', grad=False),
    Case("cov_8", [F], 'ms.numpy.cov(a, aweights=[1, 2, 3])', grad=False),
    Case("cov_9", [F], 'ms.numpy.cov(a, fweights=[1, 2, 1], aweights=[1, 2, 3], dtype=ms.float16)', grad=False),
    Case("cov_10", [F], 'ms.numpy.cov(a, fweights=[1.0, 2.0, 3.0])', raises=True),
    Case("cov_11", [F], 'ms.numpy.cov(a, fweights=[1, 2])', raises=True),
    Case("cov_12", [X], 'ms.numpy.cov(a)', raises=True),
    Case("corrcoef", [F], 'ms.numpy.corrcoef(a)'),
    Case("corrcoef_2", [], 'ms.numpy.corrcoef([[1.0, 2, 4], [3, 1, 2]])'),
    Case("corrcoef_3", [], 'ms.numpy.corrcoef([1.0, 2, 4])'),
    Case("corrcoef_4", [], 'ms.numpy.corrcoef([1.0, 2, 4], [3.0, 1, 2], dtype=ms.float16)'),
    Case("bincount", [C], 'ms.numpy.bincount(a)', graph=False),
    Case("bincount_2", [C], 'ms.numpy.bincount(a, minlength=6)', graph=False),
    Case("bincount_3", [C], 'ms.numpy.bincount(a, [1.0, 2, 3, 4, 5])', graph=False),
    Case("bincount_4", [C], 'ms.numpy.bincount(a, length=2)'),
    Case("bincount_5", [F], 'ms.numpy.bincount(a)', raises=True),
    Case("bincount_6", [W], 'ms.numpy.bincount(a)', raises=True),
    Case("bincount_7", [C], 'ms.numpy.bincount(a, [1.0])', raises=True),
    Case("bincount_8", [], 'ms.numpy.bincount([0, 1, -1])', graph=False),
    Case("bincount_9", [], 'ms.numpy.bincount(Tensor(np.array([0, 1], np.uint8)))', raises=True),
]
