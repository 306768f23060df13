"""Small programs about function transforms; they join the table of `tests.autodiff.programs`."""

from __future__ import annotations

from typing import Any

from tests.autodiff.programs import Parameter, ParameterTuple, Tensor, ms, nn, ops, program, t


class Scaled(nn.Cell):
    """A weighted input and an addend."""

    def __init__(self) -> None:
        super().__init__()
        self.w = Parameter(t([2.0, 3.0]), name="w")

    def construct(self, x: Any, y: Any) -> Any:
        """Give ``w * x + y``."""
        return x * self.w + y


class TwoOutputs(nn.Cell):
    """Two outputs of two inputs."""

    def construct(self, x: Any, y: Any) -> Any:
        """Give ``x**2 + y`` and ``x * y``."""
        return x**2 + y, x * y


def cube(x: Any) -> Any:
    """Give ``x**3``."""
    return x**3


def square_sum(x: Any) -> Any:
    """Give the sum of squares."""
    return (x**2).sum()


def cube_sum(x: Any) -> Any:
    """Give the sum of cubes."""
    return (x**3).sum()


def sine(x: Any) -> Any:
    """Give the sine."""
    return ops.sin(x)


def sine_and_exp(x: Any) -> Any:
    """Give the sine and the exponential."""
    return ops.sin(x), ops.exp(x)


def product(x: Any, y: Any) -> Any:
    """Give the product."""
    return x * y


def square_and_itself(x: Any) -> Any:
    """Give the square and the input."""
    return x**2, x


def gradient_of_cubes(x: Any) -> Any:
    """Give the gradient of the sum of cubes."""
    return ms.grad(cube_sum)(x)


def x22() -> Any:
    """Make a matrix."""
    return t([[1.0, 2.0], [3.0, 4.0]])


def y22() -> Any:
    """Make another matrix."""
    return t([[1.0, 2.0], [3.0, 5.0]])


def ones22() -> Any:
    """Make a matrix of ones."""
    return t([[1.0, 1.0], [1.0, 1.0]])


def z2() -> Any:
    """Make a vector."""
    return t([1.0, 2.0])


# -- jvp, vjp, linearize --


@program
def jvp_single() -> Any:
    return ms.jvp(cube, x22(), ones22())


@program
def jvp_two_outputs() -> Any:
    return ms.jvp(TwoOutputs(), (x22(), y22()), (ones22(), ones22()))


@program
def jvp_aux() -> Any:
    return ms.jvp(TwoOutputs(), (x22(), y22()), (ones22(), ones22()), has_aux=True)


@program
def jvp_parameter() -> Any:
    return ms.jvp(Scaled(), (x22(), y22()), (ones22(), ones22()))


@program
def jvp_number() -> Any:
    return ms.jvp(cube, 3, ones22())


@program
def jvp_too_many_vectors() -> Any:
    return ms.jvp(cube, (x22(),), (ones22(), ones22()))


@program
def jvp_small_vector() -> Any:
    return ms.jvp(cube, x22(), z2())


@program
def vjp_single() -> Any:
    out, pull = ms.vjp(cube, x22())
    return out, pull(ones22())


@program
def vjp_two_outputs() -> Any:
    out, pull = ms.vjp(TwoOutputs(), x22(), y22())
    return out, pull(ones22(), ones22())


@program
def vjp_tuple_of_vectors() -> Any:
    out, pull = ms.vjp(TwoOutputs(), x22(), y22())
    return out, pull((ones22(), ones22()))


@program
def vjp_aux() -> Any:
    out, pull, aux = ms.vjp(TwoOutputs(), x22(), y22(), has_aux=True)
    return out, aux, pull(ones22())


@program
def vjp_weights() -> Any:
    net = Scaled()
    out, pull = ms.vjp(net, x22(), y22(), weights=ParameterTuple(net.trainable_params()))
    return out, pull(ones22())


@program
def vjp_number() -> Any:
    return ms.vjp(cube, 3)


@program
def linearize_two_outputs() -> Any:
    out, push = ops.functional.linearize(TwoOutputs(), (x22(), y22()))
    return out, push((ones22(), ones22())), push((y22(), ones22()))


@program
def linearize_single() -> Any:
    out, push = ops.functional.linearize(cube, x22())
    return out, push(ones22())


