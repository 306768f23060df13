"""The package onnx, loaded when the first ONNX file is read or written."""

from __future__ import annotations

from typing import Any

from mindjax.core.errors import located


def package() -> Any:
    """Give the package onnx.

    Raises:
        ImportError: it is not installed.
    """
    try:
        import onnx
        import onnx.checker
        import onnx.external_data_helper
        import onnx.helper
        import onnx.inliner
        import onnx.numpy_helper
    except ImportError:
        raise located(
            ImportError, 'ONNX files need the package onnx: pip install "mindjax[onnx]".'
        ) from None
    return onnx
