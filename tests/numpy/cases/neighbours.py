"""Differences, integrals, convolution, polynomials."""

from tests.ops.table import Case, lit

F = lit([[0.25, 1.5, 2.75], [3.5, 4.25, 5.5]])
K = lit([[0, 1, 2], [3, 4, 5]], "i32")
B = lit([True, False, True], "bool")
H = lit([1, 0.5, 2], "f16")
L = lit([0, 1, 2], "i64")
C = lit([3, 1, 3, 2, 1], "i32")
V = lit([1.0, 2.0, 4.0, 7.0])
W = lit([1.0, 2.0, 3.0])

CASES = [
    Case("diff", [V], 'ms.numpy.diff(a)'),
    Case("diff_2", [K], 'ms.numpy.diff(a, 1, 0)'),
    Case("diff_3", [V], 'ms.numpy.diff(a, 2)', grad=False),
    Case("diff_4", [V], 'ms.numpy.diff(a, 0)', grad=False),
    Case("diff_5", [V], 'ms.numpy.diff(a, 9)', raises=True),
    Case("diff_6", [V], 'ms.numpy.diff(a, -1)', raises=True),
    Case("diff_7", [V], 'ms.numpy.diff(a, 1.0)', raises=True),
    Case("diff_8", [V], 'ms.numpy.diff(a, prepend=0, append=Tensor([9.0]))', grad=False),
    Case("diff_9", [B], 'ms.numpy.diff(a)'),
    Case("ediff1d", [F], 'ms.numpy.ediff1d(a)'),
    Case("ediff1d_2", [V], 'ms.numpy.ediff1d(a, [1, 2], 0)', grad=False),
    Case("ediff1d_3", [], 'ms.numpy.ediff1d([1])', raises=True),
    Case("ediff1d_4", [K], 'ms.numpy.ediff1d(a, to_end=Tensor([1.5]))'),
    Case("trapz", [V], 'ms.numpy.trapz(a)'),
    Case("trapz_2", [V], 'ms.numpy.trapz(a, [0.0, 1, 3, 4])', grad=False),
    Case("trapz_3", [F], 'ms.numpy.trapz(a, axis=0, dx=2)', grad=False),
    Case("trapz_4", [K], 'ms.numpy.trapz(a)'),
    Case("trapz_5", [], 'ms.numpy.trapz([1, 2, 3], dx=0.5)'),
    Case("trapz_6", [F], 'ms.numpy.trapz(a, axis=3)', raises=True),
    Case("gradient", [V], 'ms.numpy.gradient(a)'),
    Case("gradient_2", [F], 'ms.numpy.gradient(a)', grad=False),
    Case("gradient_3", [F], 'ms.numpy.gradient(a, 2, axis=1)', grad=False),
    Case("gradient_4", [F], 'ms.numpy.gradient(a, 1, 2.0)', grad=False),
    Case("gradient_5", [], 'ms.numpy.gradient([1, 2])'),
    Case("gradient_6", [], 'ms.numpy.gradient(Tensor([1.0]))', raises=True),
    Case("gradient_7", [V], 'ms.numpy.gradient(a, edge_order=2)', raises=True),
    Case("gradient_8", [V], 'ms.numpy.gradient(a, 1, 2, 3)', raises=True),
    Case("gradient_9", [K], 'ms.numpy.gradient(a)'),
    Case("convolve", [], 'ms.numpy.convolve([1, 2, 3], [0, 1, 0.5])'),
    Case("convolve_2", [V, W], 'ms.numpy.convolve(a, b, "same")', math="np.convolve(a, b, 'same')", judge="math"),
    Case("convolve_3", [V, W], 'ms.numpy.convolve(a, b, "valid")', grad=False),
    Case("convolve_4", [L], 'ms.numpy.convolve(a, a)'),
    Case("convolve_5", [], 'ms.numpy.convolve(2, 3)'),
    Case("convolve_6", [], 'ms.numpy.convolve([], [1])', raises=True),
    Case("convolve_7", [V, W], 'ms.numpy.convolve(a, b, "x")', raises=True),
    Case("convolve_8", [F, W], 'ms.numpy.convolve(a, b)', raises=True),
    Case("correlate", [V, W], 'ms.numpy.correlate(a, b, "same")'),
    Case("correlate_2", [V, W], 'ms.numpy.correlate(a, b, "full")', grad=False),
    Case("correlate_3", [W, V], 'ms.numpy.correlate(a, b)', grad=False),
    Case("correlate_4", [L], 'ms.numpy.correlate(a, a)'),
    Case("correlate_5", [C], 'ms.numpy.correlate(a, a)'),
    Case("correlate_6", [V, W], 'ms.numpy.correlate(a, b, "x")', raises=True),
    Case("correlate_7", [H], 'ms.numpy.correlate(a, a)', grad=False),
    Case("polyadd", [], 'ms.numpy.polyadd([1, 2], [3, 4, 5])'),
    Case("polyadd_2", [], 'ms.numpy.polyadd([1, 2], [3, 4])'),
    Case("polyadd_3", [], 'ms.numpy.polyadd(3, [1.0, 2])'),
    Case("polysub", [], 'ms.numpy.polysub([1, 2, 3], [3, 4])'),
    Case("polysub_2", [], 'ms.numpy.polysub([1], [3, 4])'),
    Case("polymul", [], 'ms.numpy.polymul([1, 2], [3, 4, 5])'),
    Case("polymul_2", [], 'ms.numpy.polymul(3, [1.0, 2])'),
    Case("polyval", [], 'ms.numpy.polyval([1, 2, 3], 2)'),
    Case("polyval_2", [F], 'ms.numpy.polyval([1.0, 2, 3], a)'),
    Case("polyval_3", [W], 'ms.numpy.polyval(a, Tensor([1.0, 2.0]))', grad=False),
    Case("polyder", [], 'ms.numpy.polyder([1, 2, 3])'),
    Case("polyder_2", [], 'ms.numpy.polyder([1.0, 2, 3], 2)'),
    Case("polyder_3", [], 'ms.numpy.polyder([1, 2, 3], 3)'),
    Case("polyder_4", [], 'ms.numpy.polyder([1, 2, 3], -1)', raises=True),
    Case("polyint", [], 'ms.numpy.polyint([1, 2, 3])'),
    Case("polyint_2", [], 'ms.numpy.polyint([1.0, 2], 2, [3, 4])'),
    Case("polyint_3", [], 'ms.numpy.polyint([1.0, 2], 2, 5)'),
    Case("polyint_4", [], 'ms.numpy.polyint([1.0, 2], 0)'),
    Case("polyint_5", [], 'ms.numpy.polyint([1.0, 2], -1)', raises=True),
    Case("polyadd_4", [F], 'ms.numpy.polyadd(a, [1])', raises=True),
]
