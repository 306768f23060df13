"""A layout within a program of stages, whose mesh is known only where the program is lowered."""

from __future__ import annotations

from typing import Any

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from mindjax_parallel.mesh import Placement

constraint_p = Primitive("mindjax_layout")
constraint_p.def_impl(lambda x, **_: x)
constraint_p.def_abstract_eval(lambda x, **_: x)


def constrained(array: Any, mesh: Mesh, placement: Placement) -> Any:
    """Lay a traced array out.

    Args:
        array: the array.
        mesh: all devices.
        placement: over those of one stage.
    """
    return laid(array, mesh, placement.sharding(mesh).spec)


def laid(array: Any, mesh: Mesh, spec: PartitionSpec) -> Any:
    """Lay a traced array out, by jax's own word for it.

    Args:
        array: the array.
        mesh: all devices.
        spec: over those of one stage.
    """
    return constraint_p.bind(array, mesh=mesh, spec=spec)


def manual(mesh: Mesh, axes: Any) -> Any:
    """Give a mesh as a program of one stage sees it.

    Args:
        mesh: all devices.
        axes: those that the program itself goes by.
    """
    kind = jax.sharding.AxisType.Manual
    return mesh.abstract_mesh.update_axis_types(dict.fromkeys(axes, kind))


def _lower(ctx: Any, x: Any, *, mesh: Mesh, spec: PartitionSpec) -> Any:
    # In the program of one stage the stages are no axis that XLA cuts arrays along.
    axes = getattr(ctx.module_context.axis_context, "manual_axes", frozenset())
    seen = manual(mesh, axes) if axes else mesh.abstract_mesh

    def lay(a: Any) -> Any:
        return jax.lax.with_sharding_constraint(a, NamedSharding(seen, spec))

    with jax.sharding.use_abstract_mesh(seen):
        return mlir.lower_fun(lay, multiple_results=False)(ctx, x)


mlir.register_lowering(constraint_p, _lower)
ad.deflinear2(constraint_p, lambda ct, _, **params: [constraint_p.bind(ct, **params)])
batching.defvectorized(constraint_p)
