"""Plans failures of the stand-in for CANN, one after another, and shows what Python sees of each.

Writes a JSON object a row, and at the end one of what the stand-in found wrong.
"""

# ruff: noqa: E731
import ctypes
import gc
import json

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from mindjax_ascend import jax_internals, library, plugin

from tests.ascend import run_operators

OUT_OF_MEMORY, LOST, FAILED, REFUSED = 207001, 507010, 500002, 161002
LEFT = ("tensors", "scalars", "arrays", "lists", "memory")
CODES = {OUT_OF_MEMORY: "RESOURCE_EXHAUSTED", LOST: "UNAVAILABLE", FAILED: "INTERNAL"}
OPERATORS = {
    "aclnnAdd": lambda x: x + x * 1,
    "aclnnSub": lambda x: x - x.T.T,
    "aclnnMul": lambda x: x * x,
    "aclnnDiv": lambda x: x / x,
    "aclnnMaximum": lambda x: jnp.maximum(x, jnp.abs(x)),
    "aclnnMinimum": lambda x: jnp.minimum(x, jnp.abs(x)),
    "aclnnExp": jnp.exp,
    "aclnnLog": lambda x: jnp.log(jnp.abs(x)),
    "aclnnNeg": lambda x: -x,
    "aclnnTanh": jnp.tanh,
    "aclnnSqrt": lambda x: jnp.sqrt(jnp.abs(x)),
    "aclnnRsqrt": lambda x: jax.lax.rsqrt(jnp.abs(x)),
    "aclnnAbs": jnp.abs,
    "aclnnMatmul": lambda x: x @ x,
    "aclnnExpm1": jnp.expm1,
    "aclnnLog1p": lambda x: jnp.log1p(jnp.abs(x)),
    "aclnnSin": jnp.sin,
    "aclnnCos": jnp.cos,
    "aclnnFloor": jnp.floor,
    "aclnnCeil": jnp.ceil,
    "aclnnPowTensorTensor": lambda x: jnp.abs(x) ** x,
    "aclnnBatchMatMul": lambda x: x.reshape(6, 2, 3) @ x.reshape(6, 3, 2),
}


def client_rows():
    """Failures while the client starts: entry, which call, code."""
    yield "aclInit", 0, FAILED
    yield "aclrtGetDeviceCount", 0, FAILED
    yield "aclrtSetDevice", 0, LOST
    yield "aclrtSetDevice", 1, LOST
    yield "aclrtGetMemInfo", 0, FAILED
    yield "aclrtCreateStream", 0, FAILED
    yield "aclrtCreateStream", 1, OUT_OF_MEMORY


def rows(programs, array, value):
    """Failures later: name, entry, which call, code, what is done."""
    put = lambda: jax.device_put(value, jax.devices()[0]).block_until_ready()
    add = lambda: np.asarray(programs["aclnnAdd"](array))
    read = lambda: np.asarray(jnp.array(array, copy=True))
    send = lambda: np.asarray(jax.device_put(array, jax.devices()[1]))
    for code in CODES:
        yield "put", "aclrtMalloc", 0, code, put
        yield "put", "aclrtMemcpy", 0, code, put
        yield "put", "aclrtSetDevice", 0, code, put
        yield "run", "aclrtMalloc", 0, code, add  # the output
        yield "run", "aclrtMalloc", 1, code, add  # the arena
        yield "run", "aclrtMalloc", -1, code, add
        yield "run", "aclrtSynchronizeStream", -1, code, add
        yield "read", "aclrtMemcpy", -1, code, read
        yield "send", "aclrtMemcpy", 0, code, send
        yield "send", "aclrtMemcpy", 1, code, send
    yield "tensor", "aclCreateTensor", 0, FAILED, add
    yield "tensor", "aclCreateTensor", 1, FAILED, add
    yield "tensor", "aclCreateTensor", 2, FAILED, add
    yield "scalar", "aclCreateScalar", 0, FAILED, add
    total = jax.jit(lambda x: x.sum(0))
    yield "axes", "aclCreateIntArray", 0, FAILED, lambda: np.asarray(total(array))
    for name, program in programs.items():
        work = lambda p=program: np.asarray(p(array))
        yield "sizes", f"{name}GetWorkspaceSize", 0, FAILED, work
        yield "launch", name, 0, LOST, work


def main():
    standin = run_operators.load()
    fail = lambda entry, nth, code: standin.standin_fail(
        entry.encode(), ctypes.c_int64(nth), ctypes.c_int32(code)
    )

    def attempt(name, entry, nth, code, work, well):
        # CANN's way to say that a tensor was not made is an empty pointer, without a code.
        code = FAILED if entry.startswith("aclCreate") else code
        fail(entry, nth, code)
        seen = "nothing"
        try:
            work()
        except Exception as error:
            seen = f"{type(error).__name__}: {error}"
        standin.standin_heal()
        after = well()
        row = {"name": f"{name} {entry} {nth} {code}", "seen": seen[:200], "after": after}
        print(json.dumps({**row, "code": CODES[code], "entry": entry}), flush=True)

    plugin.register()
    start = lambda: jax_internals.new_client(plugin.settings())

    def starts():
        client = start()
        return len(client.devices()) == 2

    for entry, nth, code in client_rows():
        attempt("start", entry, nth, code, start, starts)
        gc.collect()
    value = np.random.default_rng(0).standard_normal((6, 6)).astype("f")
    array = jax.device_put(value)
    programs = {n: jax.jit(f) for n, f in OPERATORS.items()}
    expected = {
        n: np.asarray(f(jax.device_put(value, jax.devices("cpu")[0]))) for n, f in OPERATORS.items()
    }
    right = all(np.allclose(programs[n](array), expected[n], atol=1e-5) for n in programs)
    both = Mesh(np.array(jax.devices()), ("x",))
    total = jax.jit(
        jax.shard_map(lambda a: jax.lax.psum(a @ a, "x"), mesh=both, in_specs=P("x"), out_specs=P())
    )
    halves = jax.device_put(np.concatenate([value, 2 * value]), NamedSharding(both, P("x")))
    right &= bool(np.allclose(total(halves), 5 * value @ value, atol=1e-4))
    del halves
    print(json.dumps({"right": right}), flush=True)
    for row in (*run_operators.operators(standin, "f"), *run_operators.kernels(standin)):
        print(json.dumps({"row": row}), flush=True)
    # What an operator does not take the host does.
    fail("aclnnTanhGetWorkspaceSize", -1, REFUSED)
    seen = np.asarray(programs["aclnnTanh"](array))
    standin.standin_heal()
    right = bool(np.allclose(seen, expected["aclnnTanh"], atol=1e-5))
    print(json.dumps({"refused": library.refused(), "right there": right}), flush=True)
    well = lambda: bool(np.allclose(programs["aclnnAdd"](array), expected["aclnnAdd"], atol=1e-5))
    for name, entry, nth, code, work in rows(programs, array, value):
        attempt(name, entry, nth, code, work, well)
    left = {k: standin.standin_left(k.encode()) for k in LEFT}
    print(json.dumps({"misuse": standin.standin_misuse().decode(), "left": left}))


if __name__ == "__main__":
    main()
