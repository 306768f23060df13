"""The original's random numbers of weights: Philox 4x32-10 on the host.

The generator is that of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2,
3" (2011). A seed is both the key and the upper half of the counter, as MindSpore has it, so that
the same seed gives the same weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

HostArray = np.ndarray[Any, Any]

_FACTORS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_STEPS = 0x9E3779B9, 0xBB67AE85
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ROUNDS = 10
# Counters worked on at a time, so that they stay in the processor's cache.
_BLOCK = 1 << 14


def bits(seed: int, count: int) -> HostArray:
    """Give random words.

    Args:
        seed: from 0 to 2**64 - 1.
        count: how many.

    Returns:
        UInt32 of shape (count,).
    """
    blocks = -(-count // 4)
    out = np.empty((blocks, 4), np.uint32)
    for start in range(0, blocks, _BLOCK):
        stop = min(start + _BLOCK, blocks)
        for place, word in enumerate(_words(seed, start, stop)):
            out[start:stop, place] = word
    return out.reshape(-1)[:count]


def _words(seed: int, start: int, stop: int) -> tuple[HostArray, ...]:
    counter = np.arange(start, stop, dtype=np.uint64)
    low, high = seed & 0xFFFFFFFF, seed >> 32
    a, b = counter & _LOW, counter >> _HALF
    c, d = np.full_like(a, low), np.full_like(a, high)
    for turn in range(_ROUNDS):
        left = np.uint64((low + turn * _STEPS[0]) & 0xFFFFFFFF)
        right = np.uint64((high + turn * _STEPS[1]) & 0xFFFFFFFF)
        first, second = a * _FACTORS[0], c * _FACTORS[1]
        a, c = (second >> _HALF) ^ b ^ left, (first >> _HALF) ^ d ^ right
        b, d = second & _LOW, first & _LOW
    return a, b, c, d


def uniform(seed: int, count: int) -> HostArray:
    """Give numbers that are spread evenly over [0, 1].

    Args:
        seed: from 0 to 2**64 - 1.
        count: how many.

    Returns:
        Float32 of shape (count,).
    """
    return bits(seed, count).astype(np.float32) * np.float32(2.0**-32)


def normal(seed: int, count: int) -> HostArray:
    """Give standard normal numbers, by the method of Box and Muller (1958).

    Args:
        seed: from 0 to 2**64 - 1.
        count: how many.

    Returns:
        Float32 of shape (count,).
    """
    mantissas = bits(seed, count + count % 2) & np.uint32(0x7FFFFF)
    pairs = (mantissas.astype(np.float32) * np.float32(2.0**-23)).reshape(-1, 2)
    length = np.sqrt(np.float32(-2) * np.log(np.maximum(pairs[:, 0], np.float32(1e-7))))
    angle = np.float32(2 * np.pi) * pairs[:, 1]
    out = np.stack((np.cos(angle) * length, np.sin(angle) * length), 1)
    return out.reshape(-1)[:count]
