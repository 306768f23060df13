"""Record MindIR files of networks that leave loops, and of those that change Tensors in place.

Run with the oracle's python, never with the project's: ``python tests/oracle/record_mindir.py``.
Writes tests/goldens/mindir/NAME.mindir, and NAME_io.npz with the inputs (``i0_0``: call, input) and
outputs (``o0_0``) of four calls.
"""

import pathlib
import stat

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

GOLDENS = pathlib.Path(__file__).resolve().parents[1] / "goldens" / "mindir"
X = np.arange(6, dtype=np.float32).reshape(2, 3) / 7
CALLS = [(X, 7), (X, 2), (X, 30), (-X, 5)]


class Break(nn.Cell):
    """``break``, and ``continue``."""

    def construct(self, x, n):
        i = Tensor(0, ms.int32)
        while i < n:
            i = i + 1
            if i % 2 == 0:
                continue
            x = x * 1.3
            if x.max() > 9:
                break
        return x - 1, i


class Return(nn.Cell):
    """``return`` out of a loop."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 3, weight_init=Tensor(np.eye(3, dtype=np.float32) / 9))

    def construct(self, x, n):
        i = Tensor(0, ms.int32)
        while i < n:
            x = x * 1.5 + 0.1
            if x.max() > 10:
                return ops.tanh(self.dense(x))
            i = i + 1
        return x


class Nested(nn.Cell):
    """``break`` in a loop and in the loop around it."""

    def construct(self, x, n):
        i = Tensor(0, ms.int32)
        while i < n:
            j = Tensor(0, ms.int32)
            while j < 5:
                x = x + 0.3
                if x.sum() > 8:
                    break
                j = j + 1
            if x.sum() > 20:
                break
            x = x * 1.1
            i = i + 1
        return x, i


class Writing(nn.Cell):
    """A loop that writes a Parameter, and ``break``."""

    def __init__(self):
        super().__init__()
        self.total = Parameter(Tensor(np.zeros((2, 3), np.float32)), name="total")

    def construct(self, x, n):
        i = Tensor(0, ms.int32)
        while i < n:
            self.total += x
            if self.total.max() > 5:
                break
            i = i + 1
        return self.total * 2


class InPlace(Writing):
    """A Parameter and a Tensor that are changed in place."""

    def construct(self, x, n):
        self.total += x
        self.total -= n
        self.total *= 2
        self.total /= 3
        y = x * 1
        y += n
        y *= 2
        return self.total + 1, y


NETWORKS = {
    "break": Break,
    "return": Return,
    "nested_break": Nested,
    "writing_break": Writing,
    "in_place": InPlace,
}


def main():
    ms.set_context(mode=ms.GRAPH_MODE)
    for name, make in NETWORKS.items():
        calls = [(x, np.array(n, np.int32)) for x, n in CALLS]
        net = make()
        path = GOLDENS / f"{name}.mindir"
        path.unlink(missing_ok=True)
        ms.export(net, *map(Tensor, calls[0]), file_name=str(path), file_format="MINDIR")
        path.chmod(stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP | stat.S_IROTH)
        arrays = {}
        for number, inputs in enumerate(calls):
            out = net(*map(Tensor, inputs))
            out = out if isinstance(out, tuple) else (out,)
            arrays |= {f"i{number}_{k}": value for k, value in enumerate(inputs)}
            arrays |= {f"o{number}_{k}": value.asnumpy() for k, value in enumerate(out)}
        np.savez_compressed(GOLDENS / f"{name}_io.npz", **arrays)


if __name__ == "__main__":
    main()
