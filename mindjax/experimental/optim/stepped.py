"""The base of the optimizers here: each group makes a record, which updates each Parameter."""

from __future__ import annotations

from typing import Any, ClassVar

from mindjax import ops
from mindjax.core.dtype import int32
from mindjax.core.errors import located
from mindjax.nn.optim.gradients import decayed
from mindjax.nn.optim.grouped import Optimizer
from mindjax.nn.optim.step import one_program
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


def check_numbers(owner: str, above: dict[str, Any], at_least: dict[str, Any]) -> None:
    """Check that numbers are above zero, and that others are at least zero.

    Args:
        owner: the optimizer's name.
        above: numbers by argument.
        at_least: numbers by argument.

    Raises:
        TypeError: one is no number.
        ValueError: one is out of range.
    """
    for name, value in (above | at_least).items():
        if not isinstance(value, float | int | Tensor):
            raise located(
                TypeError,
                f"For {owner}, the {name} must be a number, but got {type(value).__name__}.",
            )
    for name, value in above.items():
        if value <= 0.0:
            raise located(
                ValueError, f"For {owner}, the {name} must be greater than 0.0, but got {value}."
            )
    for name, value in at_least.items():
        if value < 0.0:
            raise located(
                ValueError,
                f"For {owner}, the {name} must be greater than or equal to 0.0, but got {value}.",
            )


def turned(group: dict[str, Any], gradient: Any, parameter: Any) -> Any:
    """Give a gradient as its group wants it: turned to climb, with the weight's decay."""
    if group.get("maximize", False):
        gradient = ops.neg(gradient)
    decay = group["weight_decay"]
    return decayed(gradient, parameter, decay) if decay else gradient


class SteppedOptimizer(Optimizer):
    """Base of optimizers that count steps; ``states`` names what they keep of each Parameter."""

    states: ClassVar[tuple[str, ...]] = ()
    counter: ClassVar[str] = "step_t"

    def _count(self) -> None:
        setattr(self, self.counter, Parameter(Tensor(0, int32), self.counter))
        self.increase_tensor = Tensor(1, int32)

    @property
    def _step(self) -> Any:
        return getattr(self, self.counter)

    def update(self, group: dict[str, Any]) -> Any:
        """Give the function that updates one Parameter: of it, state, gradient, rate and step."""
        raise NotImplementedError

    @one_program
    def construct(self, gradients: Any) -> Any:
        """Write the new values of Parameters and their state.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            True.
        """
        self._check_gradients(gradients)
        ops.assign_add(self._step, self.increase_tensor)
        place = 0
        for group in self.param_groups:
            update = self.update(group)
            for parameter in group["params"]:
                state = [getattr(self, name)[place] for name in self.states]
                update(parameter, *state, gradients[place], group["lr"], self._step)
                place += 1
        return True
