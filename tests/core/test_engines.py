"""Both engines of PYNATIVE give the same values, and the same errors at the same line."""

import textwrap
import traceback

import numpy as np
import pytest

import mindjax as ms
from mindjax import nn, ops
from mindjax.core.engine import engine
from tests.core.wrong_programs import BLOCKS, LINES


@pytest.fixture(autouse=True)
def the_engine_of_before():
    """Put the engine back."""
    before = engine()
    yield
    ms.eager(before)


X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)

PROGRAMS = {
    "chain": "out = (x * 2 + 1) / 3 - x",
    "reduction": "out = x.sum(0), x.mean(), x.max()",
    "dead results": "y = x * 7; y = None; out = x + 1",
    "several outputs": "a, b = ops.split(x, 2, 1); out = a, b, a @ b.T",
    "one of several outputs": "a, _ = ops.split(x, 2, 1); _ = None; out = a",
    "a sequence": "out = ops.concat((x, x + 1)), ops.stack([x, x])",
    "views": "y = x + 0; v = y[1]; v += 1; out = y, v",
    "a view of a view": "y = x + 0; v = y[1:][0]; y[1, 2] = 9; out = v, y",
    "writes": "y = x + 0; y[0] = 5; y[:, 1] = x[:, 0]; out = y",
    "a write in a loop": "y = ops.zeros(4)\nfor i in range(4): y[i] = x[0, i] * i\nout = y",
    "a mask": "y = x + 0; y[y > 0] = 0; out = y",
    "values ask": "y = x.sum()\nout = x + 1 if y > 0 else x - 1",
    "indices": "out = x[ms.Tensor([0, 2])], ops.gather(x, ms.Tensor([1]), 0)",
    "in place": "y = x + 0; y.add_(1); y.mul_(2); out = y",
    "a Parameter": "p = ms.Parameter(x + 0, name='p'); q = p * 2; p.set_data(x); out = p, q",
    "assign": (
        "p = ms.Parameter(x + 0, name='p')\nops.assign(p, x * 2); ops.assign_add(p, x); out = p"
    ),
    "dtypes": "out = x.astype(ms.float16) + 1, x.astype(ms.int32) * 2.5, x > 0",
    "wide": "y = ms.Tensor(x.asnumpy().astype(np.float64)); out = y * 2, ops.cast(x, ms.int64) + 1",
    "no elements": "out = x[:0] + 1",
    "random": "ms.set_seed(3); out = ops.rand(3), ops.dropout(x, 0.5), ops.rand(3)",
    "shapes that change": "out = [(x[:i] * 2).sum() for i in range(1, 4)]",
    "concrete ops": "out = ops.nonzero(x), ops.unique(x.astype(ms.int32))[0]",
    "numpy": "y = np.ones(4, np.float32); z = x + ms.Tensor(y); y[:] = 5; out = z",
    "raw numpy is read at once": "y = np.ones(4, np.float32); z = x * y; y[:] = 5; out = z",
    "batch norm": (
        "n = nn.BatchNorm1d(4); n.set_train(); z = n(x); n(x + 1)\nout = z, n.moving_mean"
    ),
    "gradient": "out = ms.grad(lambda a: (a * a).sum())(x)",
    "value and gradient": "out = ms.value_and_grad(lambda a: ops.tanh(a).sum())(x)",
    "second order": "out = ms.grad(ms.grad(lambda a: (a ** 3).sum()))(x)",
    "a print inside": "out = ms.grad(lambda a: (float(a.sum()) * a * a).sum())(x)",
    "a tensor hook": textwrap.dedent("""
        def f(a):
            b = a * 3
            b.register_hook(lambda g: g * 2)
            return (b * b).sum()
        out = ms.grad(f)(x)
    """),
    "a cell hook": textwrap.dedent("""
        seen = []
        net = nn.Dense(4, 2, weight_init='ones')
        net.register_backward_hook(lambda c, i, o: seen.append(o[0] * 1))
        out = ms.grad(net)(x), seen
    """),
    "bprop": textwrap.dedent("""
        class Net(nn.Cell):
            def construct(self, a):
                return a * 2
            def bprop(self, a, out, dout):
                return (dout * a + out,)
        out = ms.grad(Net())(x)
    """),
    "recompute": textwrap.dedent("""
        net = nn.SequentialCell(nn.Dense(4, 4, weight_init='ones'), nn.Tanh())
        net.recompute()
        out = ms.grad(lambda a: net(a).sum())(x)
    """),
    "saved tensors": textwrap.dedent("""
        kept = []
        with ms.saved_tensors_hooks(lambda t: kept.append(t * 1) or t, lambda t: t):
            g = ms.grad(lambda a: ops.exp(a).sum())(x)
        out = g, len(kept) > 0
    """),
    "a compiled function inside": textwrap.dedent("""
        @ms.jit
        def f(a):
            return a * 2 + 1
        out = f(x + 1) * 3, ms.grad(lambda a: (f(a) * a).sum())(x)
    """),
    "dispatch mode": textwrap.dedent("""
        names = []
        class Mode(ms.MsDispatchMode):
            def __ms_dispatch__(self, func, args, kwargs=None):
                names.append(func.name)
                return func(*args)
        with Mode():
            y = x * 2 + 1
        out = y, len(names)
    """),
    "training": textwrap.dedent("""
        ms.set_seed(1)
        net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 2))
        opt = nn.Momentum(net.trainable_params(), 0.1, 0.9)
        step = ms.value_and_grad(lambda a: (net(a) ** 2).mean(), None, opt.parameters)
        losses = []
        for _ in range(4):
            loss, grads = step(x)
            opt(grads)
            losses.append(loss)
        out = losses
    """),
    "an optimizer of the user's": textwrap.dedent("""
        p = ms.Parameter(x + 0, name='p')
        for _ in range(4):
            g = ms.grad(lambda: (p * p).sum(), None, p)()
            ops.assign_sub(p, g * 0.1)
        out = p
    """),
    "vmap": "out = ops.vmap(lambda a: (a * a).sum())(x + 1)",
    "vmap with a shared input": "out = ops.vmap(lambda a, b: a * b + a.sum(), (0, None))(x, x[0])",
    "vmap of a gradient": "out = ops.vmap(ms.grad(lambda a: (a ** 2).sum()))(x + 1)",
    "gradient of a vmap": "out = ms.grad(lambda a: ops.vmap(lambda r: (r * r).sum())(a).sum())(x)",
    "vmap between recorded ops": "y = x * 2; z = ops.vmap(lambda a: a + y[0])(y); out = z * 2, y",
    "numbers of every kind": (
        "i = x.astype(ms.int32)\n"
        "out = x * 2, 2 / (x + 3), x * -0.0, 1 / (x * 0.0 + 0.0), x * True, i + 1.5, i * 2, 3 - i"
    ),
    "a slice that moves": "out = [x[i : i + 1] * i for i in range(3)], x[-1], x[::2], x[True]",
    "an optimizer's step is recorded": textwrap.dedent("""
        p, q = (ms.Parameter(x + i, name=f'p{i}') for i in range(2))
        opts = [nn.Momentum([p, q], 0.1, 0.9), nn.Adam([p, q], 0.01), nn.SGD([q, p], 0.1)]
        step = ms.value_and_grad(lambda: (p * q).sum(), None, [p, q])
        losses = []
        for i in range(12):
            loss, (g, h) = step()
            if i % 3 == 2:
                g, h = h, g * 2
            opts[i % 3]((g, h))
            if i % 4 == 1:
                loss = ms.Tensor(float(loss))
            losses.append(loss)
            if i == 6:
                p.set_data(q * 2)
        out = losses, p, q, opts[0].moments[0], opts[1].global_step
    """),
    "a compiled function on what waits": textwrap.dedent("""
        p = ms.Parameter(x[0] + 0, name='p')
        @ms.jit
        def f(a):
            ops.assign_add(p, a)
            return a * p, a.sum()
        for _ in range(3):
            y, z = f(x[1] * 2)
            w = f(y + 1)[0] - p
        out = y, z, w, p
    """),
    "jvp": "out = ms.jvp(lambda a: ops.sin(a), x * 1, ops.ones_like(x))",
    "to float": textwrap.dedent("""
        net = nn.Dense(4, 2, weight_init='ones').to_float(ms.float16)
        out = net(x), ms.grad(lambda a: net(a).sum())(x)
    """),
    "deep copy": "import copy; y = x + 1; z = copy.deepcopy(y); y += 1; out = y, z",
    "tensor of a tensor": "y = x + 1; z = ms.Tensor(y); y += 1; out = z, y",
    "division by a number": (
        "out = [(1 - ms.Tensor(np.float32(n)) / float(n)) ** 0.5 for n in range(1, 50)]"
    ),
    "bits": "out = (x + 1).asnumpy().tobytes() == (x + 1).asnumpy().tobytes()",
}


