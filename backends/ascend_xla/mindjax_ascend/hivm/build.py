"""Making operations of MLIR, with the error for what has no form."""

from __future__ import annotations

from collections.abc import Mapping

from jaxlib.mlir import ir


class LoweringError(NotImplementedError):
    """A program holds an operation that has no form the vendor's compiler accepts."""


def shaped(element: ir.Type, shape: list[int]) -> ir.Type:
    """The type of a tensor."""
    return ir.RankedTensorType.get(shape, element)


def create(
    name: str,
    results: list[ir.Type],
    operands: list[ir.Value],
    attributes: Mapping[str, ir.Attribute] | None = None,
) -> ir.Value:
    """The result of a new operation at the point of insertion."""
    return ir.Operation.create(
        name, results=results, operands=operands, attributes=dict(attributes or {})
    ).results[0]


def structured(
    name: str, value: ir.Value, out: ir.Value, attributes: Mapping[str, ir.Attribute]
) -> ir.Value:
    """A linalg operation of one input, whose body yields it."""
    operation = ir.Operation.create(
        name, results=[out.type], operands=[value, out], attributes=dict(attributes), regions=1
    )
    source, target = (
        v.type.element_type if isinstance(v.type, ir.RankedTensorType) else v.type
        for v in (value, out)
    )
    body = operation.regions[0].blocks.append(source, target)
    with ir.InsertionPoint(body):
        ir.Operation.create("linalg.yield", operands=[body.arguments[0]])
    return operation.results[0]