@program
def linearize_number() -> Any:
    return ops.functional.linearize(cube, 3)


# -- Jacobians --


@program
def jacfwd_vector() -> Any:
    return ms.jacfwd(cube)(z2())


@program
def jacrev_vector() -> Any:
    return ms.jacrev(cube)(z2())


@program
def jacfwd_scalar_output() -> Any:
    return ms.jacfwd(square_sum)(x22())


@program
def jacrev_scalar_output() -> Any:
    return ms.jacrev(square_sum)(x22())


@program
def jacfwd_two_by_two() -> Any:
    return ms.jacfwd(TwoOutputs(), (0, 1))(z2(), z2())


@program
def jacrev_two_by_two() -> Any:
    return ms.jacrev(TwoOutputs(), (0, 1))(z2(), z2())


@program
def jacfwd_second() -> Any:
    return ms.jacfwd(TwoOutputs(), 1)(z2(), z2())


@program
def jacrev_second() -> Any:
    return ms.jacrev(TwoOutputs(), 1)(z2(), z2())


@program
def jacfwd_tuple_of_one() -> Any:
    return ms.jacfwd(TwoOutputs(), (1,))(z2(), z2())


@program
def jacrev_tuple_of_one() -> Any:
    return ms.jacrev(TwoOutputs(), (1,))(z2(), z2())


@program
def jacfwd_aux() -> Any:
    return ms.jacfwd(TwoOutputs(), (0, 1), has_aux=True)(z2(), z2())


@program
def jacrev_aux() -> Any:
    return ms.jacrev(TwoOutputs(), (0, 1), has_aux=True)(z2(), z2())


@program
def jacrev_aux_single() -> Any:
    return ms.jacrev(square_and_itself, has_aux=True)(z2())


@program
def jacfwd_parameter() -> Any:
    return ms.jacfwd(Scaled())(z2(), z2())


@program
def hessian_forward_over_reverse() -> Any:
    return ms.jacfwd(gradient_of_cubes)(z2())


@program
def hessian_of_jacobians() -> Any:
    return ms.jacfwd(ms.jacrev(cube_sum))(z2())


@program
def jacfwd_float_position() -> Any:
    return ms.jacfwd(cube, 1.5)(z2())


@program
def jacfwd_repeated_position() -> Any:
    return ms.jacfwd(TwoOutputs(), (0, 0))(z2(), z2())


@program
def jacfwd_wrong_aux() -> Any:
    return ms.jacfwd(cube, has_aux=2)


@program
def jacfwd_position_too_large() -> Any:
    return ms.jacfwd(cube, 5)(z2())


@program
def jacrev_position_too_large() -> Any:
    return ms.jacrev(cube, 5)(z2())


@program
def jacrev_negative_position() -> Any:
    return ms.jacrev(cube, -1)(z2())


# -- Taylor series --


@program
def derivative_second() -> Any:
    return ops.derivative(sine, z2(), 2)


@program
def derivative_of_integers() -> Any:
    return ops.derivative(sine, Tensor([1, 2]), 1)


@program
def derivative_two_inputs() -> Any:
    return ops.derivative(product, (z2(), z2()), 2)


@program
def derivative_two_outputs() -> Any:
    return ops.derivative(sine_and_exp, z2(), 2)


@program
def derivative_order_zero() -> Any:
    return ops.derivative(sine, z2(), 0)


@program
def derivative_float_order() -> Any:
    return ops.derivative(sine, z2(), 1.5)


@program
def jet_product() -> Any:
    series = t([[1.0, 1.0], [0.0, 0.0]])
    return ops.jet(product, (z2(), z2()), (series, series))


@program
def jet_first_order() -> Any:
    return ops.jet(sine, z2(), t([[1.0, 1.0]]))


@program
def jet_second_order() -> Any:
    return ops.jet(sine, z2(), t([[1.0, 1.0], [1.0, 1.0]]))


@program
def jet_of_integers() -> Any:
    return ops.jet(sine, Tensor([1, 2]), Tensor([[1, 1], [1, 1]]))


@program
def jet_series_is_a_number() -> Any:
    return ops.jet(sine, z2(), 3)


# -- vmap --


