"""``mindjax check``: one multiplication and the devices found."""

from __future__ import annotations

import numpy as np

from mindjax import version


def run_check() -> None:
    """Multiply two tensors and print what came of it, in the words of ``mindspore.run_check``."""
    passed()


def passed() -> bool:
    """Print the result of the check.

    Returns:
        Whether the product is right.
    """
    import mindjax

    print("MindSpore version: ", version.__version__)
    x, y = np.array([1.0, 2.0, 3.0], np.float32), np.array([4.0, 5.0, 6.0], np.float32)
    try:
        product = mindjax.ops.Mul()(mindjax.Tensor(x), mindjax.Tensor(y)).asnumpy()
        if not np.array_equal(product, x * y):
            raise ValueError(f"the product is {product}, not {x * y}")
    except Exception as error:
        print("MindSpore running check failed.")
        print(error)
        return False
    target = mindjax.get_context("device_target")
    print(
        "The result of multiplication calculation is correct, "
        f"MindSpore has been installed on platform [{target}] successfully!"
    )
    return True


def check() -> int:
    """Check the installation and list the devices that jax finds.

    Returns:
        The process's exit status.
    """
    import jax

    if not passed():
        return 1
    print(f"MindJAX {version.mindjax} on jax {jax.__version__}, devices:")
    for device in jax.devices():
        print(f"  {device.platform}:{device.id}  {device.device_kind}")
    return 0
