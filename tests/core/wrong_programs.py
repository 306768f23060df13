"""Programs that are wrong in one line, marked where it is not the only one, and their errors."""

# Each is the program, the error's class, and words of its first line.
LINES: list[tuple[str, type[Exception], str]] = [
    ("x + ms.Tensor(np.ones((5, 5), np.float32))", ValueError, "For 'Add', the shapes need to"),
    ("x @ x", RuntimeError, "shape1[-1] must be equal to shape2[-2], but got 4 and 3"),
    ("ops.matmul(x, x)", RuntimeError, "For 'MatMulExt' op"),
    ("x.reshape(5, 5)", ValueError, "'[5, 5]' is invalid for input of size 12"),
    (
        "ops.concat((x, ms.Tensor(np.ones((2, 2), np.float32))))",
        ValueError,
        "[Concat] only support one axis different",
    ),
    ("ops.stack([x, x[0]])", ValueError, "For 'Stack', all input shape must be the same"),
    ("x[7]", IndexError, "index 7 is out of bounds for dimension with size 3"),
    ("x[0, 9]", IndexError, "index 9 is out of bounds for dimension with size 4"),
    ("x[0, 0, 0]", IndexError, "too many indices for tensor of dimension 2"),
    ("x['a']", IndexError, "Unsupported Python object type received: <class 'str'>"),
    ("x[1.5]", IndexError, "but got 1.5 with type <class 'float'>"),
    ("x[ms.Tensor([9])]", RuntimeError, "For 'Gather', the 'input_indices' should be in the"),
    ("x.sum(5)", ValueError, "[SumExt], the axis value must be in [-2,2), but got 5"),
    ("x.expand_dims(9)", ValueError, "in range of [-3, 3), but got 9"),
    ("x + 'text'", TypeError, "but got str"),
    ("x + None", TypeError, "but got None"),
    ("x * {}", TypeError, "For 'Mul', the input must be a Tensor or a number, but got dict"),
    ("ops.add(x, [1])", TypeError, "For 'Add', the operands must be Tensors or numbers"),
    ("ops.relu('a')", TypeError, "For 'ReLU', the 'input' must be a Tensor, but got str"),
    ("ops.softmax(x, 7)", ValueError, "[Softmax], the axis must be in [-2,2), but got 7"),
    ("nn.Dense(5, 2)(x)", ValueError, "For 'MatMul' the input dimensions must be equal"),
    ("nn.Conv2d(3, 4, 3)(x)", ValueError, "[Conv2D], the x shape size must be equal to 4"),
    (
        "nn.CrossEntropyLoss()(x, ms.Tensor([1.0, 2.0]))",
        TypeError,
        "the 'labels' should be Int32 or Int64, but got 'mindspore.float32'",
    ),
    ("nn.LayerNorm((5,))(x)", ValueError, "gamma or beta shape must match input shape"),
    ("int(x)", ValueError, "more than one element to int, shape (3, 4)"),
    ("bool(x)", ValueError, "more than one element is ambiguous"),
    ("len(x.sum())", TypeError, "Not support len of a 0-D tensor"),
    ("x.item()", ValueError, "must have one element when no index is given"),
    ("x.broadcast_to((5, 5))", ValueError, "For 'BroadcastTo'"),
    ("x.astype('nothing')", TypeError, "'nothing' is not a data type"),
    ("x.view(7)", ValueError, "'[7]' is invalid for input of size 12"),
    ("ops.gather(x, 1.5, 0)", TypeError, "[Gather], the input argument[indices]"),
    ("ops.split(x, 5, 3)", ValueError, "axis 3 is out of bounds for array of dimension 2"),
    ("ops.tile(x, 'a')", TypeError, "For 'Tile', the 'dims' must be a tuple or list of int"),
    ("ops.bmm(x, x)", ValueError, "For BatchMatMul, the row of the input 'y'"),
    ("ops.where(x, x, x[:2])", ValueError, "but got [3, 4] and [2, 4]"),
    ("ops.one_hot(x, 3)", TypeError, "[OneHot], the input argument[indices]"),
    ("ms.grad(lambda a: a @ a)(x)", RuntimeError, "For 'MatMulExt' op"),
    ("ms.Parameter(x, name=3)", ValueError, "name should be 'string' or 'None', but got int"),
    (
        "ops.assign(ms.Parameter(x, name='p'), ms.Tensor(np.ones((9, 9), np.float32)))",
        ValueError,
        "For 'Assign','value' must have the same shape as 'variable'",
    ),
    ("x.asnumpy(1)", TypeError, "takes 1 positional argument but 2 were given"),
]

