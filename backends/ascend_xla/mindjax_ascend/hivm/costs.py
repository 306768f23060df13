"""Cycle estimates of instructions; they rank programs and are no measurement.

Rates are those of CANN's `platform_config/Ascend910B2C.ini` (sections AICoreSpec and
AICoreMemoryRates: cube_m/k/n_size 16, vec_calc_size 128, ddr_rate 32, l1_to_l0_a_rate 512,
l1_to_l0_b_rate 256, ub_to_ddr_rate 64, cube_freq 1800), a chip of the same architecture (AIC-C-220)
as Ascend910B1. START is an assumption: no public source gives the latency of an instruction.
"""

from __future__ import annotations

GM_RATE = 32  # bytes a cycle between global memory and a core
L0A_RATE = 512  # bytes a cycle from L1 to L0A
L0B_RATE = 256  # bytes a cycle from L1 to L0B
VECTOR_BYTES = 256  # bytes a cycle of the vector unit: 128 halves
CUBE = 16  # a cube instruction multiplies 16x16 by 16x16 in a cycle, halves
FREQUENCY = 1.8e9  # cycles a second
START = {"S": 1, "V": 20, "M": 20, "MTE1": 30, "MTE2": 200, "MTE3": 100, "FIX": 100}

# Passes of the vector unit over the elements, by the name of the operation; others take one.
_PASSES = {"div": 4, "sqrt": 4, "rsqrt": 4, "exp": 4, "ln": 4, "reduce": 2, "transpose": 2}


def transfer(pipe: str, nbytes: int, rate: int = GM_RATE) -> float:
    """The cycles of a copy of bytes on a pipe."""
    return START[pipe] + nbytes / rate


def vector(operation: str, nbytes: int) -> float:
    """The cycles of a vector operation whose widest operand has that many bytes."""
    return START["V"] + _PASSES.get(operation, 1) * -(-nbytes // VECTOR_BYTES)


def cube(rows: int, inner: int, columns: int, itemsize: int) -> float:
    """The cycles of a matrix product; a step takes 32 bytes along the summed dimension."""
    steps = -(-rows // CUBE) * -(-columns // CUBE) * -(-inner * itemsize // 32)
    return START["M"] + steps
