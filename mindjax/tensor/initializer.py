"""Initializers: they fill numpy arrays from the host's random stream, so no backend is started."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from mindjax.core import philox, simulation
from mindjax.core.dtype import as_dtype, float32
from mindjax.core.errors import located
from mindjax.core.random import check_seed, get_seed, host_permutation, host_seed, seeded_host
from mindjax.tensor.tensor import Tensor

HostArray = np.ndarray[Any, Any]

_LINEAR = {"linear", "sigmoid"} | {
    f"conv{transposed}{n}d" for transposed in ("", "_transpose") for n in (1, 2, 3)
}


class Initializer:
    """Base of initializers; a subclass fills the array that ``_initialize`` gets, in place.

    Args:
        kwargs: kept as they are.
    """

    aliases: ClassVar[dict[str, type[Initializer]]] = {}
    _seed: int | None = None

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs

    def __repr__(self) -> str:
        # The text of a layer holds it, under the original's path.
        if type(self).__module__ != __name__:
            return object.__repr__(self)
        path = f"mindspore.common.initializer.{type(self).__name__}"
        return f"<{path} object at {id(self):#x}>"

    @property
    def seed(self) -> tuple[int, int]:
        """The pair of seeds that the original draws with.

        Set to an integer from 0 up, the initializer draws from a stream of its own, so that it
        fills an array with the same numbers each time; None takes the stream of all initializers.
        """
        return (get_seed() or 0, 0) if self._seed is None else (self._seed + 1, 0)

    @seed.setter
    def seed(self, value: int | None) -> None:
        self._seed = value if value is None else check_seed(value)

    def _initialize(self, arr: HostArray) -> None:
        raise located(
            NotImplementedError,
            f"For '{type(self).__name__}', '_initialize' must be overridden!",
        )

    def __call__(self, arr: HostArray) -> None:
        """Fill a numpy array in place."""
        if self._seed is None:
            self._initialize(arr)
            return
        with seeded_host(self._seed):
            self._initialize(arr)


def _named(*aliases: str) -> Callable[[type[Initializer]], type[Initializer]]:
    """Register an initializer under its lower-case name and under aliases."""

    def register(cls: type[Initializer]) -> type[Initializer]:
        for alias in (cls.__name__.lower(), *aliases):
            Initializer.aliases[alias] = cls
        return cls

    return register


def _normal(mean: float, sigma: float, shape: tuple[int, ...]) -> HostArray:
    if sigma < 0:
        raise located(ValueError, f"For 'Normal', sigma < 0: got {sigma}.")
    drawn = philox.normal(host_seed(), math.prod(shape)).reshape(shape)
    return drawn * np.float32(sigma) + np.float32(mean)


def _uniform(low: float, high: float, shape: tuple[int, ...]) -> HostArray:
    drawn = philox.uniform(host_seed(), math.prod(shape)).reshape(shape)
    return drawn * np.float32(high - low) + np.float32(low)


def _truncated_normal(
    low: float, high: float, mean: float, sigma: float, shape: tuple[int, ...]
) -> HostArray:
    """Draw a normal variable under the condition that it lies between two values."""
    if sigma < 0:
        raise located(ValueError, f"For 'TruncatedNormal', sigma < 0: got {sigma}.")
    if sigma == 0:
        return np.full(shape, np.clip(mean, low, high), np.float32)
    from scipy.special import ndtr, ndtri

    low, high = sorted(((low - mean) / sigma, (high - mean) / sigma))
    # Probabilities near one have no digits left; the mirrored interval has.
    sign = -1.0 if low > 0 else 1.0
    low, high = sorted((sign * low, sign * high))
    even = philox.uniform(host_seed(), math.prod(shape)).astype(np.float64).reshape(shape)
    drawn = ndtri(ndtr(low) + (ndtr(high) - ndtr(low)) * even)
    return (np.clip(drawn, low, high) * (sign * sigma) + mean).astype(np.float32)


def _fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """Give the numbers of inputs and outputs of a weight (out, in, *window)."""
    if len(shape) < 2:
        raise located(
            ValueError,
            "'fan_in' and 'fan_out' can not be computed for tensor with fewer than 2 dimensions, "
            f"but got dimensions {len(shape)}.",
        )
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def _fan(shape: tuple[int, ...], mode: str) -> int:
    mode = mode.lower()
    modes = ["fan_in", "fan_out"]
    if mode not in modes:
        raise located(ValueError, f"'mode' {mode} not supported, please use one of {modes}")
    return _fans(shape)[modes.index(mode)]


def _gain(nonlinearity: str, slope: Any = None) -> float:
    """Give the factor that keeps the variance through a nonlinearity."""
    if nonlinearity in _LINEAR:
        return 1.0
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity != "leaky_relu":
        raise located(
            ValueError,
            "For 'HeUniform', the argument 'nonlinearity' should be one of ['sigmoid', 'tanh', "
            f"'relu' or 'leaky_relu'], but got {nonlinearity}.",
        )
    slope = 0.01 if slope is None else slope
    if isinstance(slope, bool) or not isinstance(slope, int | float):
        raise located(
            ValueError,
            f"For 'HeUniform', 'negative_slope' {slope} is not a valid number. When 'nonlinearity' "
            "has been set to 'leaky_relu', 'negative_slope' should be int or float type, but got "
            f"{type(slope)}.",
        )
    return math.sqrt(2.0 / (1 + slope**2))


def _check_rank(name: str, arr: HostArray, allowed: tuple[int, ...], text: str) -> None:
    if arr.ndim not in allowed:
        raise located(
            ValueError,
            f"For {name} initializer, the dimension of the initialized tensor should be {text}, "
            f"but got {arr.ndim}.",
        )


@_named("zeros")
class Zero(Initializer):
    """Zeros."""

    def _initialize(self, arr: HostArray) -> None:
        arr.fill(0)


@_named("ones")
class One(Initializer):
    """Ones."""

    def _initialize(self, arr: HostArray) -> None:
        arr.fill(1)


class Constant(Initializer):
    """One value everywhere.

    Args:
        value: number, or array that broadcasts to the shape.
    """

    def __init__(self, value: Any) -> None:
        super().__init__(value=value)
        self.value = value

    def _initialize(self, arr: HostArray) -> None:
        arr[...] = self.value


@_named()
class Uniform(Initializer):
    """The uniform distribution on (-scale, scale).

    Args:
        scale: the bound.
    """

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _initialize(self, arr: HostArray) -> None:
        arr[...] = _uniform(-self.scale, self.scale, arr.shape)


@_named()
class Normal(Initializer):
    """The normal distribution.

    Args:
        sigma: standard deviation.
        mean: mean.

    Raises:
        ValueError: ``sigma`` is negative, once an array is filled.
    """

    def __init__(self, sigma: float = 0.01, mean: float = 0.0) -> None:
        super().__init__(sigma=sigma, mean=mean)
        self.sigma, self.mean = sigma, mean

    def _initialize(self, arr: HostArray) -> None:
        arr[...] = _normal(self.mean, self.sigma, arr.shape)


@_named()
class TruncatedNormal(Initializer):
    """The normal distribution cut to an interval.

    MindSpore: the bounds are values, not multiples of sigma, so the defaults cut nothing off.

    Args:
        sigma: standard deviation before the cut.
        mean: mean before the cut.
        a: lowest value.
        b: highest value.

    Raises:
        ValueError: ``sigma`` is negative, once an array is filled.
    """

    def __init__(
        self, sigma: float = 0.01, mean: float = 0.0, a: float = -2.0, b: float = 2.0
    ) -> None:
        super().__init__(sigma=sigma, mean=mean, a=a, b=b)
        self.sigma, self.mean, self.a, self.b = sigma, mean, a, b

    def _initialize(self, arr: HostArray) -> None:
        arr[...] = _truncated_normal(self.a, self.b, self.mean, self.sigma, arr.shape)


class _Xavier(Initializer):
    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = gain

    def _sigma(self, arr: HostArray) -> float:
        return self.gain * math.sqrt(2.0 / sum(_fans(arr.shape)))


@_named("xavier_normal")
class XavierNormal(_Xavier):
    """Normal with variance gain² 2 / (fan_in + fan_out) (Glorot & Bengio 2010).

    Args:
        gain: factor of the standard deviation.

    Raises:
        ValueError: the array has fewer than 2 axes.
    """

    def _initialize(self, arr: HostArray) -> None:
        arr[...] = _normal(0.0, self._sigma(arr), arr.shape)


@_named("xavier_uniform")
class XavierUniform(_Xavier):
    """Uniform with variance gain² 2 / (fan_in + fan_out) (Glorot & Bengio 2010).

    Args:
        gain: factor of the bound.

    Raises:
        ValueError: the array has fewer than 2 axes.
    """

    def _initialize(self, arr: HostArray) -> None:
        bound = math.sqrt(3.0) * self._sigma(arr)
        arr[...] = _uniform(-bound, bound, arr.shape)


class _He(Initializer):
    def __init__(
        self,
        negative_slope: float = 0,
        mode: str = "fan_in",
        nonlinearity: str = "leaky_relu",
    ) -> None:
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)
        self.negative_slope, self.mode, self.nonlinearity = negative_slope, mode, nonlinearity

    def _sigma(self, arr: HostArray) -> float:
        fan = _fan(arr.shape, self.mode)
        return _gain(self.nonlinearity, self.negative_slope) / math.sqrt(fan)


@_named("he_uniform")
class HeUniform(_He):
    """Uniform with variance gain² / fan (He et al. 2015).

    Args:
        negative_slope: slope of the leaky ReLU that follows.
        mode: ``"fan_in"`` keeps the variance forward, ``"fan_out"`` backward.
        nonlinearity: what follows; it sets the gain.

    Raises:
        ValueError: an argument is none of these, or the array has fewer than 2 axes.
    """

    def _initialize(self, arr: HostArray) -> None:
        bound = math.sqrt(3.0) * self._sigma(arr)
        arr[...] = _uniform(-bound, bound, arr.shape)


@_named("he_normal")
class HeNormal(_He):
    """Normal with variance gain² / fan (He et al. 2015).

    Args:
        negative_slope: slope of the leaky ReLU that follows.
        mode: ``"fan_in"`` keeps the variance forward, ``"fan_out"`` backward.
        nonlinearity: what follows; it sets the gain.

    Raises:
        ValueError: an argument is none of these, or the array has fewer than 2 axes.
    """

    def _initialize(self, arr: HostArray) -> None:
        arr[...] = _normal(0.0, self._sigma(arr), arr.shape)


@_named()
class VarianceScaling(Initializer):
    """A distribution whose variance is scale / fan.

    MindSpore: ``"truncated_normal"`` draws from the uniform distribution too.

    Args:
        scale: positive factor.
        mode: ``"fan_in"``, ``"fan_out"`` or ``"fan_avg"``.
        distribution: ``"uniform"``, ``"truncated_normal"`` or ``"untruncated_normal"``.

    Raises:
        ValueError: an argument is none of these.
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
    ) -> None:
        super().__init__(scale=scale, mode=mode, distribution=distribution)
        of = "For VarianceScaling initializer, the argument"
        if scale <= 0:
            raise located(ValueError, f"{of} 'scale' must be greater than 0, but got {scale}.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise located(
                ValueError, f"{of} 'mode' must be fan_in, fan_out or fan_avg, but got {mode}."
            )
        if distribution not in ("uniform", "truncated_normal", "untruncated_normal"):
            raise located(
                ValueError,
                f"{of} 'distribution' must be uniform, truncated_normal or untruncated_normal, but "
                f"got {distribution}.",
            )
        self.scale, self.mode, self.distribution = scale, mode, distribution

    def _initialize(self, arr: HostArray) -> None:
        fan_in, fan_out = _fans(arr.shape)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        variance = self.scale / max(1.0, fan)
        if self.distribution == "untruncated_normal":
            arr[...] = _normal(0.0, math.sqrt(variance), arr.shape)
        else:
            bound = math.sqrt(3.0 * variance)
            arr[...] = _uniform(-bound, bound, arr.shape)


