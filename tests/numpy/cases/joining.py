"""Joining and cutting."""

from tests.ops.table import Case, f32, lit

F = lit([[0.25, 1.5, 2.75], [3.5, 4.25, 5.5]])
K = lit([[0, 1, 2], [3, 4, 5]], "i32")
B = lit([True, False, True], "bool")
E = f32(0, 3)
L = lit([0, 1, 2], "i64")
C = lit([3, 1, 3, 2, 1], "i32")
X = f32(2, 3, 2)

CASES = [
    Case("concatenate", [F, K], 'ms.numpy.concatenate((a, b))'),
    Case("concatenate_2", [F], 'ms.numpy.concatenate((a, a), None)', grad=False),
    Case("concatenate_3", [F], 'ms.numpy.concatenate((a, a), -1)', grad=False),
    Case("concatenate_4", [F], 'ms.numpy.concatenate([a, a], 1)', grad=False),
    Case("concatenate_5", [F], 'ms.numpy.concatenate(a, 0)', grad=False),
    Case("concatenate_6", [X], 'ms.numpy.concatenate(a, 1)', grad=False),
    Case("concatenate_7", [F, L], 'ms.numpy.concatenate((a, b))', raises=True),
    Case("concatenate_8", [F], 'ms.numpy.concatenate((a, a), 5)', raises=True),
    Case("concatenate_9", [], 'ms.numpy.concatenate(None)', raises=True),
    Case("append", [F, K], 'ms.numpy.append(a, b)'),
    Case("append_2", [F, K], 'ms.numpy.append(a, b, 0)', grad=False),
    Case("append_3", [F, L], 'ms.numpy.append(a, b, 0)', raises=True),
    Case("append_4", [F], 'ms.numpy.append(a, [1])', raises=True),
    Case("column_stack", [L], 'ms.numpy.column_stack((a, a))'),
    Case("column_stack_2", [K], 'ms.numpy.column_stack(a)'),
    Case("column_stack_3", [], 'ms.numpy.column_stack([])', raises=True),
    Case("column_stack_4", [], 'ms.numpy.column_stack(1)', raises=True),
    Case("vstack", [L], 'ms.numpy.vstack((a, a))'),
    Case("hstack", [L], 'ms.numpy.hstack((a, a))'),
    Case("hstack_2", [K], 'ms.numpy.hstack((a, a))'),
    Case("hstack_3", [], 'ms.numpy.hstack((Tensor(1), Tensor(2)))'),
    Case("dstack", [L], 'ms.numpy.dstack((a, a))'),
    Case("dstack_2", [K], 'ms.numpy.dstack([a, a])'),
    Case("stack", [L], 'ms.numpy.stack((a, a))'),
    Case("stack_2", [L], 'ms.numpy.stack((a, a), 1)'),
    Case("stack_3", [L], 'ms.numpy.stack((a, a), 5)'),
    Case("stack_4", [X], 'ms.numpy.stack(a, 1)'),
    Case("stack_5", [L, B], 'ms.numpy.stack((a, b))'),
    Case("stack_6", [L, F], 'ms.numpy.stack((a, b))', raises=True),
    Case("stack_7", [], 'ms.numpy.stack(1)', raises=True),
    Case("stack_8", [E], 'ms.numpy.stack((a, a))', grad=False),
    Case("split", [F], 'ms.numpy.split(a, 3, 1)'),
    Case("split_2", [F], 'ms.numpy.split(a, 2, 1)', raises=True),
    Case("split_3", [C], 'ms.numpy.split(a, [2, 3])'),
    Case("split_4", [C], 'ms.numpy.split(a, (-1,))'),
    Case("split_5", [C], 'ms.numpy.split(a, [2, 2])', raises=True),
    Case("split_6", [C], 'ms.numpy.split(a, 2.0)', raises=True),
    Case("split_7", [C], 'ms.numpy.split(a, 9)', raises=True),
    Case("split_8", [C], 'ms.numpy.split(a, 5, -1)'),
    Case("array_split", [C], 'ms.numpy.array_split(a, 2)'),
    Case("array_split_2", [C], 'ms.numpy.array_split(a, 3)'),
    Case("array_split_3", [C], 'ms.numpy.array_split(a, [1, 3])'),
    Case("vsplit", [F], 'ms.numpy.vsplit(a, 2)'),
    Case("hsplit", [F], 'ms.numpy.hsplit(a, 3)'),
    Case("dsplit", [X], 'ms.numpy.dsplit(a, 2)'),
    Case("hsplit_2", [C], 'ms.numpy.hsplit(a, 5)', raises=True),
]
