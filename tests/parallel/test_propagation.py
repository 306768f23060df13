"""What is asked of Shardy and of MLIR's bindings, which are no public interface of jax."""

import jax
import numpy as np
import pytest
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec

from mindjax_parallel.cost import Estimate, Machine
from mindjax_parallel.mesh import Placement, arrange, prime_factors
from mindjax_parallel.sharded_module import propagated

MESH = AbstractMesh((2, 2, 2), ("d0", "d1", "d2"))


def struct(shape, *spec):
    """Give a float array's shape, with a sharding if there is a spec."""
    sharding = NamedSharding(MESH, PartitionSpec(*spec)) if spec else None
    return jax.ShapeDtypeStruct(shape, np.float32, sharding=sharding)


def products(x, first, second):
    """Two products, one after the other."""
    return jax.nn.relu(x @ first) @ second


def test_a_cut_reaches_what_fits_it():
    arrays = struct((8, 16), ("d0",), None), struct((16, 32), None, ("d1", "d2")), struct((32, 4))
    lowered = jax.jit(products).trace(*arrays).lower(lowering_platforms=("cpu",))
    inputs, outputs = propagated(lowered)
    assert inputs == [(("d0",), ()), ((), ("d1", "d2")), (("d1", "d2"), ())]
    assert outputs == [(("d0",), ())]


# Placements of the three inputs; flops of a device; bytes that it sends for the one sum.
COSTS = [
    ([((), ()), ((), ()), ((), ())], 2 * 8 * 16 * 32 + 2 * 8 * 32 * 4, 0),
    ([(("d0", "d1", "d2"), ()), None, None], (2 * 8 * 16 * 32 + 2 * 8 * 32 * 4) / 8, 0),
    (
        [((), ()), ((), ("d1", "d2")), None],
        (2 * 8 * 16 * 32 + 2 * 8 * 32 * 4) / 4,
        2 * 3 / 4 * 8 * 4 * 4,
    ),
]


@pytest.mark.parametrize(("placements", "flops", "sent"), COSTS)
def test_cost(placements, flops, sent):
    arrays = [struct((8, 16)), struct((16, 32)), struct((32, 4))]
    estimate = Estimate(lambda *a: [products(*a)], arrays, [1, 2], MESH)
    placed = [None if p is None else Placement(p) for p in placements]
    cost, _ = estimate.cost(placed, Machine(flops=1.0, bandwidth=1.0))
    assert cost.compute == flops
    assert cost.transfer == sent


@pytest.mark.parametrize(
    ("number", "factors"), [(1, ()), (2, (2,)), (8, (2, 2, 2)), (12, (2, 2, 3)), (97, (97,))]
)
def test_prime_factors(number, factors):
    assert prime_factors(number) == factors


def test_arrangements_are_made_of_the_mesh():
    mesh = AbstractMesh((2, 2, 3), ("d0", "d1", "d2"))
    assert arrange(mesh, (4, 3), "x") == (("d0", "d1"), ("d2",))
    assert arrange(mesh, (3, 2), "x") == (("d2",), ("d0",))
    assert arrange(mesh, (6, 1), "x") == (("d0", "d2"), ())
    with pytest.raises(RuntimeError, match="does not fit 12 devices"):
        arrange(mesh, (5,), "x")
