"""Ops and Cells under a user's own jax transformations, with the user's 64-bit types off."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx

import mindjax as ms
from mindjax import Parameter, Tensor, interop, mint, nn, ops

F = np.linspace(0.1, 0.9, 12, dtype=np.float32).reshape(3, 4)
G = np.linspace(-1.2, 1.3, 12, dtype=np.float32).reshape(3, 4)
I = np.arange(12, dtype=np.int32).reshape(3, 4)  # noqa: E741 (beside F and G)
IMAGE = np.linspace(-1, 1, 2 * 3 * 6 * 6, dtype=np.float32).reshape(2, 3, 6, 6)
KERNEL = np.linspace(-1, 1, 4 * 3 * 3 * 3, dtype=np.float32).reshape(4, 3, 3, 3)
LABELS = np.array([1, 0, 3], np.int32)

# name, function, arrays; gradients are taken where the output and the first input are real.
OPS = [
    ("add", ops.add, (F, G)),
    ("sub", ops.sub, (F, G)),
    ("mul", ops.mul, (F, G)),
    ("div", ops.div, (F, G)),
    ("add a number", lambda x: ops.add(x, 2), (F,)),
    ("pow", ops.pow, (F, G)),
    ("floor_div", ops.floor_div, (G, F)),
    ("maximum", ops.maximum, (F, G)),
    ("minimum", ops.minimum, (F, G)),
    ("neg", ops.neg, (F,)),
    ("abs", ops.abs, (G,)),
    ("exp", ops.exp, (G,)),
    ("log", ops.log, (F,)),
    ("sqrt", ops.sqrt, (F,)),
    ("rsqrt", ops.rsqrt, (F,)),
    ("square", ops.square, (G,)),
    ("sin", ops.sin, (G,)),
    ("cos", ops.cos, (G,)),
    ("tanh", ops.tanh, (G,)),
    ("erf", ops.erf, (G,)),
    ("relu", ops.relu, (G,)),
    ("gelu", ops.gelu, (G,)),
    ("sigmoid", ops.sigmoid, (G,)),
    ("softmax", ops.softmax, (G,)),
    ("log_softmax", ops.log_softmax, (G,)),
    ("elu", ops.elu, (G,)),
    ("equal", ops.equal, (I, I)),
    ("greater", ops.greater, (F, G)),
    ("logical_and", ops.logical_and, (F > 0.5, G > 0)),
    ("where", lambda x, y: ops.where(x > y, x, y), (F, G)),
    ("sum", lambda x: ops.sum(x), (F,)),
    ("sum of ints", lambda x: ops.sum(x), (I,)),
    ("mean", lambda x: ops.mean(x, 1), (F,)),
    ("prod", lambda x: ops.prod(x, 1), (F,)),
    ("amax", lambda x: ops.amax(x, 1), (F,)),
    ("max with index", lambda x: ops.max(x, 1)[1], (F,)),
    ("argmax", lambda x: ops.argmax(x, 1), (F,)),
    ("argmin", lambda x: ops.argmin(x, 1), (F,)),
    ("cumsum", lambda x: ops.cumsum(x, 1), (F,)),
    ("std", lambda x: ops.std(x, 1), (F,)),
    ("topk", lambda x: ops.topk(x, 2)[0], (F,)),
    ("topk index", lambda x: ops.topk(x, 2)[1], (F,)),
    ("sort", lambda x: ops.sort(x)[0], (F,)),
    ("argsort", lambda x: ops.argsort(x), (F,)),
    ("reshape", lambda x: ops.reshape(x, (2, 6)), (F,)),
    ("transpose", lambda x: ops.transpose(x, (1, 0)), (F,)),
    ("concat", lambda x, y: ops.cat((x, y)), (F, G)),
    ("stack", lambda x, y: ops.stack((x, y)), (F, G)),
    ("split", lambda x: ops.split(x, 2, 1)[1], (F,)),
    ("tile", lambda x: ops.tile(x, (2, 1)), (F,)),
    ("broadcast_to", lambda x: ops.broadcast_to(x, (2, 3, 4)), (F,)),
    ("pad", lambda x: ops.pad(x, (1, 2)), (F,)),
    ("gather", lambda x, i: ops.gather(x, i, 1), (F, LABELS)),
    ("gather_elements", lambda x, i: ops.gather_elements(x, 1, i), (F, LABELS[:, None])),
    ("index_select", lambda x, i: ops.index_select(x, 1, i), (F, LABELS)),
    ("one_hot", lambda i: ops.one_hot(i, 4), (LABELS,)),
    ("tril", lambda x: ops.tril(x), (F,)),
    ("flip", lambda x: ops.flip(x, (1,)), (F,)),
    ("cast to int64", lambda x: ops.cast(x, ms.int64), (F,)),
    ("cast to float16", lambda x: ops.cast(x, ms.float16), (F,)),
    ("matmul", lambda x, y: ops.matmul(x, y.T), (F, G)),
    ("bmm", lambda x, y: ops.bmm(x[None], y.T[None]), (F, G)),
    ("layer_norm", lambda x: ops.layer_norm(x, (4,), jnp.ones(4), jnp.zeros(4)), (F,)),
    ("conv2d", lambda x, w: ops.conv2d(x, w), (IMAGE, KERNEL)),
    ("max_pool2d", lambda x: ops.max_pool2d(x, 2, 2), (IMAGE,)),
    ("avg_pool2d", lambda x: ops.avg_pool2d(x, 2, 2), (IMAGE,)),
    ("cross_entropy", lambda x, y: ops.cross_entropy(x, y), (F, LABELS)),
    ("mse_loss", lambda x, y: ops.mse_loss(x, y), (F, G)),
    ("mint.sum", lambda x: mint.sum(x, 1), (F,)),
    ("dropout with a seed", lambda x: ops.dropout(x, 0.5, True, 7), (F,)),
]
IDS = [name for name, _, _ in OPS]


def as_tensor_result(function, arrays):
    """Give the PYNATIVE result as numpy: the reference of value and dtype."""
    tensors = [Tensor(a) for a in arrays]

    def face(*args):
        return function(*args)

    try:
        return face(*tensors).asnumpy()
    except AttributeError:
        return np.asarray(face(*(jnp.asarray(a) for a in arrays)))


@pytest.mark.parametrize(("name", "function", "arrays"), OPS, ids=IDS)
def test_op_under_user_jit_grad_and_vmap(name, function, arrays):
    assert not jax.config.jax_enable_x64
    expected = as_tensor_result(function, arrays)
    raw = [jnp.asarray(a) for a in arrays]

    def arrays_only(*args):
        out = function(*args)
        return out.array if isinstance(out, Tensor) else out

    out = jax.jit(arrays_only)(*raw)
    assert out.dtype == expected.dtype
    np.testing.assert_allclose(np.asarray(out), expected, rtol=2e-5, atol=1e-6)
    if expected.dtype == np.float32 and raw[0].dtype == np.float32:

        def total(*args):
            return arrays_only(*args).sum()

        gradient = jax.grad(total)(*raw)
        assert gradient.dtype == np.float32
        reference = ms.grad(lambda *a: function(*a).sum())(*[Tensor(a) for a in arrays])
        np.testing.assert_allclose(np.asarray(gradient), reference.asnumpy(), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(
            np.asarray(jax.jit(jax.grad(total))(*raw)), np.asarray(gradient), rtol=1e-5, atol=1e-6
        )
    batched = [jnp.stack([a, a]) for a in raw]
    mapped = jax.vmap(arrays_only)(*batched)
    assert mapped.dtype == expected.dtype
    np.testing.assert_allclose(np.asarray(mapped)[1], np.asarray(out), rtol=2e-5, atol=1e-6)


def test_float64_under_user_jit_works_or_names_the_setting():
    x = Tensor(np.ones(3, np.float64))

    @jax.jit
    def f(y):
        return ops.add(x, y).array

    try:
        assert f(jnp.ones(3)).dtype == np.float64
    except Exception as error:
        assert "jax_enable_x64" in str(error)


def test_user_arrays_stay_float32_inside_construct(mode):
    seen = []

    class Net(nn.Cell):
        def construct(self, x):
            ones = jnp.ones(3)
            seen.append(ones.dtype)
            return x + Tensor(ones)

    out = Net()(Tensor(np.ones(3, np.float64)))
    assert out.dtype is ms.float64
    assert all(dtype == np.float32 for dtype in seen)
    assert jnp.ones(3).dtype == np.float32


def test_batch_norm_in_train_mode_under_user_jit_raises(mode):
    net = nn.BatchNorm2d(3).set_train()
    with pytest.raises(RuntimeError, match=r"'mean'.*interop\.functional"):
        jax.jit(lambda x: net(x))(jnp.asarray(IMAGE))
    net.set_train(False)
    assert jax.jit(lambda x: net(x))(jnp.asarray(IMAGE)).shape == IMAGE.shape


def test_batch_norm_as_mutable_functional():
    net = nn.BatchNorm2d(3).set_train()
    pure, params = interop.functional(net, mutable=True)
    out, new = jax.jit(pure)(params, jnp.asarray(IMAGE))
    np.testing.assert_allclose(net(Tensor(IMAGE)).asnumpy(), np.asarray(out), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(
        net.moving_mean.asnumpy(), np.asarray(new["mean"]), rtol=1e-5, atol=1e-6
    )


def test_cell_as_argument_sees_new_weights(mode):
    net = nn.Dense(4, 2)
    run = jax.jit(lambda cell, x: cell(x))
    for value in (0.0, 1.0, 2.0):
        net.weight.set_data(Tensor(np.full((2, 4), value, np.float32)))
        net.bias.set_data(Tensor(np.zeros(2, np.float32)))
        np.testing.assert_allclose(run(net, jnp.ones((1, 4))), np.full((1, 2), 4 * value))


def test_jax_grad_by_a_cell_equals_ms_grad(mode):
    net = nn.SequentialCell(nn.Dense(4, 3), nn.ReLU(), nn.Dense(3, 2))
    x = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)
    by_jax = jax.grad(lambda cell: (cell(jnp.asarray(x)) ** 2).sum())(net)
    by_ms = ms.grad(lambda t: (net(t) ** 2).sum(), None, net.trainable_params())(Tensor(x))
    for parameter, expected in zip(by_jax.get_parameters(), by_ms, strict=True):
        np.testing.assert_allclose(parameter.asnumpy(), expected.asnumpy(), rtol=1e-5, atol=1e-6)


def test_optax_on_a_cell():
    net = nn.Dense(4, 1)
    x, y = jnp.asarray(F), jnp.asarray(F.sum(1, keepdims=True))
    optimizer = optax.adam(0.05)
    state = optimizer.init(net)

    @jax.jit
    def step(net, state):
        loss, grads = jax.value_and_grad(lambda n: ((n(x) - y) ** 2).mean())(net)
        updates, state = optimizer.update(grads, state)
        return optax.apply_updates(net, updates), state, loss

    losses = []
    for _ in range(100):
        net, state, loss = step(net, state)
        losses.append(float(loss))
    assert losses[-1] < 0.05 * losses[0]


class Scaled(nn.Cell):
    """Has a backward of its own, ten and a hundred times the true one."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(np.array([2.0], np.float32), name="w")

    def construct(self, x):
        return x * self.w

    def bprop(self, x, out, dout):
        return (dout * 10,), {self.w: dout * 100}


