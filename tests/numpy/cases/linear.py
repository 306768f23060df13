"""Products and norms."""

from tests.ops.table import Case, f32, lit

F = lit([[0.25, 1.5, 2.75], [3.5, 4.25, 5.5]])
K = lit([[0, 1, 2], [3, 4, 5]], "i32")
D = lit([[0.25, 1.5, 2.75], [3.5, 4.25, 5.5]], "f64")
H = lit([1, 0.5, 2], "f16")
L = lit([0, 1, 2], "i64")
V = lit([1.0, 2.0, 4.0, 7.0])
X = f32(2, 3, 2)
W = lit([1.0, 2.0, 3.0])
S = lit([[1.0, 2.0], [3.0, 4.0]])

CASES = [
    Case("dot", [K], 'ms.numpy.dot(a, a.T)'),
    Case("dot_2", [F, H], 'ms.numpy.dot(a, b)', raises=True),
    Case("dot_3", [K, F], 'ms.numpy.dot(a, b.T)', raises=True),
    Case("inner", [K], 'ms.numpy.inner(a, a)'),
    Case("outer", [K, F], 'ms.numpy.outer(a, b)', raises=True),
    Case("kron", [K, F], 'ms.numpy.kron(a, b)'),
    Case("cross", [K], 'ms.numpy.cross(a, a)'),
    Case("cross_2", [L, F], 'ms.numpy.cross(a, b)'),
    Case("norm", [F], 'ms.numpy.norm(a)'),
    Case("norm_2", [V], 'ms.numpy.norm(a, 1)', grad=False),
    Case("norm_3", [V], 'ms.numpy.norm(a, float("inf"))', grad=False),
    Case("norm_4", [V], 'ms.numpy.norm(a, 0)', grad=False),
    Case("norm_5", [V], 'ms.numpy.norm(a, 3)', grad=False),
    Case("norm_6", [F], 'ms.numpy.norm(a, "fro")', grad=False),
    Case("norm_7", [F], 'ms.numpy.norm(a, "nuc")', raises=True),
    Case("norm_8", [F], 'ms.numpy.norm(a, 1)', grad=False),
    Case("norm_9", [F], 'ms.numpy.norm(a, -1)', grad=False),
    Case("norm_10", [F], 'ms.numpy.norm(a, float("inf"), keepdims=True)', grad=False),
    Case("norm_11", [F], 'ms.numpy.norm(a, 2)', raises=True),
    Case("norm_12", [F], 'ms.numpy.norm(a, 2, 0)', grad=False),
    Case("norm_13", [X], 'ms.numpy.norm(a)', grad=False),
    Case("norm_14", [X], 'ms.numpy.norm(a, axis=(0, 2))', grad=False),
    Case("norm_15", [X], 'ms.numpy.norm(a, 1, axis=(2, 0))', grad=False),
    Case("norm_16", [X], 'ms.numpy.norm(a, None, 1, True)', grad=False),
    Case("norm_17", [X], 'ms.numpy.norm(a, 1)', raises=True),
    Case("norm_18", [K], 'ms.numpy.norm(a)'),
    Case("norm_19", [], 'ms.numpy.norm([3, 4])'),
    Case("norm_20", [D], 'ms.numpy.norm(a)', grad=False),
    Case("norm_21", [V], 'ms.numpy.norm(a, "fro")', raises=True),
    Case("norm_22", [V], 'ms.numpy.norm(a, "x")', raises=True),
    Case("norm_23", [K], 'ms.numpy.norm(a, 1)'),
    Case("multi_dot", [F], 'ms.numpy.multi_dot((a, a.T, a))'),
    Case("multi_dot_2", [W, F], 'ms.numpy.multi_dot([a, b.T, Tensor([1.0, 2])])', grad=False),
    Case("multi_dot_3", [F], 'ms.numpy.multi_dot([a])', raises=True),
    Case("multi_dot_4", [F], 'ms.numpy.multi_dot([a, a])', raises=True),
    Case("multi_dot_5", [W], 'ms.numpy.multi_dot([a, a])', grad=False),
    Case("multi_dot_6", [S], 'ms.numpy.multi_dot([a, a, a, a])', grad=False),
    Case("matrix_power", [S], 'ms.numpy.matrix_power(a, 3)'),
    Case("matrix_power_2", [S], 'ms.numpy.matrix_power(a, 0)', grad=False),
    Case("matrix_power_3", [S], 'ms.numpy.matrix_power(a, -1)', raises=True),
    Case("matrix_power_4", [F], 'ms.numpy.matrix_power(a, 2)', raises=True),
    Case("matrix_power_5", [W], 'ms.numpy.matrix_power(a, 2)', raises=True),
    Case("cross_3", [W, S], 'ms.numpy.cross(a, b[0])', grad=False),
    Case("cross_4", [S], 'ms.numpy.cross(a, a[0])', grad=False),
    Case("cross_5", [S, W], 'ms.numpy.cross(a, b)', grad=False),
    Case("cross_6", [F], 'ms.numpy.cross(a, a, axisc=0)', grad=False),
    Case("cross_7", [F, W], 'ms.numpy.cross(a, b[:1])', raises=True),
    Case("cross_8", [F], 'ms.numpy.cross(a, a.T, axisb=0)', grad=False),
    Case("tensordot", [F, X], 'ms.numpy.tensordot(a, b, 1)', raises=True),
    Case("tensordot_2", [F, X], 'ms.numpy.tensordot(a, b, ((1,), (1,)))'),
    Case("tensordot_3", [], 'ms.numpy.tensordot(Tensor(2.0), Tensor(3.0), 0)'),
    Case("dot_4", [F, W], 'ms.numpy.dot(a, b)'),
    Case("dot_5", [W], 'ms.numpy.dot(a, a)', grad=False),
    Case("dot_6", [F], 'ms.numpy.dot(a, Tensor(2.0))', grad=False),
    Case("dot_7", [F, X], 'ms.numpy.dot(a, b.transpose(0, 1, 2))', grad=False),
    Case("dot_8", [F], 'ms.numpy.dot(a, a)', raises=True),
    Case("dot_9", [K], 'ms.numpy.dot(a, 2)', raises=True),
    Case("inner_2", [W, F], 'ms.numpy.inner(a, b)'),
    Case("inner_3", [F, S], 'ms.numpy.inner(a, b)', raises=True),
    Case("inner_4", [F], 'ms.numpy.inner(a, Tensor(2.0))', grad=False),
    Case("outer_2", [W], 'ms.numpy.outer([1, 2], a)', raises=True),
    Case("matmul", [F, W], 'ms.numpy.matmul(a, b)'),
    Case("matmul_2", [F], 'ms.numpy.matmul(a, a)', raises=True),
    Case("matmul_3", [K], 'ms.numpy.matmul(a, a.T, ms.float32)'),
    Case("matmul_4", [F], 'ms.numpy.matmul([1], a)', raises=True),
    Case("kron_2", [], 'ms.numpy.kron([1, 2], [[1, 1]])'),
    Case("kron_3", [], 'ms.numpy.kron(2, 3)'),
]
