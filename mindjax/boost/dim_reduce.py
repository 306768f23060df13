"""Second-order steps in the main directions of the weights, first-order ones in the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax import ops
from mindjax.core.dtype import bool_, float32
from mindjax.graph.branch import run_if
from mindjax.nn.cell import Cell
from mindjax.tensor.parameter import Parameter, ParameterTuple
from mindjax.tensor.tensor import Tensor

_TRIES = 2
_EPSILON = 1e-20


class DimReduce(Cell):
    """Quasi-Newton steps (BFGS) in a few directions, found by a line search.

    With P the directions, g the gradient and B the estimate of the inverse Hessian there:
    d = -B P g; the first of the lengths rho^m for which the loss falls by sigma rho^m (P g)d is
    taken; the rest of the gradient is followed with momentum gamma and rate alpha.

    Args:
        network: gives the loss.
        optimizer: subtracts what it is given: SGD with rate 1.
        weight: the Parameters.
        pca_mat_local: the directions (k, number of weights); of this process, if there are several.
        n_components: number of directions of all processes.
        rho: factor of the lengths.
        gamma: momentum of the rest.
        alpha: rate of the rest.
        sigma: part of the expected fall of the loss that is asked for.
        rank: of this process.
        rank_size: number of processes.

    MindSpore: ``boost.DimReduce``.
    """

    def __init__(
        self,
        network: Cell,
        optimizer: Any,
        weight: Any,
        pca_mat_local: Any,
        n_components: int,
        rho: float,
        gamma: float,
        alpha: float,
        sigma: float,
        rank: int,
        rank_size: int,
    ) -> None:
        super().__init__()
        self.network, self.optimizer = network, optimizer
        self.gamma, self.alpha, self.sigma = gamma, alpha, sigma
        self.rank, self.rank_size, self.n_components = rank, rank_size, n_components
        self.lengths = [float(np.power(rho, i)) for i in range(_TRIES)]
        sizes = [int(np.prod(p.shape)) for p in weight]
        cuts = np.split(np.asarray(pca_mat_local), np.cumsum(sizes)[:-1], 1)
        self.directions = tuple(Tensor(cut, float32) for cut in cuts)
        own = n_components // rank_size
        self.own = slice(rank * own, (rank + 1) * own)
        column, square = np.zeros((n_components, 1)), np.eye(n_components)
        self.gk_last = Parameter(Tensor(column, float32), name="gk_last")
        self.gk_last_init = Parameter(Tensor(False, bool_), name="gk_last_init")
        self.bk = Parameter(Tensor(square, float32), name="bk")
        self.sk = Parameter(Tensor(column, float32), name="sk")
        self.grad_res_momentum = ParameterTuple(weight).clone("grad_res_momentum", "zeros")
        self.found = Parameter(Tensor(False, bool_), name="found")
        self.length = Parameter(Tensor(0.0, float32), name="length")
        if rank_size > 1:
            self.allreduce, self.allgather = ops.AllReduce(), ops.AllGather()

    def construct(
        self,
        loss: Any,
        old_grad: Any,
        loss_scale: Any,
        weight: Any,
        weight_clone: Any,
        *inputs: Any,
    ) -> Any:
        """Take a step and give the loss.

        Args:
            loss: of the batch.
            old_grad: its gradients.
            loss_scale: what they are divided by.
            weight: the Parameters, which are written.
            weight_clone: copies of them, which are written too.
            *inputs: the batch.
        """
        gradients = [ops.cast(g, float32) / loss_scale for g in old_grad]
        own = Tensor(np.zeros((1, 1)), float32)
        for place, gradient in zip(self.directions, gradients, strict=True):
            own = own + ops.matmul(place, gradient.reshape((-1, 1)))
        projected = own if self.rank_size == 1 else self.allgather(own).reshape((-1, 1))
        old_loss = loss if self.rank_size == 1 else self.allreduce(loss) / self.rank_size
        before = self.gk_last + 0, self.bk + 0
        direction = self._quasi_newton(projected)
        moved = self._back(direction[self.own], weight)
        ops.assign(self.found, Tensor(False, bool_))
        ops.assign(self.length, Tensor(0.0, float32))
        slope = (projected * direction).sum()
        for length in self.lengths:
            search = (length, slope, direction, moved, old_loss, weight, weight_clone, inputs)
            run_if(ops.logical_not(self.found), lambda s=search: self._try(*s))
        ops.assign(self.gk_last, ops.select(self.found, self.gk_last + 0, before[0]))
        ops.assign(self.bk, ops.select(self.found, self.bk + 0, before[1]))
        seen = self._back(own, weight)
        changes = []
        for m, g, s, d in zip(self.grad_res_momentum, old_grad, seen, moved, strict=True):
            ops.assign(m, self.gamma * m + g - s)
            changes.append(self.alpha * m - self.length * d)
        self.optimizer(tuple(changes))
        for copy, parameter in zip(weight_clone, weight, strict=True):
            ops.assign(copy, parameter + 0)
        return loss

    def _back(self, column: Any, weight: Any) -> list[Any]:
        """Bring coordinates back to the shapes of the weights."""
        found = [
            ops.matmul(p.T, column).reshape(w.shape)
            for p, w in zip(self.directions, weight, strict=True)
        ]
        return found if self.rank_size == 1 else [self.allreduce(f) for f in found]

    def _quasi_newton(self, gk: Any) -> Any:
        """Improve the estimate of the inverse Hessian and give the direction."""
        yk = gk - self.gk_last
        curve = (yk * self.sk).sum()
        good = ops.logical_and(self.gk_last_init, curve > _EPSILON)
        scale = 1.0 / ops.select(good, curve, ops.ones_like(curve))
        eye = Tensor(np.eye(self.n_components), float32)
        turn = eye - ops.matmul(scale * yk, self.sk.T)
        fresh = ops.matmul(ops.matmul(turn.T, self.bk), turn)
        fresh = fresh + ops.matmul(scale * self.sk, self.sk.T)
        ops.assign(self.bk, ops.select(good, fresh, self.bk + 0))
        ops.assign(self.gk_last_init, Tensor(True, bool_))
        ops.assign(self.gk_last, gk)
        return -1 * ops.matmul(self.bk, gk)

    def _try(
        self,
        length: float,
        slope: Any,
        direction: Any,
        moved: list[Any],
        old_loss: Any,
        weight: Any,
        weight_clone: Any,
        inputs: tuple[Any, ...],
    ) -> None:
        """Look at the loss after a step of a length; the weights stay."""
        self.optimizer(tuple(-length * d for d in moved))
        loss = self.network(*inputs)
        if self.rank_size > 1:
            loss = self.allreduce(loss) / self.rank_size
        falls = (old_loss + self.sigma * length * slope > loss).reshape(())
        ops.assign(self.sk, ops.select(falls, length * direction, self.sk + 0))
        ops.assign(self.length, ops.select(falls, Tensor(length, float32), self.length + 0))
        ops.assign(self.found, falls)
        for parameter, copy in zip(weight, weight_clone, strict=True):
            ops.assign(parameter, copy + 0)
