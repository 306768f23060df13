"""Networks that the tests of `mindjax.rewrite` read."""

from mindjax import nn, ops
from mindjax.ops import operations


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU()

    def construct(self, x):
        x = self.relu(x)
        return x


class Simple(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 4)
        self.relu = nn.ReLU()
        self.k = 2.0

    def construct(self, x):
        x = self.dense(x)
        x = self.relu(x)
        return x


class Flow(nn.Cell):
    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU()

    def construct(self, x):
        if x.shape[0] > 1:
            x = self.relu(x)
            y = x + 1
        elif x.ndim == 3:
            y = x
        else:
            y = self.relu(x + 2)
        for i in range(3):
            y = y + i
            if i == 2:
                break
        else:
            y = y * 2
        while y.sum() < 0:
            y = y + 1
        return self.relu(y) + 1


class Statements(nn.Cell):
    def __init__(self):
        super().__init__()
        self.k = 1
        self.relu = nn.ReLU()
        self.add = operations.Add()

    def construct(self, x, y=1):
        """Compute."""
        a = 1
        b = x
        c = self.k
        h, i = x, b
        j = k = x
        m = x**2 / 3 // 1
        n = -x
        o = x[0:1, ...]
        q = 0 < a < 5
        s = (x + 1) * (x - 2)
        t = self.relu(input=s + 1)
        v = self.relu(self.add(t, x * y)).sum()
        x += 1
        print(self.relu(x) is None)
        aa = x.shape
        return v + b.sum() + m.sum() + n.sum() + o.sum() + h.sum() + i.sum() + j.sum() + k.sum(), (
            c, q, aa,
        )  # fmt: skip


def doubled(x, by=2):
    y = x * by
    return y


class Called(nn.Cell):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.seq = nn.SequentialCell(nn.Dense(4, 4), Block(), nn.SequentialCell(nn.ReLU()))
        self.other = Block()

    def helper(self, x):
        return self.block(x) + 1

    def construct(self, x):
        x = self.block(self.seq(x))
        x = self.block(x)
        x = self.other(x)
        x = doubled(x) + doubled(x, by=self.by())
        x = self.helper(x)
        return x

    def by(self):
        return 3


class Base(nn.Cell):
    def __init__(self):
        super().__init__()
        self.__hidden = 3.0

    def construct(self, x):
        return x * self.__hidden


class Derived(Base):
    def __init__(self):
        super().__init__()
        self.__hidden = 5.0

    def construct(self, x):
        return super().construct(x) + self.__hidden + ops.abs(x)


class Deep(nn.Cell):
    def __init__(self):
        super().__init__()
        self.holder = Block()
        self.holder.inner = Block()

    def construct(self, x):
        x = self.holder.inner(x)
        return self.holder(x)


class Ordered(nn.Cell):
    def __init__(self):
        super().__init__()
        self.seen = []

    def see(self, x, *names):
        self.seen.extend(names)
        return x

    def construct(self, x):
        names = ["d"]
        y = self.see(x, "a") + self.see(self.see(x, "b"), "c") * self.see(x, *names)
        if x is None and self.see(x, "never"):
            y = y + 1
        return y


def local():
    shift = 4.0

    class Local(nn.Cell):
        def construct(self, x):
            return x + shift

    return Local()