def test_bprop_with_weights_inside_an_outer_value_and_grad(mode):
    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = Scaled()
            self.v = Parameter(np.array([3.0], np.float32), name="v")

        def construct(self, x):
            return self.inner(x * self.v)

    net = Outer()
    value, (dx, (dv, dw)) = ms.value_and_grad(net, 0, net.trainable_params())(Tensor([5.0]))
    assert [float(t.asnumpy()[0]) for t in (value, dx, dv, dw)] == [30.0, 30.0, 50.0, 100.0]
    gradient = jax.grad(lambda x: net(x).sum())(jnp.array([5.0]))
    np.testing.assert_allclose(gradient, [30.0])


class Mlp(nnx.Module):
    """A flax module with statistics and random state."""

    def __init__(self, rngs):
        self.first = nnx.Linear(4, 8, rngs=rngs)
        self.norm = nnx.BatchNorm(8, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)
        self.last = nnx.Linear(8, 2, rngs=rngs)

    def __call__(self, x):
        return self.last(self.drop(nnx.relu(self.norm(self.first(x)))))


def test_nnx_module_as_cell(mode):
    module = Mlp(nnx.Rngs(0))
    cell = interop.as_cell(module)
    cell.set_train(False)
    module.eval()
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_allclose(
        cell(Tensor(x)).asnumpy(), np.asarray(module(jnp.asarray(x))), rtol=1e-5, atol=1e-6
    )
    cell.set_train(True)
    first, second = cell(Tensor(x)).asnumpy(), cell(Tensor(x)).asnumpy()
    assert not np.array_equal(first, second)
    assert np.abs(cell.norm_mean.asnumpy()).max() > 0
    optimizer = interop.optimizer(optax.adam(0.01), cell.trainable_params())
    step = nn.TrainOneStepCell(nn.WithLossCell(cell, nn.MSELoss()), optimizer)
    losses = [float(step(Tensor(x), Tensor(x[:, :2])).asnumpy()) for _ in range(60)]
    assert np.mean(losses[-10:]) < np.mean(losses[:10])


