"""Random numbers of a test do not depend on the tests that ran before it."""

import zlib

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def own_numbers(request):
    """Start the module's generator ``RNG`` anew, from the name of the test function."""
    rng = getattr(request.module, "RNG", None)
    if rng is not None:
        seed = zlib.crc32(request.function.__name__.encode())
        rng.bit_generator.state = np.random.PCG64(seed).state
