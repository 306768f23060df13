"""What jax does on the platform ascend beyond the values of programs: one function a check.

Arguments: names of checks; each prints its name when it has passed.
"""

# ruff: noqa: E731
import gc
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, SingleDeviceSharding
from jax.sharding import PartitionSpec as P
from mindjax_ascend import plugin
from mindjax_ascend.compiler import compile as compiler


def raises(function, *words):
    try:
        jax.block_until_ready(function())
    except Exception as error:
        assert all(w in str(error) for w in words), error
        return
    raise AssertionError("nothing was raised")


def donation():
    x = jnp.arange(6.0)
    y = jax.jit(lambda a: a + 1, donate_argnums=0)(x)
    assert x.is_deleted() and y.tolist() == [1, 2, 3, 4, 5, 6]
    raises(lambda: x + 1, "deleted")


def callbacks():
    twice = lambda a: np.asarray(a) * 2
    shape = jax.ShapeDtypeStruct((3,), np.float32)
    f = jax.jit(lambda a: jax.pure_callback(twice, shape, a + 1) + 1)
    assert f(jnp.arange(3.0)).tolist() == [3, 5, 7]
    seen = []
    g = jax.jit(lambda a: (jax.debug.callback(seen.append, a.sum()), a * 2)[1])
    g(jnp.arange(3.0)).block_until_ready()
    jax.effects_barrier()
    assert [float(s) for s in seen] == [3.0]
    from jax.experimental import io_callback

    h = jax.jit(
        lambda a: io_callback(
            lambda v: v + 1, jax.ShapeDtypeStruct((), np.float32), a, ordered=True
        )
    )
    assert float(h(jnp.float32(2))) == 3.0

    def fails(_):
        raise ValueError("no such value")

    raises(
        lambda: jax.jit(lambda a: jax.pure_callback(fails, shape, a))(jnp.arange(3.0)),
        "no such value",
    )
    assert not [c.delegated for c in compiler.compiled if c.delegated]


def memories():
    device = jax.devices()[0]
    assert [m.kind for m in device.addressable_memories()] == ["device", "pinned_host"]
    host = SingleDeviceSharding(device, memory_kind="pinned_host")
    x = jax.device_put(jnp.arange(4.0), host)
    assert x.sharding.memory_kind == "pinned_host" and float(x.sum()) == 6.0
    y = jax.device_put(x, SingleDeviceSharding(device, memory_kind="device"))
    assert y.tolist() == [0, 1, 2, 3]
    z = jax.jit(lambda a: a + 1, out_shardings=host)(y)
    assert z.sharding.memory_kind == "pinned_host" and z.tolist() == [1, 2, 3, 4]


def statistics():
    device = jax.devices()[0]
    gc.collect()
    before = device.memory_stats()
    x = jax.device_put(np.zeros(1 << 20, np.float32))
    during = device.memory_stats()
    assert during["bytes_in_use"] - before["bytes_in_use"] == 4 << 20
    assert during["num_allocs"] > before["num_allocs"]
    assert during["peak_bytes_in_use"] >= during["bytes_in_use"]
    del x
    gc.collect()
    assert device.memory_stats()["bytes_in_use"] == before["bytes_in_use"]


def limit():
    raises(lambda: jnp.zeros(64 << 20), "RESOURCE_EXHAUSTED", "out of memory")
    assert float(jnp.ones(4).sum()) == 4.0


def ahead():
    lowered = jax.jit(lambda a: a @ a + 1).lower(jnp.ones((8, 8)))
    compiled = lowered.compile()
    assert "HloModule" in compiled.as_text()
    assert compiled(jnp.ones((8, 8)))[0, 0] == 9.0
    stats = compiled.memory_analysis()
    assert stats.argument_size_in_bytes == stats.output_size_in_bytes == 256


def serialised():
    from jax.experimental import serialize_executable

    for f in (lambda a: jnp.tanh(a) @ a, lambda a: jnp.linalg.inv(a + 4 * jnp.eye(3))):
        x = jnp.arange(9.0).reshape(3, 3)
        compiled = jax.jit(f).lower(x).compile()
        data = serialize_executable.serialize(compiled)
        loaded = serialize_executable.deserialize_and_load(
            *data, execution_devices=jax.devices()[:1]
        )
        np.testing.assert_array_equal(loaded(x), compiled(x))


def exported():
    from jax import export

    f = export.export(jax.jit(lambda a: jnp.sin(a) * 2), platforms=["cpu"], disabled_checks=[])
    again = export.deserialize(f(jax.ShapeDtypeStruct((4,), np.float32)).serialize())
    assert again.platforms == ("cpu",)
    raises(lambda: again.call(jnp.ones(4)), "ascend")


def no_such_option():
    from mindjax_ascend import jax_internals

    assert jax.devices()
    raises(lambda: jax_internals.new_client({"speed": 3}), "INVALID_ARGUMENT", "'speed'")
    raises(lambda: jax_internals.new_client({"driver": "abc"}), "'sim' or 'acl', not 'abc'")


def versions():
    import importlib.metadata

    real = importlib.metadata.version
    importlib.metadata.version = lambda name: "0.9.1"
    try:
        raises(plugin.check_versions, "jax 0.10.2 to 0.12", "0.9.1", "pip install")
    finally:
        importlib.metadata.version = real


