"""The deferred engine: what is run, when, and what stays consistent."""

import gc
import os
import threading
import weakref

import jax
import numpy as np
import pytest

import mindjax as ms
from mindjax import communication, ops
from mindjax.core import caches, fused, jax_private, layouts, recording, running, trie
from mindjax.core.engine import engine
from mindjax.core.handle import current
from mindjax.core.pending import Pending
from mindjax.tensor.methods import arithmetic

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(autouse=True)
def deferred_engine():
    """Run the test with the deferred engine, every op known to it."""
    before, current.recording = engine(), None
    with ms.eager("deferred"):
        x = ms.Tensor(X)
        _ = ((x * x + x) / x - x, ops.exp(x), x * 2.0, x + 2.0, x.sum(), x.sum() * x)
        ms.runtime.synchronize()
        yield
    ms.eager(before)


def pending(tensor):
    return type(tensor._value) is Pending and tensor._value.value is None


def compiled():
    return caches.compilations().get("deferred", 0)


def chain(x, length=6):
    z = x
    for _ in range(length // 2):
        z = z * x + x
    return z


def plain(length=6):
    z = X
    for _ in range(length // 2):
        z = z * X + X
    return z


ASKS = {
    "asnumpy": lambda t: t.asnumpy(),
    "print": str,
    "repr": repr,
    "item": lambda t: t.sum().item(),
    "bool": lambda t: bool(t.sum() > 0),
    "float": lambda t: float(t.sum()),
    "int": lambda t: int(t.sum()),
    "tolist": lambda t: t.tolist(),
    "numpy": np.asarray,
    "jax": lambda t: t.__jax_array__(),
    "dlpack": lambda t: t.__dlpack__() if hasattr(t, "__dlpack__") else t.to_dlpack(),
    "pickle": lambda t: t.__reduce__(),
    "synchronize": lambda t: ms.runtime.synchronize(),
    "iteration": lambda t: [float(v) for v in t[0]],
    "the plain engine": lambda t: ms.eager("op_by_op"),
    "a compiled function": lambda t: ms.jit(lambda a: a + 1)(t),
}


@pytest.mark.parametrize("ask", ASKS)
def test_what_asks_for_values(ask):
    z = chain(ms.Tensor(X))
    assert pending(z)
    ASKS[ask](z)
    assert not pending(z)
    np.testing.assert_allclose(z.asnumpy(), plain(), 1e-6)


TELLS = {
    "shape": lambda t: t.shape == (2, 3),
    "dtype": lambda t: t.dtype is ms.float32,
    "len": lambda t: len(t) == 2,
    "size": lambda t: t.size == 6,
    "shape of a view": lambda t: t[0].shape == (3,),
}


@pytest.mark.parametrize("tell", TELLS)
def test_what_does_not(tell):
    ms.Tensor(X)[0].asnumpy()
    z = chain(ms.Tensor(X))
    assert TELLS[tell](z)
    assert pending(z)


def test_a_structure_is_compiled_when_it_is_met_again():
    before = compiled()
    for i in range(5):
        np.testing.assert_allclose(chain(ms.Tensor(X), 8).asnumpy(), plain(8), 1e-6)
        assert compiled() - before == min(i, 1)


def test_numbers_that_change_are_operands():
    before = compiled()
    x = ms.Tensor(X)
    for i in range(12):
        a = (x * 2.0 + float(i)).asnumpy()
        np.testing.assert_allclose(a, X * 2 + i, 1e-6)
        # It changes late: after it was taken for a constant.
        b = ((x + 2.0) * (1.0 if i < 6 else float(i))).asnumpy()
        np.testing.assert_allclose(b, (X + 2) * (1 if i < 6 else i), 1e-6)
    assert compiled() - before <= 4


def test_dead_results_are_not_computed():
    x = ms.Tensor(X)
    dead, alive = ops.exp(x), x * x + x
    record = current.recording
    del dead
    needed, _ = fused.uses(record.ops, set(record.live()))
    assert [op[0].record.name for op, n in zip(record.ops, needed, strict=True) if n] == [
        "Mul",
        "AddExt",
    ]
    np.testing.assert_allclose(alive.asnumpy(), X * X + X)


def test_nothing_alive_runs_nothing():
    x = ms.Tensor(X)
    chain(x)
    before = compiled()
    current.recording.flush()
    assert not current.recording.ops and compiled() == before


def test_fewer_readers_share_a_program():
    x, before = ms.Tensor(X), compiled()
    for i in range(6):
        y = x * x
        z = y + x
        if i % 2 and i > 2:
            del y
        np.testing.assert_allclose(z.asnumpy(), X * X + X)
    assert compiled() - before == 1


def test_an_interrupt_leaves_the_record_as_it_was(monkeypatch):
    x = ms.Tensor(X)
    z = chain(x)
    run = fused.run

    def interrupted(*args):
        monkeypatch.setattr(fused, "run", run)
        raise KeyboardInterrupt

    monkeypatch.setattr(fused, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        z.asnumpy()
    np.testing.assert_allclose(z.asnumpy(), plain(), 1e-6)
    np.testing.assert_allclose((z + x).asnumpy(), plain() + X, 1e-6)


def test_a_failed_op_fails_alone(monkeypatch):
    x = ms.Tensor(X)
    good, bad = x * x, ops.exp(x)
    worse = bad + x
    execute = running.execute

    def failing(found, *args):
        if found.record.name == "Exp":
            raise RuntimeError("out of memory")
        return execute(found, *args)

    monkeypatch.setattr(running, "execute", failing)
    monkeypatch.setattr(fused, "run", lambda *args: 1 / 0)
    monkeypatch.setattr(running, "quickly", lambda *args: 1 / 0)
    np.testing.assert_allclose(good.asnumpy(), X * X)
    for tensor in (bad, worse):
        with pytest.raises(RuntimeError, match="out of memory"):
            tensor.asnumpy()
    with pytest.raises(RuntimeError, match="out of memory"):
        (worse + x).asnumpy()
    monkeypatch.undo()
    np.testing.assert_allclose((good + x).asnumpy(), X * X + X)


def test_another_thread_reads():
    z, found = chain(ms.Tensor(X)), []
    thread = threading.Thread(target=lambda: found.append((z + z).asnumpy()))
    thread.start()
    thread.join()
    np.testing.assert_allclose(found[0], 2 * plain(), 1e-6)
    np.testing.assert_allclose(z.asnumpy(), plain(), 1e-6)


def test_many_threads():
    shared, errors = [ms.Tensor(X)], []

    def work(number):
        try:
            for i in range(60):
                z = chain(shared[-1] * 0.0 + ms.Tensor(X))
                shared.append(z)
                other = shared[(i * 7 + number) % len(shared)]
                np.testing.assert_allclose((other * 0.0 + z).asnumpy(), plain(), 1e-6)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "two threads wait for each other"
    assert not errors, errors[0]


@pytest.mark.filterwarnings("ignore")
def test_a_forked_worker_has_the_values():
    z = chain(ms.Tensor(X))
    read, write = os.pipe()
    child = os.fork()
    if not child:
        value = z._value
        good = type(value) is not Pending or value.value is not None
        os.write(write, b"y" if good and current.recording is None else b"n")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 1) == b"y"
    os.close(read)
    os.close(write)


def test_collectives_run_in_their_place():
    communication.init()
    try:
        z = chain(ms.Tensor(X))
        unread = ops.AllReduce()(z)
        assert not pending(z) and not pending(unread)
    finally:
        communication.release()


def test_memory_of_dead_arrays_is_used_again():
    x = ms.Tensor(np.ones((256, 256), np.float32))
    kept = x * 1.0
    for _ in range(8):
        pointer = x.data_ptr()
        x += 1.0
        x *= 2.0
        x.asnumpy()
        taken = x.data_ptr() == pointer
    assert taken
    y = x
    alias = y * 1.0
    alias.asnumpy()
    np.testing.assert_array_equal(kept.asnumpy(), np.ones((256, 256)))
    before = x.array
    x += 1.0
    x *= 2.0
    x.asnumpy()
    assert not before.is_deleted()
    assert float(x[0, 0]) == (float(alias[0, 0]) + 1) * 2


def test_long_records_are_run():
    x = ms.Tensor(X)
    z = x
    for _ in range(recording.MOST_OPS + 10):
        z = z + x
    assert len(current.recording.ops) <= recording.MOST_OPS
    np.testing.assert_allclose(z.asnumpy(), X * (recording.MOST_OPS + 11), 1e-5)


def test_large_arrays_do_not_wait(monkeypatch):
    monkeypatch.setattr(recording, "_MOST_BYTES", 1 << 20)
    current.recording.begin()
    z, kept = None, []
    for _ in range(40):
        x = ms.Tensor(np.ones((256, 256), np.float32))
        x.array  # noqa: B018
        kept.append(weakref.ref(x._value))
        z = x * x if z is None else z + x
    del x
    gc.collect()
    assert sum(k() is not None for k in kept) < 20
    assert z.asnumpy()[0, 0] == 40


def test_structures_that_never_come_back_are_not_compiled():
    x, before = ms.Tensor(X), compiled()
    for i in range(1, 40):
        z = x
        for k in range(12):
            z = z * x if (i >> (k % 6)) & 1 else z + x
        z.asnumpy()
    assert compiled() - before <= 2
    for name in ("deferred programs", "deferred structures met once"):
        entries, limit, *_ = caches.report()[name]
        assert entries <= limit


def test_ops_that_are_read_one_by_one_are_run_at_once():
    x = ms.Tensor(X)
    for _ in range(8):
        y = x + 2.0
        alone = not pending(y)
        np.testing.assert_allclose(y.asnumpy(), X + 2)
    assert alone
    many = [x * 2.0 for _ in range(6)]
    assert not pending(many[0]) and pending(many[-1])


def test_structures_that_never_come_back_are_soon_not_recorded():
    x, recorded = ms.Tensor(X), 0
    for i in range(200):
        z = x
        for k in range(8):
            z = z * x if (i >> k) & 1 else z + x
        recorded += pending(z)
        z.asnumpy()
    assert 8 <= recorded < 40


def test_a_first_step_unlike_all_others_delays_the_program_of_the_others_little():
    x = ms.Tensor(X)
    for i in range(running._STRANGE + 1):
        z = x
        for k in range(8):
            z = z - x if (i >> k) & 1 else z / x
        z.asnumpy()
    before = compiled()
    for _ in range(6):
        chain(x, 20).asnumpy()
    assert compiled() == before + 1
    np.testing.assert_allclose(chain(x, 20).asnumpy(), plain(20), rtol=1e-5)


def test_the_settings_of_the_plain_engine():
    for setting in ("pynative_synchronize", "check_nan"):
        ms.set_context(**{setting: True})
        assert engine() == "op_by_op"
        ms.set_context(**{setting: False})
        assert engine() == "deferred"
    with pytest.raises(ValueError, match="must be one of"):
        ms.eager("lazy")
    with pytest.raises(TypeError, match="must be bool"):
        ms.set_context(check_nan=1)


def test_nan_is_named_at_its_line():
    ms.set_context(check_nan=True)
    try:
        x = ms.Tensor([-1.0])
        with pytest.raises(RuntimeError, match=r"The result of 'Log'.*NaN.*test_deferred.py:\d+"):
            ops.log(x)
        with pytest.raises(RuntimeError, match=r"the gradient of 'Sqrt'.*NaN"):
            ms.grad(lambda a: (ops.sqrt(a) * 0.0).sum())(ms.Tensor([0.0]))
    finally:
        ms.set_context(check_nan=False)


def test_the_private_apis():
    assert type(ms.Tensor(X).array) is jax_private.ArrayImpl
    assert jax_private.untraced()
    import jax

    seen = []
    jax.make_jaxpr(lambda a: (seen.append(jax_private.untraced()), a)[1])(1.0)
    jax.vmap(lambda a: (seen.append(jax_private.untraced()), a)[1])(np.ones(2))
    assert seen == [False, False]


def test_a_trace_outside_reads_what_is_pending():
    import jax

    z = chain(ms.Tensor(X))
    out = jax.jit(lambda a: a + z.__jax_array__())(np.ones((2, 3), np.float32))
    np.testing.assert_allclose(out, plain() + 1, 1e-6)
    np.testing.assert_allclose(z.asnumpy(), plain(), 1e-6)


def test_ops_follow_the_trie():
    x = ms.Tensor(X)
    chain(x).asnumpy()
    before = trie._Size.steps
    chain(ms.Tensor(X + 1)).asnumpy()
    assert trie._Size.steps == before
    first = chain(x)
    # A trie that begins anew takes no record with it, and the programs are found again.
    trie.ROOT.next.clear()
    np.testing.assert_allclose((first + x).asnumpy(), plain() + X, 1e-6)
    met = compiled()
    np.testing.assert_allclose(chain(x).asnumpy(), plain(), 1e-6)
    assert compiled() - met <= 1


def test_the_table_of_layouts_is_bounded(monkeypatch):
    monkeypatch.setattr(layouts, "_known", dict.fromkeys(range((1 << 12) + 1)))
    monkeypatch.setattr(layouts, "_numbers", dict.fromkeys(range(9), 0))
    x = ms.Tensor(X)
    np.testing.assert_allclose(chain(x).asnumpy(), plain(), 1e-6)
    assert len(layouts._known) == len(layouts._numbers) == 1


def test_a_second_order_gradient_is_one_recorded_pass():
    x, w = ms.Tensor(X), ms.Parameter(ms.Tensor(X + 1), name="w")

    def penalty(a):
        return (ms.grad(lambda b: (b * b * w).sum())(a) * w).sum()

    gradient = ms.grad(penalty, None, w)
    for _ in range(4):
        found = gradient(x)
        names = [type(op[0].record).__name__ for op in current.recording.ops]
        np.testing.assert_allclose(found.asnumpy(), 4 * X * (X + 1), 1e-6)
    # The inner pass is walked, since it is differentiated; the outer one is one op.
    assert names.count("_BackwardPass") == 1


def test_what_comes_often_is_called_directly():
    if jax.device_count() > 1:
        pytest.skip("arrays may lie on several devices")
    with ms.eager("op_by_op"):
        for shape in ((3, 5), (5, 3)):
            x = ms.Tensor(np.full(shape, 2, np.float32))
            for _ in range(10):
                values = (x * x).asnumpy(), ops.concat((x, x)).asnumpy()
                np.testing.assert_array_equal(values[0], np.full(shape, 4))
                np.testing.assert_array_equal(values[1], np.full((2 * shape[0], shape[1]), 2))
        assert len(arithmetic._MUL._executable.direct) >= 2
        with jax.debug_nans(True), pytest.raises(FloatingPointError):
            nan = ms.Tensor(np.full((5, 3), np.nan, np.float32))
            _ = nan * nan
