"""Discrete cosine transforms of the second kind, orthonormal."""

from __future__ import annotations

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jax.scipy import fft as jax_fft

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.linear.matrices import COMPLEX, REAL, accept
from mindjax.ops.spectral.transforms import wide

Array = jax.Array


class _Cosine(Primitive, register=False):
    """Base of the cosine transforms.

    Args:
        s: size of each axis, padded with zeros or cut to; None for those of the input.
        axes: the axes; None for the last ones as ``s`` counts, or all.
    """

    s: tuple[int, ...] | None = None
    axes: tuple[int, ...] | None = None
    inverse: ClassVar[bool] = False

    def compute(self, x: Array) -> Array:
        """Transform axis by axis."""
        kinds = ("Int16", "Int32", "Int64", "Float16", "BFloat16", *REAL, *COMPLEX)
        accept(self.name, kinds, x=x)
        s, axes = self.s, self.axes
        if axes is None:
            axes = tuple(range(x.ndim)) if s is None else tuple(range(-len(s), 0))
        places = checks.axes_in_rank(axes, x.ndim, self.name, "axes")
        if s is not None and len(s) != len(places):
            raise located(
                ValueError,
                f"For '{self.name}', 's' and 'axes' must be of one length, but got {s} and {axes}.",
            )
        x = wide(x)
        if not x.size:
            raise located(ValueError, f"For '{self.name}', the 'x' is empty: {x.shape}.")
        if jnp.issubdtype(x.dtype, jnp.complexfloating):
            return jax.lax.complex(self._real(jnp.real(x), places), self._real(jnp.imag(x), places))
        return self._real(x, places)

    def _real(self, x: Array, axes: tuple[int, ...]) -> Array:
        run = jax_fft.idct if self.inverse else jax_fft.dct
        for i, axis in enumerate(axes):
            x = run(x, 2, None if self.s is None else self.s[i], axis, "ortho")
        return x


class DCT(_Cosine):
    """Cosine transform of an axis (MindSpore's kernel of ``scipy.fft.dct``)."""


class DCTN(_Cosine):
    """Cosine transform of axes (MindSpore's kernel of ``scipy.fft.dctn``)."""


class IDCT(_Cosine):
    """Inverse of `DCT` (MindSpore's kernel of ``scipy.fft.idct``)."""

    inverse: ClassVar[bool] = True


class IDCTN(_Cosine):
    """Inverse of `DCTN` (MindSpore's kernel of ``scipy.fft.idctn``)."""

    inverse: ClassVar[bool] = True


def checked_kind(op: str, type: Any, norm: Any) -> None:
    """Check the two arguments that have one value.

    Args:
        op: name of the op, for the message.
        type: must be 2.
        norm: must be None or ``"ortho"``.

    Raises:
        ValueError: one is another.
    """
    if type != 2 or isinstance(type, bool):
        raise located(ValueError, f"For '{op}', the 'type' must be 2, but got {type!r}.")
    if norm not in (None, "ortho"):
        raise located(ValueError, f"For '{op}', the 'norm' must be None or 'ortho', got {norm!r}.")
