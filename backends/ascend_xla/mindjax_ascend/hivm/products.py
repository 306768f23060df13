"""Products of matrices and vectors in the forms that cube and vector unit have."""

from __future__ import annotations

import re

from jaxlib.mlir import ir

from .build import LoweringError, create, shaped, structured


def _dims(affine: ir.AffineMap) -> list[int] | None:
    found = []
    for expression in affine.results:
        name = re.fullmatch(r"d(\d+)", str(expression))
        if name is None:
            return None
        found.append(int(name[1]))
    return found


def _transpose(value: ir.Value, order: list[int]) -> ir.Value:
    if order == sorted(order):
        return value
    source = ir.RankedTensorType(value.type)
    target = shaped(source.element_type, [source.shape[k] for k in order])
    empty = create("tensor.empty", [target], [])
    return structured(
        "linalg.transpose", value, empty, {"permutation": ir.DenseI64ArrayAttr.get(order)}
    )


def contraction(operation: ir.Operation, maps: list[ir.AffineMap]) -> ir.Value:
    """`sum over k of a[i, k] b[k, j]` for any order of dimensions of the operands."""
    left, right, out = operation.operands
    _zero(out)
    a, b, c = (_dims(m) for m in maps)
    if a is None or b is None or c is None:
        raise LoweringError(f"a contraction with strides: {operation.results[0].type}")
    if any(d in a and d in b for d in c):
        # The compiler of ascendnpu-ir 1.2.0 drops the results of products of slices.
        raise LoweringError("a product with a batch dimension: lower one matrix at a time")
    rows = [d for d in c if d in a and d not in b]
    columns = [d for d in c if d in b and d not in a]
    summed = [d for d in a if d in b and d not in c]
    if len(rows) != 1 or len(columns) != 1 or len(summed) != 1:
        raise LoweringError(
            f"a contraction of {len(rows)} row, {len(columns)} column and {len(summed)} summed "
            "dimensions: reshape to one of each"
        )
    left = _transpose(left, [a.index(d) for d in rows + summed])
    right = _transpose(right, [b.index(d) for d in summed + columns])
    if c != rows + columns:
        raise LoweringError("a contraction whose result is transposed")
    return _product(left, right, out)


def _product(left: ir.Value, right: ir.Value, out: ir.Value) -> ir.Value:
    """A matrix product; of halves it is summed in single precision, the cube knows no other."""
    return _narrow(_wide_product(left, right, list(ir.RankedTensorType(out.type).shape)), out.type)


def _zero(out: ir.Value) -> None:
    """A product starts from zero: what jax lowers does."""
    fill = getattr(out.owner, "operation", None)
    if fill is None or fill.name != "linalg.fill":
        raise LoweringError(f"a product that adds to a tensor: {out.type}")


def _wide_product(left: ir.Value, right: ir.Value, shape: list[int]) -> ir.Value:
    f32 = ir.F32Type.get()
    zero = create("arith.constant", [f32], [], {"value": ir.FloatAttr.get(f32, 0.0)})
    empty = create("tensor.empty", [shaped(f32, shape)], [])
    segments = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1])}
    return _matmul(left, right, structured("linalg.fill", zero, empty, segments))


def _narrow(value: ir.Value, kind: ir.Type) -> ir.Value:
    return value if value.type == kind else create("arith.truncf", [kind], [value])


def _matmul(left: ir.Value, right: ir.Value, out: ir.Value) -> ir.Value:
    i32 = ir.DenseI32ArrayAttr.get([2, 1])
    operation = ir.Operation.create(
        "linalg.matmul",
        results=[out.type],
        operands=[left, right, out],
        attributes={"operandSegmentSizes": i32},
        regions=1,
    )
    elements = [ir.RankedTensorType(v.type).element_type for v in (left, right, out)]
    body = operation.regions[0].blocks.append(*elements)
    x, y, total = body.arguments
    with ir.InsertionPoint(body):
        if elements[0] != elements[2]:
            x = create("arith.extf", [elements[2]], [x])
            y = create("arith.extf", [elements[2]], [y])
        product = create("arith.mulf", [elements[2]], [x, y])
        total = create("arith.addf", [elements[2]], [total, product])
        ir.Operation.create("linalg.yield", operands=[total])
    return operation.results[0]


def accumulate(operation: ir.Operation) -> None:
    """A product of halves: see `_product`."""
    left, right, out = operation.operands
    _zero(out)
    if str(ir.RankedTensorType(out.type).element_type) in ("f16", "bf16"):
        with ir.InsertionPoint(operation):
            replacement = _product(left, right, out)
        operation.results[0].replace_all_uses_with(replacement)
        operation.erase()


def with_vector(operation: ir.Operation) -> None:
    """Products with a vector, on the vector unit: multiply, then sum."""
    left, right, out = operation.operands
    summed = {"linalg.dot": 0, "linalg.matvec": 1, "linalg.vecmat": 0}[operation.name]
    matrix = max((left, right), key=lambda v: ir.RankedTensorType(v.type).rank)
    kind = ir.RankedTensorType(matrix.type)
    result = ir.RankedTensorType(out.type)
    with ir.InsertionPoint(operation):
        factors = []
        for value in (left, right):
            if ir.RankedTensorType(value.type).rank < kind.rank:
                empty = create("tensor.empty", [shaped(kind.element_type, list(kind.shape))], [])
                other = {"dimensions": ir.DenseI64ArrayAttr.get([1 - summed])}
                value = structured("linalg.broadcast", value, empty, other)
            if kind.element_type != result.element_type:
                wide = shaped(result.element_type, list(kind.shape))
                value = create("arith.extf", [wide], [value])
            factors.append(value)
        product = create("arith.mulf", [factors[0].type], factors)
        total = ir.Operation.create(
            "linalg.reduce",
            results=[out.type],
            operands=[product, out],
            attributes={"dimensions": ir.DenseI64ArrayAttr.get([summed])},
            regions=1,
        )
        body = total.regions[0].blocks.append(result.element_type, result.element_type)
        with ir.InsertionPoint(body):
            sum_ = create("arith.addf", [result.element_type], list(body.arguments))
            ir.Operation.create("linalg.yield", operands=[sum_])
    operation.results[0].replace_all_uses_with(total.results[0])
    operation.erase()