def test_cell_as_nnx_module():
    net = nn.SequentialCell(nn.Dense(4, 3), nn.ReLU(), nn.Dense(3, 2))
    module = interop.as_nnx(net)
    np.testing.assert_allclose(module(jnp.asarray(F)), net(Tensor(F)).asnumpy(), rtol=1e-6)
    grads = nnx.grad(lambda m: module_loss(m))(module)
    expected = ms.grad(lambda x: (net(x) ** 2).mean(), None, net.trainable_params())(Tensor(F))
    found = {n.replace("__", "."): v[...] for n, v in grads.params.items()}
    for parameter, gradient in zip(net.trainable_params(), expected, strict=True):
        np.testing.assert_allclose(found[parameter.name], gradient.asnumpy(), rtol=1e-5, atol=1e-6)


def module_loss(module):
    return (module(jnp.asarray(F)) ** 2).mean()


@pytest.mark.parametrize("name", ["sgd", "adam", "adamw"])
def test_optax_transformation_as_optimizer(mode, name):
    transformation = getattr(optax, name)(0.01)
    net = nn.Dense(4, 2)
    params = [jnp.asarray(p.asnumpy()) for p in net.trainable_params()]
    state = transformation.init(params)
    optimizer = interop.optimizer(transformation, net.trainable_params())
    rng = np.random.default_rng(0)
    for _ in range(5):
        grads = [rng.normal(size=p.shape).astype(np.float32) for p in params]
        optimizer(tuple(Tensor(g) for g in grads))
        updates, state = transformation.update([jnp.asarray(g) for g in grads], state, params)
        params = optax.apply_updates(params, updates)
    for parameter, expected in zip(net.trainable_params(), params, strict=True):
        np.testing.assert_allclose(parameter.asnumpy(), np.asarray(expected), rtol=1e-5, atol=1e-6)