def four_devices():
    compiler.compiled.clear()
    devices = jax.devices()
    assert len(devices) == 4
    mesh = Mesh(np.array(devices), ("x",))
    random = np.random.default_rng(0)
    x = random.standard_normal((32, 16)).astype("f")
    w = random.standard_normal((16, 8)).astype("f")
    loss = lambda w, x: jnp.mean(jnp.tanh(x @ w) ** 2)
    step = jax.jit(lambda w, x: w - 0.1 * jax.grad(loss)(w, x))
    one = two = three = jnp.asarray(w)
    parts = jax.device_put(x, NamedSharding(mesh, P("x")))  # data parallel
    two = jax.device_put(w, NamedSharding(mesh, P()))
    three = jax.device_put(w, NamedSharding(mesh, P(None, "x")))  # tensor parallel
    whole = jax.device_put(x, NamedSharding(mesh, P()))
    for _ in range(5):
        one, two, three = step(one, x), step(two, parts), step(three, whole)
    np.testing.assert_allclose(two, one, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(three, one, rtol=1e-5, atol=1e-6)
    assert three.sharding.spec == P(None, "x")
    total = jax.jit(
        jax.shard_map(lambda a: jax.lax.psum(a, "x"), mesh=mesh, in_specs=P("x"), out_specs=P())
    )
    assert total(jnp.arange(4.0)).tolist() == [6.0]
    moved = jax.device_put(jnp.arange(3.0), devices[3])
    assert moved.devices() == {devices[3]}
    assert (moved + 1).devices() == {devices[3]}
    assert not [c.delegated for c in compiler.compiled if c.delegated]


def one_of_four_fails():
    """The devices that wait for one without memory end with it, and the next program runs."""
    mesh = Mesh(np.array(jax.devices()), ("x",))
    parts = jax.device_put(np.ones((4, 600_000), np.float32), NamedSharding(mesh, P("x")))
    total = jax.jit(
        jax.shard_map(
            lambda a: a + jax.lax.psum(jnp.tanh(a), "x"),
            mesh=mesh,
            in_specs=P("x"),
            out_specs=P("x"),
        )
    )
    expected = 1 + 4 * np.tanh(np.float32(1))
    np.testing.assert_allclose(total(parts)[:, 5], [expected] * 4, rtol=1e-6)
    gc.collect()
    free = 100_000_000 - jax.devices()[3].memory_stats()["bytes_in_use"]
    taken = jax.device_put(np.zeros((free - 4_000_000) // 4, np.float32), jax.devices()[3])
    raises(lambda: total(parts), "RESOURCE_EXHAUSTED", "out of memory")
    del taken
    np.testing.assert_allclose(total(parts)[:, 5], [expected] * 4, rtol=1e-6)


def kernels():
    """Handlers of custom calls run as steps, with their attributes and in place."""
    from mindjax_ascend.kernels import rms_norm

    random = np.random.default_rng(0)
    x, g = random.standard_normal((6, 64)).astype("f"), random.standard_normal(64).astype("f")
    compiler.compiled.clear()
    loss = lambda a, b: (rms_norm.rms_norm(a, b)[0] ** 3).sum()
    plain = lambda a, b: (
        (a * jax.lax.rsqrt((a * a).mean(-1, keepdims=True) + 1e-6) * b) ** 3
    ).sum()
    for ours, theirs in zip(
        jax.jit(jax.grad(loss, (0, 1)))(x, g), jax.grad(plain, (0, 1))(x, g), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=2e-4)
    steps = {op for c in compiler.compiled for op, kernel in c.operators if kernel == "foreign"}
    assert {"mindjax_rms_norm", "mindjax_rms_norm_grad"} <= steps, steps
    assert not [c.delegated for c in compiler.compiled if c.delegated]


def chains():
    """Results that another thread still computes are arguments at once."""
    f = jax.jit(lambda a: jnp.tanh(a @ a))
    x = np.random.default_rng(0).standard_normal((200, 200)).astype("f") / 15
    y, expected = jnp.asarray(x), x
    for _ in range(20):
        y = f(y)
        expected = np.tanh(expected @ expected)
    np.testing.assert_allclose(y, expected, atol=1e-4)
    assert plugin.executions()["steps"] >= 20


def apart():
    """A program is compiled again where its values were moved; values that lie apart are named."""
    import mindjax as ms

    devices = jax.devices()
    on = lambda i: ms.Tensor(jax.device_put(np.ones((2, 4), np.float32), devices[i]))
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        net = ms.nn.Dense(4, 4, bias_init="zeros", weight_init="ones")
        for tensor in (ms.Tensor(np.ones((2, 4), np.float32)), on(1), on(2)):
            assert net(tensor).asnumpy().tolist() == [[4.0] * 4] * 2
        for p in net.get_parameters():
            p.set_data(ms.Tensor(jax.device_put(p.asnumpy(), devices[1])))
        assert net(on(1)).asnumpy().tolist() == [[4.0] * 4] * 2
        for _ in range(2):
            raises(lambda net=net: net(on(2)).asnumpy(), "'Dense'", "different devices", "move_to")
        assert net(on(1)).asnumpy().tolist() == [[4.0] * 4] * 2


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
        print(name, flush=True)
