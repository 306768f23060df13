"""Obfuscated weights: refused, as encrypted checkpoints keep them secret."""

from __future__ import annotations

from typing import Any

from mindjax.core.errors import located

_WAY = "save_checkpoint(..., enc_key=..., enc_mode=...) encrypts weights."


def obfuscate_ckpt(
    network: Any,
    ckpt_files: str,
    target_modules: Any = None,
    obf_config: Any = None,
    saved_path: str = "./",
    obfuscate_scale: float = 100,
) -> list[Any]:
    """Refuse: weights are not obfuscated.

    Args:
        network: the Cell.
        ckpt_files: folder of checkpoints.
        target_modules: which Cells' weights.
        obf_config: how.
        saved_path: folder for the result.
        obfuscate_scale: bound of the factors.

    Raises:
        NotImplementedError: always; checkpoints can be encrypted.
    """
    raise located(
        NotImplementedError,
        f"For 'obfuscate_ckpt', the 'ckpt_files' {ckpt_files} cannot be obfuscated: {_WAY}",
    )


def load_obf_params_into_net(
    network: Any,
    target_modules: Any = None,
    obf_ratios: Any = None,
    obf_config: Any = None,
    data_parallel_num: int = 1,
    **kwargs: Any,
) -> Any:
    """Refuse: weights are not obfuscated.

    Args:
        network: the Cell.
        target_modules: which Cells' weights.
        obf_ratios: the factors.
        obf_config: how.
        data_parallel_num: number of copies.
        **kwargs: ``ignored_func_decorators`` and ``ignored_class_decorators``.

    Raises:
        NotImplementedError: always; checkpoints can be encrypted.
    """
    raise located(
        NotImplementedError,
        f"For 'load_obf_params_into_net', the 'network' {type(network).__name__} cannot take "
        f"obfuscated weights: {_WAY}",
    )