def test_optimizer_as_optax_transformation():
    net, twin = nn.Dense(4, 2), nn.Dense(4, 2)
    ms.load_param_into_net(twin, net.parameters_dict())
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    transformation = interop.as_optax(nn.Adam(twin.trainable_params(), 0.01))
    params = [jnp.asarray(p.asnumpy()) for p in twin.trainable_params()]
    state = transformation.init(params)
    rng = np.random.default_rng(0)
    for _ in range(5):
        grads = [rng.normal(size=p.shape).astype(np.float32) for p in params]
        optimizer(tuple(Tensor(g) for g in grads))
        updates, state = transformation.update([jnp.asarray(g) for g in grads], state, params)
        params = optax.apply_updates(params, updates)
    for parameter, found in zip(net.trainable_params(), params, strict=True):
        np.testing.assert_allclose(parameter.asnumpy(), np.asarray(found), rtol=1e-5, atol=1e-6)


def test_interop_transforms_take_either_kind(mode):
    net = nn.Dense(4, 2)
    for kind in (Tensor, jnp.asarray):
        x = kind(F)
        assert isinstance(interop.jit(lambda t: net(t))(x), type(x))
        assert isinstance(interop.vmap(lambda t: ops.sum(t))(x), type(x))
        assert isinstance(interop.grad(lambda t: ops.sum(ops.square(t)))(x), type(x))


def test_jax_function_as_op(mode):
    gelu = interop.as_op(jax.nn.gelu)
    out = gelu(Tensor(G))
    np.testing.assert_allclose(out.asnumpy(), np.asarray(jax.nn.gelu(jnp.asarray(G))), rtol=1e-6)
    gradient = ms.grad(lambda x: gelu(x).sum())(Tensor(G))
    expected = jax.grad(lambda x: jax.nn.gelu(x).sum())(jnp.asarray(G))
    np.testing.assert_allclose(gradient.asnumpy(), np.asarray(expected), rtol=1e-5, atol=1e-6)
