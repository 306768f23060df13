"""Programs that tests run in processes of their own: what they print is what is tested."""

NO_JAX = """
import sys
import mindjax.dataset as ds
import mindjax.dataset.vision, mindjax.dataset.transforms
list(ds.NumpySlicesDataset([1, 2]).batch(2).create_dict_iterator(num_epochs=1, output_numpy=True))
print(sorted(m for m in sys.modules if m in ("jax", "jaxlib", "PIL", "cv2", "mindjax.tensor")))
"""

# A script without __main__ guard, whose functions and data are lambdas and closures.
LAMBDAS = """
import os
import numpy as np
import mindjax.dataset as ds
offset = 10
lock_holder = (i for i in range(3))
source = ds.GeneratorDataset(
    [np.float32(i) for i in range(6)], "x", shuffle=False, num_parallel_workers=2)
here = os.getpid()
made = source.map(
    lambda x: (x + offset, np.array(os.getpid() != here), np.array(next(lock_holder, 9))),
    "x", ["x", "away", "own"], num_parallel_workers=2, python_multiprocessing=True)
print([[v.tolist() for v in row] for row in made.create_tuple_iterator(
    num_epochs=1, output_numpy=True)])
"""

TOUCHES_JAX = """
import numpy as np
import jax, jax.numpy as jnp
import mindjax.dataset as ds
compiled = jax.jit(lambda x: x * 2)
held = jnp.arange(3.0)
compiled(held), jnp.sin(held)
for body in (
    lambda x: jnp.sin(x),
    lambda x: held + 1,
    lambda x: compiled(held),
    lambda x: jnp.asarray(x) * 2,
    lambda x: jax.jit(lambda y: y + 1)(x),
    lambda x: jax.random.normal(jax.random.key(0), (2,)),
):
    def augment(x):
        return body(x)
    data = ds.NumpySlicesDataset(np.arange(4.0), shuffle=False).map(
        augment, num_parallel_workers=2, python_multiprocessing=True)
    try:
        list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
    except RuntimeError as error:
        print(error)
print(np.asarray(compiled(held)).tolist())
"""

INTERRUPTED = """
import os, signal, threading, time
import numpy as np
import mindjax.dataset as ds
data = ds.NumpySlicesDataset(np.arange(1000), shuffle=False).map(
    lambda x: (time.sleep(0.01), x)[1], num_parallel_workers=2, python_multiprocessing=True)
iterator = data.create_tuple_iterator(output_numpy=True)
next(iterator)
print(*[p.pid for pool in iterator._run._pools.values() for p in pool._processes], flush=True)
{ending}
"""