def add(x: Any, y: Any) -> Any:
    """Give the sum."""
    return x + y


def dot(x: Any, y: Any) -> Any:
    """Give the inner product."""
    return (x * y).sum()


def of_pair(pair: Any, y: Any) -> Any:
    """Add a pair and a third."""
    return pair[0] + pair[1] + y


def one_constant(x: Any, y: Any) -> Any:
    """Give one output that depends on a mapped input and one that does not."""
    return x + 1, y


@program
def vmap_simple() -> Any:
    return ms.vmap(dot)(x22(), y22())


@program
def vmap_axes() -> Any:
    return ms.vmap(add, in_axes=(0, None), out_axes=1)(x22(), z2())


@program
def vmap_negative_axis() -> Any:
    return ops.vmap(add, in_axes=(-1, None), out_axes=-1)(x22(), z2())


@program
def vmap_nested_axes() -> Any:
    return ms.vmap(of_pair, in_axes=((0, 1), None))((x22(), y22()), t(1.0))


@program
def vmap_pair_by_one_axis() -> Any:
    return ms.vmap(of_pair, in_axes=(0, None))((x22(), y22()), z2())


@program
def vmap_two_outputs() -> Any:
    return ms.vmap(TwoOutputs(), in_axes=(0, 1), out_axes=(0, 1))(x22(), y22())


@program
def vmap_constant_output() -> Any:
    return ms.vmap(one_constant, in_axes=(0, None), out_axes=(0, 0))(x22(), z2())


@program
def vmap_unmapped_output() -> Any:
    return ms.vmap(one_constant, in_axes=(0, None), out_axes=(0, None))(x22(), z2())


@program
def vmap_cell() -> Any:
    return ms.vmap(Scaled(), in_axes=(0, None))(x22(), z2())


@program
def vmap_of_vmap() -> Any:
    return ms.vmap(ms.vmap(add, in_axes=(None, 0)), in_axes=(0, None))(z2(), t([1.0, 2.0, 3.0]))


@program
def vmap_of_grad() -> Any:
    return ms.vmap(ms.grad(cube_sum))(x22())


def vmapped_sum(x: Any, y: Any) -> Any:
    """Give the sum of a mapped product."""
    return (ms.vmap(dot)(x, y) ** 2).sum()


@program
def grad_of_vmap() -> Any:
    return ms.grad(vmapped_sum, grad_position=(0, 1))(x22(), y22())


@program
def vmap_number() -> Any:
    return ms.vmap(add, in_axes=(0, None))(x22(), 2)


class Ensemble(nn.Cell):
    """Member of an ensemble: its own weight."""

    def __init__(self, w: float) -> None:
        super().__init__()
        self.w = Parameter(t([w, w + 1.0]), name="w")

    def construct(self, x: Any) -> Any:
        """Give ``w * x``."""
        return x * self.w


@program
def vmap_cell_list() -> Any:
    nets = nn.CellList([Ensemble(1.0), Ensemble(10.0)])
    return ms.vmap(nets, in_axes=None)(z2())


@program
def vmap_cell_list_batches() -> Any:
    nets = nn.CellList([Ensemble(1.0), Ensemble(10.0)])
    return ms.vmap(nets, in_axes=0)(x22())


@program
def vmap_different_sizes() -> Any:
    return ms.vmap(add)(x22(), t([[1.0, 2.0]]))


@program
def vmap_axis_out_of_range() -> Any:
    return ms.vmap(add, in_axes=(2, 0))(x22(), y22())


@program
def vmap_no_axis() -> Any:
    return ms.vmap(add, in_axes=(None, None))(x22(), y22())


@program
def vmap_float_axis() -> Any:
    return ms.vmap(add, in_axes=1.5)(x22(), y22())


@program
def vmap_too_many_axes() -> Any:
    return ms.vmap(add, in_axes=(0, 0, 0))(x22(), y22())


@program
def vmap_too_many_out_axes() -> Any:
    return ms.vmap(add, in_axes=0, out_axes=(0, 0))(x22(), y22())


@program
def vmap_not_callable() -> Any:
    return ms.vmap(3)(z2())


@program
def vmap_mapped_output_without_axis() -> Any:
    return ms.vmap(add, out_axes=None)(x22(), y22())
