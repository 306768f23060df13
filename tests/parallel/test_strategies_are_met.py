"""No operator takes a strategy without laying its inputs out by it."""

import pytest

import mindjax as ms
from mindjax import Tensor
from mindjax.core.partition import using
from mindjax.core.primitive import Primitive
from tests.ops.test_arguments import CALLS

# What is checked in the ordinary suite: operators that run themselves, that bind, that call others.
FEW = ["ops.Add", "ops.MatMul", "ops.ReduceSum", "ops.GatherD", "ops.OneHot", "ops.StridedSlice"]
# They read no Tensor.
WITHOUT_INPUTS = {"Ones", "Zeros"}


class Spy:
    """A partitioner that notes the operators that it is asked to lay out."""

    key = "spy"
    sees_all = False

    def __init__(self):
        self.met = set()

    def enter(self, args, kwargs):
        """Give a program's arguments."""
        return args, kwargs

    def constrain(self, record, arrays):
        """Note the operator."""
        self.met.add(record.name)
        return arrays

    def spread(self, record, arrays):
        """Give the operator."""
        return record

    def constrain_outputs(self, record, inputs, outputs):
        """Give the outputs."""
        return outputs

    def gathered(self, function, weights):
        """Give the function."""
        return function

    def lower(self, *args):
        """End the program here: it has been traced."""
        raise Traced


class Traced(Exception):
    """The program has been traced."""


def ignores(path):
    """Tell whether a call of a class ignores its strategy; None if it cannot stand in a graph."""
    for call in CALLS[path]:
        if call.constructor is None:
            continue
        fields, named = call.attributes()
        args, kwargs = call.values()
        operator = call.target()(*fields, **named)
        if not isinstance(operator, Primitive) or operator.name in WITHOUT_INPUTS:
            continue
        try:
            operator(*args, **kwargs)
        except Exception:
            # A row of an error.
            continue
        operator.shard(((1,),))
        spy = Spy()
        try:
            with using(spy):
                ms.jit(lambda *given, op=operator, k=kwargs: op(*given, **k))(*args)
        except Traced:
            return not spy.met
        except RuntimeError:
            continue
    return None


def classes():
    """List the operators' classes that the tables call."""
    return [p for p, calls in CALLS.items() if any(c.constructor is not None for c in calls)]


@pytest.mark.parametrize("path", FEW)
def test_few(path):
    assert ignores(path) is False


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_all():
    found = {path: ignores(path) for path in classes()}
    assert [path for path, ignored in found.items() if ignored] == []
    assert sum(ignored is False for ignored in found.values()) > 250


def test_a_tensor_is_an_input():
    """The spy sees a program that holds only the operator."""
    spy = Spy()
    with using(spy), pytest.raises(Traced):
        ms.jit(lambda x: ms.ops.Neg().shard(((1,),))(x))(Tensor([1.0]))
    assert spy.met == {"Neg"}
