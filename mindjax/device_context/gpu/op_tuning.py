"""Algorithms of convolutions on GPUs: device tuning, XLA measures which is fastest."""

from mindjax.device_context import kept


def conv_fprop_algo(mode: str) -> None:
    """Keep the algorithm of convolutions; XLA takes the fastest.

    Args:
        mode: its name.

    Raises:
        ValueError: there is none of this name.
    """
    _keep("conv_fprop_algo", mode, "implicit_gemm precomp_gemm gemm direct fft fft_tiling winograd")


def conv_wgrad_algo(mode: str) -> None:
    """Keep the algorithm of gradients by the weight; XLA takes the fastest.

    Args:
        mode: its name.

    Raises:
        ValueError: there is none of this name.
    """
    _keep("conv_wgrad_algo", mode, "algo_0 algo_1 fft algo_3 fft_tiling")


def conv_dgrad_algo(mode: str) -> None:
    """Keep the algorithm of gradients by the input; XLA takes the fastest.

    Args:
        mode: its name.

    Raises:
        ValueError: there is none of this name.
    """
    _keep("conv_dgrad_algo", mode, "algo_0 algo_1 fft fft_tiling winograd")


def _keep(name: str, mode: str, choices: str) -> None:
    kept.one_of(name, mode, ["normal", "performance", *choices.split(), "winograd_nonfused"])
    if kept.supported("GPU"):
        kept._kept[name] = mode
