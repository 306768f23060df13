"""Runs programs of the table on the platform ascend and on cpu, in a process that has both.

Reads identifiers, one a line, and writes a JSON object for each: what differs, and what went to
the delegate.
"""

import json
import sys
import traceback

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from mindjax_ascend.compiler import compile as compiler

from tests.ascend.cases.programs import rows

TYPES = {
    "f": np.float32,
    "i": np.int32,
    "u": np.uint32,
    "b": np.bool_,
    "h": jnp.bfloat16,
    "e": np.float16,
    "d": np.float64,
    "l": np.int64,
    "c": np.complex64,
    "p": np.float32,
    "n": np.int8,
}
TOLERANCES = {"bfloat16": 2e-2, "float16": 4e-3, "float32": 2e-5, "float64": 1e-12}


def arrays(described):
    random = np.random.default_rng(7)
    made = []
    for text in described:
        kind, shape = text[0], tuple(int(d) for d in text[1:].split(",") if d)
        if kind in "fhed":
            array = random.standard_normal(shape)
        elif kind == "c":
            array = random.standard_normal(shape) + 1j * random.standard_normal(shape)
        elif kind == "p":
            array = random.random(shape) * 2 + 0.1
        elif kind == "b":
            array = random.random(shape) > 0.5
        elif kind == "u":
            array = random.integers(0, 2**32, shape)
        else:
            array = random.integers(-100, 100, shape)
        made.append(np.asarray(array).astype(TYPES[kind]))
    return made


def differs(ours, theirs):
    """Say how two results differ, None if they agree."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
        return f"{ours.dtype}{ours.shape} for {theirs.dtype}{theirs.shape}"
    tolerance = TOLERANCES.get(str(ours.dtype), 2e-5 if ours.dtype.kind == "c" else 0)
    if tolerance:
        a, b = (
            v.astype(np.complex128 if v.dtype.kind == "c" else np.float64) for v in (ours, theirs)
        )
        close = np.isclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
    else:
        close = ours == theirs
    return None if np.all(close) else f"{ours.ravel()[:5]} for {theirs.ravel()[:5]}"


def check(described, body):
    arguments = arrays(described)
    names = "xyz"[: len(arguments)]
    program = eval(f"lambda {', '.join(names)}: {body}", {"jax": jax, "jnp": jnp, "lax": lax})
    wide = any(text[0] in "dl" for text in described) or "float64" in body
    with jax.enable_x64(wide):
        results = []
        for platform in ("ascend", "cpu"):
            device = jax.devices(platform)[0]
            inputs = [jax.device_put(a, device) for a in arguments]
            results.append(jax.tree.leaves(jax.jit(lambda *a: program(*a))(*inputs)))
            if platform == "ascend":
                delegated = [r.delegated for r in compiler.compiled if r.delegated]
                for leaf in results[0]:
                    where = (
                        {d.platform for d in leaf.devices()} if hasattr(leaf, "devices") else set()
                    )
                    assert where <= {"ascend"}, where
        ours, theirs = results
        assert len(ours) == len(theirs)
        wrong = [w for a, b in zip(ours, theirs, strict=True) if (w := differs(a, b))]
    return wrong, delegated


def main():
    table = {name: (described, body) for name, described, body in rows()}
    for name in sys.stdin.read().split():
        compiler.compiled.clear()
        try:
            wrong, delegated = check(*table[name])
        except Exception:
            wrong, delegated = [traceback.format_exc(limit=-3)[-600:]], []
        print(json.dumps({"name": name, "wrong": wrong, "delegated": delegated}), flush=True)


if __name__ == "__main__":
    main()