@_named()
class Orthogonal(Initializer):
    """A matrix with orthonormal rows or columns, times a gain (Saxe et al. 2013).

    Args:
        gain: factor.

    Raises:
        ValueError: the array has fewer than 2 axes.
    """

    def __init__(self, gain: float = 1.0) -> None:
        super().__init__(gain=gain)
        self.gain = gain

    def _initialize(self, arr: HostArray) -> None:
        if arr.ndim < 2:
            _check_rank("Orthogonal", arr, (), "no less than 2")
        rows, columns = arr.shape[0], math.prod(arr.shape[1:])
        drawn = _normal(0.0, 1.0, (max(rows, columns), min(rows, columns)))
        q, r = np.linalg.qr(drawn)
        # Without the signs of r's diagonal q is not uniformly distributed.
        q = q * np.sign(np.diag(r))
        arr[...] = self.gain * (q.T if rows < columns else q).reshape(arr.shape)


@_named()
class Identity(Initializer):
    """The identity matrix.

    Raises:
        ValueError: the array has not 2 axes.
    """

    def _initialize(self, arr: HostArray) -> None:
        _check_rank("Identity", arr, (2,), "2")
        arr[...] = np.eye(*arr.shape)


@_named()
class Dirac(Initializer):
    """Convolution weights that pass channels through.

    Args:
        groups: groups of the convolution.

    Raises:
        ValueError: the array has not 3 to 5 axes, or ``groups`` does not divide the first.
    """

    def __init__(self, groups: int = 1) -> None:
        super().__init__(groups=groups)
        self.groups = groups

    def _initialize(self, arr: HostArray) -> None:
        _check_rank("Dirac", arr, (3, 4, 5), "3, 4 or 5")
        if arr.shape[0] % self.groups:
            raise located(
                ValueError,
                "For Dirac initializer, the first dimension of the initialized tensor must be "
                f"divisible by groups, but got first dimension {arr.shape[0]}, groups "
                f"{self.groups}.",
            )
        outputs = arr.shape[0] // self.groups
        middle = tuple(size // 2 for size in arr.shape[2:])
        arr.fill(0)
        for group in range(self.groups):
            for channel in range(min(outputs, arr.shape[1])):
                arr[(group * outputs + channel, channel, *middle)] = 1


@_named()
class Sparse(Initializer):
    """A normal matrix in which a share of each column is zero (Martens 2010).

    Args:
        sparsity: share of zeros in a column.
        sigma: standard deviation of the rest.

    Raises:
        ValueError: the array has not 2 axes.
    """

    def __init__(self, sparsity: float, sigma: float = 0.01) -> None:
        super().__init__(sparsity=sparsity, sigma=sigma)
        self.sparsity, self.sigma = sparsity, sigma

    def _initialize(self, arr: HostArray) -> None:
        _check_rank("Sparse", arr, (2,), "2")
        rows, columns = arr.shape
        zeros = math.ceil(self.sparsity * rows)
        arr[...] = _normal(0.0, self.sigma, arr.shape)
        for column in range(columns):
            arr[host_permutation(rows)[:zeros], column] = 0


def _checked_shape(shape: Any) -> tuple[int, ...]:
    sizes = tuple(shape) if isinstance(shape, list | tuple) else (shape,)
    for size in sizes:
        if not isinstance(size, int | np.integer) or size <= 0:
            raise located(
                ValueError,
                "For 'initializer', the argument 'shape' is invalid, the value of 'shape' must be "
                f"positive integer, but got {sizes}",
            )
    return tuple(int(size) for size in sizes)


def initializer(init: Any, shape: Any = None, dtype: Any = float32) -> Tensor:
    """Make a Tensor that an initializer fills at once.

    Args:
        init: initializer, its name in any case, a number for all elements, or a Tensor, which is
            given back.
        shape: sizes of the axes; an integer for one axis.
        dtype: element type.

    Returns:
        The Tensor.

    Raises:
        TypeError: ``init`` is none of these.
        ValueError: no initializer has the name, a size is not positive, or a Tensor has another
            shape.
    """
    if isinstance(init, Tensor):
        wanted = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
        if shape is not None and init.shape != wanted:
            raise located(
                ValueError,
                "For 'initializer', the shape of the 'init' argument should be same as the "
                f"argument 'shape', but got the 'init' shape {list(init.shape)} and the 'shape' "
                f"{list(wanted)}.",
            )
        return init
    if isinstance(init, str):
        found = Initializer.aliases.get(init.lower())
        if found is None:
            raise located(
                ValueError,
                f"For 'initializer', the class corresponding to '{init}' was not found.",
            )
        try:
            init = found()
        except TypeError as error:
            raise located(TypeError, f"For 'initializer', {error}.") from None
    elif isinstance(init, numbers.Number):
        init = Constant(init)
    elif not isinstance(init, Initializer):
        raise located(
            TypeError,
            "For 'initializer', the type of the 'init' argument should be 'Tensor', 'number', "
            f"'string' or 'initializer', but got {type(init)}.",
        )
    if shape is None:
        raise located(
            ValueError,
            "For 'initializer', the argument 'shape' must be given unless 'init' is a Tensor.",
        )
    target = as_dtype(dtype).np
    if simulation.is_large(_checked_shape(shape)):
        return Tensor._from_array(simulation.blank(_checked_shape(shape), target))
    array = np.zeros(_checked_shape(shape), np.float32 if target.kind == "V" else target)
    init(array)
    return Tensor._from_array(array.astype(target, copy=False))
