"""Old import path: ``mindspore.common._stub_tensor``."""

from typing import Any


class StubTensor:
    """What older releases gave in place of a Tensor that is being computed; no value is one."""


def _convert_stub(stub: Any) -> Any:
    return stub
