"""Padding in every mode."""

from tests.ops.table import Case, lit

F = lit([[0.25, 1.5, 2.75], [3.5, 4.25, 5.5]])
K = lit([[0, 1, 2], [3, 4, 5]], "i32")
L = lit([0, 1, 2], "i64")

CASES = [
    Case("pad", [L], 'ms.numpy.pad(a, 1)'),
    Case("pad_2", [K], 'ms.numpy.pad(a, ((1, 0), (0, 2)), constant_values=5)'),
    Case("pad_3", [L], 'ms.numpy.pad(a, (1, 2), "edge")'),
    Case("pad_4", [L], 'ms.numpy.pad(a, (4, 5), "reflect")'),
    Case("pad_5", [L], 'ms.numpy.pad(a, (4, 5), "symmetric")'),
    Case("pad_6", [L], 'ms.numpy.pad(a, (4, 5), "reflect", reflect_type="odd")'),
    Case("pad_7", [L], 'ms.numpy.pad(a, (4, 5), "symmetric", reflect_type="odd")'),
    Case("pad_8", [L], 'ms.numpy.pad(a, (4, 5), "wrap")'),
    Case("pad_9", [F], 'ms.numpy.pad(a, ((1, 1), (2, 2)), "maximum", stat_length=1)'),
    Case("pad_10", [F], 'ms.numpy.pad(a, 1, "mean")', grad=False),
    Case("pad_11", [K], 'ms.numpy.pad(a, 1, "mean")'),
    Case("pad_12", [L], 'ms.numpy.pad(a, (2, 2), "linear_ramp", end_values=(4, -4))'),
    Case("pad_13", [L], 'ms.numpy.pad(a, (2, 2), "empty")'),
    Case("pad_14", [L], 'ms.numpy.pad(a, (2, 2), "median")', raises=True),
    Case("pad_15", [L], 'ms.numpy.pad(a, (2, 2), "foo")', raises=True),
    Case("pad_16", [], 'ms.numpy.pad([1, 2], (1, 2))'),
    Case("pad_17", [], 'ms.numpy.pad(Tensor(1), 1)'),
    Case("pad_18", [L], 'ms.numpy.pad(a, (2, 1), lambda v, w, ax, kw: v * 2)'),
]