BLOCKS: list[tuple[str, type[Exception], str]] = [
    (
        """
def f(a):
    b = a * 2
    return ops.matmul(b, b)  # here
ms.grad(f)(x)
""",
        RuntimeError,
        "For 'MatMulExt' op",
    ),
    (
        """
def f(a):
    b = a * 2
    return (b + b[:, :3]).sum()  # here
ms.value_and_grad(f)(x)
""",
        ValueError,
        "but got [3, 4] and [3, 3]",
    ),
    (
        """
def f(a):
    g = ms.grad(lambda b: (b ** 3).sum())(a)
    return (g @ g).sum()  # here
ms.grad(f)(x)
""",
        RuntimeError,
        "For 'MatMulExt' op",
    ),
    (
        """
class Net(nn.Cell):
    def construct(self, a):
        b = ops.tanh(a)
        return b.reshape(7, 2)  # here
Net()(x)
""",
        ValueError,
        "'[7, 2]' is invalid for input of size 12",
    ),
    (
        """
class Net(nn.Cell):
    def construct(self, a):
        return ops.concat((a, a[0]), 0)  # here
ms.grad(Net())(x)
""",
        ValueError,
        "[Concat] only support one axis different",
    ),
    (
        """
for i in range(6):
    y = x[i] * 2  # here
""",
        IndexError,
        "index 3 is out of bounds for dimension with size 3",
    ),
    (
        """
y = x * 1
for width in (4, 3):
    y = y * ops.ones((3, width))  # here
""",
        ValueError,
        "but got [3, 4] and [3, 3]",
    ),
    ("y = x + 0\ny[5] = 1.0  # here", IndexError, "Index 5 is out of bounds for axis 0"),
    ("y = x + 0\ny[0] = ops.ones(3)  # here", ValueError, "x_shape: (3,), target shape: (4,)"),
    ("y = x + 0\ny.add_(ops.ones((2, 2)))  # here", ValueError, "but got [3, 4] and [2, 2]"),
    (
        """
v = (x + 0)[1]
w = v.reshape(2, 2)
w @ x  # here
""",
        RuntimeError,
        "but got 2 and 3",
    ),
    (
        """
f = lambda a: ops.sin(a).sum()
ms.grad(f, 3)(x)  # here
""",
        RuntimeError,
        "'grad_position' 3 exceeds the number of arguments, 1",
    ),
    (
        """
y = x.sum(0)
z = y + 1
float(z)  # here
""",
        ValueError,
        "more than one element to float, shape (4,)",
    ),
    (
        """
y = [x, x * 2]
ops.stack(y, 5)  # here
""",
        ValueError,
        "[Stack], the axis value must be in [-3,3), but got 5",
    ),
    (
        """
opt = nn.SGD([ms.Parameter(x * 1, name='p')], 0.1)
opt((ops.ones((2, 2)),))  # here
""",
        RuntimeError,
        "For 'SGD', the gradient_shape must be equal to variable_shape which is (3, 4)",
    ),
    (
        """
with ms._no_grad():
    y = ops.softmax(x) @ ops.ones((3, 3))  # here
""",
        RuntimeError,
        "but got 4 and 3",
    ),
]
