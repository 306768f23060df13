"""The search for strategies of AUTO_PARALLEL: which Parameters are cut, and into how many parts.

Parameters of one role, such as the first matrix of every layer, are cut alike. A cut of one role
makes propagation cut those that fit it (the second matrix by rows where the first is cut by
columns), so the search is over roles, beginning with the largest. A plan that cuts nothing but the
batch is always among those that are compared.
"""

from __future__ import annotations

import dataclasses
import math
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax.sharding import Mesh

from mindjax_parallel.cost import Cost, Estimate, Machine
from mindjax_parallel.mesh import Placement, along

SECONDS = 15.0
"""How long a search may look for better plans."""
_LEAST_BYTES = 1 << 12
# The numbers of layers in names such as "layers.3.dense.weight".
_NUMBERS = re.compile(r"(?<![^.])[0-9]+(?![^.])")


@dataclasses.dataclass
class Plan:
    """One way to spread a program.

    Attributes:
        model: number of mesh axes, the last ones, that cut Parameters; the others cut batches.
        cuts: dimension that each role is cut along.
        cost: what it would cost.
        placements: of every input.
    """

    model: int
    cuts: dict[str, int]
    cost: Cost
    placements: list[Placement]


class Search:
    """Looks for the cheapest plan of a program.

    Args:
        function: the program on flat arrays.
        arrays: its inputs, or what has their shapes and dtypes.
        names: of the state that the first inputs are; None for what has no name.
        arguments: which inputs are batches.
        fixed: placements that are settled; None for the others.
        mesh: the devices; they need not be there.
        machine: what a device can do.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        arrays: Sequence[Any],
        names: Sequence[str | None],
        arguments: range,
        fixed: Sequence[Placement | None],
        mesh: Mesh,
        machine: Machine | None = None,
    ) -> None:
        self.mesh, self.machine = mesh, machine or Machine()
        self._names, self._fixed, self._arguments = names, list(fixed), arguments
        self._shapes = [tuple(np.shape(a)) for a in arrays]
        self._estimate = Estimate(function, arrays, range(len(names)), mesh)
        self.roles = self._roles(arrays)
        self.tried: list[Plan] = []

    def _roles(self, arrays: Sequence[Any]) -> dict[str, list[int]]:
        """Group weights by name without numbers, and shape; the largest first."""
        known = {name for name in self._names if name}
        roles: dict[str, list[int]] = {}
        size: dict[str, int] = {}
        for i, name in enumerate(self._names):
            shape = self._shapes[i]
            bytes_ = math.prod(shape) * np.dtype(arrays[i].dtype).itemsize
            if not name or self._fixed[i] is not None or bytes_ < _LEAST_BYTES:
                continue
            parts = name.split(".")
            if any(".".join(parts[j:]) in known for j in range(1, len(parts))):
                # The optimizer's state of a weight lies as the weight does.
                continue
            role = f"{_NUMBERS.sub('#', name)} {shape}"
            roles.setdefault(role, []).append(i)
            size[role] = size.get(role, 0) + bytes_
        return dict(sorted(roles.items(), key=lambda item: -size[item[0]]))

    def plan(self, model: int, cuts: dict[str, int]) -> Plan:
        """Work a plan out.

        Args:
            model: number of mesh axes that cut Parameters.
            cuts: dimension of each role that is cut.
        """
        axes = self.mesh.axis_names
        data, last = axes[: len(axes) - model], axes[len(axes) - model :]
        wanted = list(self._fixed)
        for i in self._arguments:
            if wanted[i] is None:
                wanted[i] = along(self.mesh, self._shapes[i], 0, data)
        for role, dimension in cuts.items():
            for i in self.roles[role]:
                wanted[i] = along(self.mesh, self._shapes[i], dimension, last)
        found = Plan(model, dict(cuts), *self._estimate.cost(wanted, self.machine))
        self.tried.append(found)
        return found

    def parts(self, plan: Plan) -> int:
        """Give into how many parts a plan cuts Parameters."""
        return self._size(plan.model) if plan.cuts else 1

    def seconds(self, plan: Plan) -> float:
        """Give the time of one run of a plan."""
        return plan.cost.seconds(self.machine)

    def best(self, limit: float = SECONDS) -> Plan:
        """Search, and give the cheapest plan that was found.

        Args:
            limit: seconds of the processor after which no further plan is tried: a plan does not
                depend on what else the machine does.
        """
        end = time.process_time() + limit
        count = len(self.mesh.axis_names)
        sizes = sorted(range(1, count + 1), key=lambda m: abs(self._size(m) - 4))
        best = self.plan(0, {})
        if not sizes:
            return best
        # What one would write by hand first, then what each cut is worth alone. Once it is known
        # what is worth cutting, only the number of parts is left open.
        seed = self._columns(sizes[0], end)
        best = self._of_sizes(min(best, seed, key=self.seconds), seed, sizes, end)
        found = self._greedy(best.model or sizes[0], end)
        if self.seconds(found) < self.seconds(best):
            best = self._of_sizes(found, found, sizes, end)
        return best

    def _of_sizes(self, best: Plan, cuts: Plan, sizes: Sequence[int], end: float) -> Plan:
        """Try a plan's cuts with other numbers of parts; give the cheapest, or the best so far."""
        for model in sizes:
            if time.process_time() > end or not cuts.cuts:
                break
            if model != cuts.model:
                best = min(best, self.plan(model, cuts.cuts), key=self.seconds)
        return best

    def _columns(self, model: int, end: float) -> Plan:
        """Cut by columns what follows from no other cut: matrices by turns, as Megatron does."""
        chosen = self.plan(model, {})
        for role, members in self.roles.items():
            if time.process_time() > end:
                break
            shape = self._shapes[members[0]]
            if any(chosen.placements[i].cut for i in members):
                continue
            fit = [d for d in reversed(range(len(shape))) if shape[d] % self._size(model) == 0]
            if fit and len(shape) > 1:
                chosen = self.plan(model, {**chosen.cuts, role: fit[0]})
        return chosen

    def _size(self, model: int) -> int:
        axes = self.mesh.axis_names
        return math.prod(self.mesh.shape[a] for a in axes[len(axes) - model :])

    def _greedy(self, model: int, end: float) -> Plan:
        """Cut one role after the other where that makes the program cheaper."""
        chosen = self.plan(model, {})
        for role, members in self.roles.items():
            if any(chosen.placements[i].cut for i in members):
                continue
            rank = len(self._shapes[members[0]])
            for dimension in reversed(range(rank)):
                if time.process_time() > end:
                    return chosen
                if self._shapes[members[0]][dimension] % self._size(model):
                    continue
                found = self.plan(model, {**chosen.cuts, role: dimension})
                chosen = min(chosen, found, key=self.seconds)
        return chosen