def run(program, engine_name, times=1):
    """Run a program and give what it leaves in ``out``, as numpy."""
    for _ in range(times):
        with ms.eager(engine_name):
            ms.set_seed(2)
            names = {"ms": ms, "nn": nn, "ops": ops, "np": np, "x": ms.Tensor(X)}
            exec(compile(program, "program.py", "exec"), names)
            out = values(names["out"])
    return out


def values(out):
    if isinstance(out, ms.Tensor):
        return out.asnumpy()
    return [values(o) for o in out] if isinstance(out, tuple | list) else out


def same(a, b):
    if isinstance(a, list):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            same(one, other)
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, 2e-5, 2e-6)
    else:
        assert a == b


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name):
    plain = run(PROGRAMS[name], "op_by_op")
    # The fourth time every op is known, and its structure compiled.
    same(plain, run(PROGRAMS[name], "deferred", times=4))


def failure(program, engine_name):
    """Give an error's class, its first line, which names the user's, and the line it came from."""
    with ms.eager(engine_name), pytest.raises(Exception) as caught:
        exec(
            compile(program, "program.py", "exec"),
            {"ms": ms, "nn": nn, "ops": ops, "np": np, "x": ms.Tensor(X)},
        )
    frames = traceback.extract_tb(caught.value.__traceback__)
    places = [f.lineno for f in frames if f.filename == "program.py"]
    return type(caught.value), str(caught.value).splitlines()[0], places[-1]


WRONG = LINES + BLOCKS


@pytest.mark.parametrize(
    ("program", "kind", "words"), WRONG, ids=[p.strip().replace("\n", "; ") for p, *_ in WRONG]
)
def test_wrong_programs_name_the_same_line(program, kind, words):
    """Errors of either engine come at once: recorded ops wait before the line."""
    program = f"x = x * 1 + 1\nx = x - 1\n{program.lstrip()}\n"
    (line,) = [n for n, text in enumerate(program.splitlines(), 1) if "# here" in text] or [3]
    plain = failure(program, "op_by_op")
    assert plain[0] is kind and words in plain[1] and plain[2] == line
    # Python's own complaint of an argument list names no line.
    assert plain[1].endswith(f"[program.py:{line}]") or "positional argument" in plain[1]
    # The second time the ops before the line are known and wait.
    for _ in range(2):
        assert failure(program, "deferred") == plain
