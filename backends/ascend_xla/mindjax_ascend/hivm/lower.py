"""StableHLO to linalg on tensors, in the form that `bishengir-compile` accepts.

jaxlib's own passes do the legalisation; what they leave (calls, `linalg.map`, `linalg.generic`) is
rewritten here. A program that needs anything else is refused with the name of the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import stablehlo

from . import forms
from .build import LoweringError, create, shaped, structured
from .products import accumulate, contraction, with_vector

_PASSES = (
    "builtin.module(func.func(chlo-legalize-to-stablehlo),"
    "stablehlo-legalize-to-linalg{enable-primitive-ops=true},canonicalize,cse,symbol-dce)"
)

# What the compiler takes on tensors as it stands (measured with ascendnpu-ir 1.2.0).
_KEPT = frozenset(
    [
        "arith.constant",
        "func.return",
        *(f"tensor.{n}" for n in ("empty", "extract_slice", "insert_slice", "concat")),
        *(f"tensor.{n}" for n in ("collapse_shape", "expand_shape")),
        *(f"linalg.{n}" for n in ("fill", "broadcast", "transpose", "matmul", "reduce")),
    ]
)


def lower(function: Callable[..., Any], *args: Any, name: str = "kernel") -> str:
    """Lower a jax function for the shapes of its arguments.

    Args:
        function: A function of arrays that `jax.jit` takes.
        *args: Arrays or `jax.ShapeDtypeStruct`s, one for each argument.
        name: The name of the device function.

    Returns:
        The text of an MLIR module with one device function.

    Raises:
        LoweringError: An operation of the program is not covered.
    """
    return lower_module(_stablehlo(function, args), name=name)


def lower_blocks(
    function: Callable[..., Any],
    blocks: int,
    *args: Any,
    split: Sequence[bool] | None = None,
    name: str = "kernel",
) -> str:
    """Lower a jax function that each of several blocks runs on rows of its own.

    Args:
        function: A function of what one block gets: the rows of the arguments that are split, the
            others whole. Its results are the rows of the block.
        blocks: The number of blocks; `Program.run` takes it too.
        *args: Arrays or `jax.ShapeDtypeStruct`s of the whole arguments.
        split: For each argument, whether its first dimension is split; all are by default.
        name: The name of the device function.

    Returns:
        The text of an MLIR module with one device function.

    Raises:
        LoweringError: An operation of the program is not covered.
        ValueError: The rows of an argument are no multiple of the blocks.
    """
    import jax

    cut = tuple(split) if split is not None else (True,) * len(args)
    parts = []
    for number, (argument, by_rows) in enumerate(zip(args, cut, strict=True)):
        shape = list(argument.shape)
        if by_rows:
            if not shape or shape[0] % blocks:
                raise ValueError(
                    f"argument {number} has shape {tuple(shape)}: its rows are no multiple of "
                    f"{blocks} blocks"
                )
            shape[0] //= blocks
        parts.append(jax.ShapeDtypeStruct(shape, argument.dtype))
    return lower_module(_stablehlo(function, parts), name=name, blocks=blocks, split=cut)


def _stablehlo(function: Callable[..., Any], args: Sequence[Any]) -> ir.Module:
    import jax

    module = jax.jit(function, keep_unused=True).lower(*args).compiler_ir("stablehlo")
    assert module is not None  # this dialect is the one jax lowers to
    return module


def lower_module(
    module: ir.Module, name: str = "kernel", blocks: int = 1, split: Sequence[bool] = ()
) -> str:
    """Lower a StableHLO module with static shapes, whose entry is `main`.

    Args:
        module: The module; it is changed in place.
        name: The name of the device function.
        blocks: The number of blocks that run it, each on rows of its own.
        split: For each argument, whether the module has the rows of one block.

    Returns:
        The text of an MLIR module with one device function.

    Raises:
        LoweringError: An operation of the program is not covered.
    """
    stablehlo.register_stablehlo_passes()
    context = module.context
    context.allow_unregistered_dialects = True
    with context, ir.Location.unknown():
        main = inline(module)
        for function in list(module.body.operations):
            if function.operation != main:
                function.operation.erase()
        try:
            passmanager.PassManager.parse(_PASSES).run(module.operation)
        except ir.MLIRError as error:
            raise LoweringError(f"StableHLO has no linalg form: {_first_line(error)}") from None
        main = _entry(module)
        block = main.regions[0].blocks[0]
        while _fold(block):
            passmanager.PassManager.parse("builtin.module(canonicalize)").run(module.operation)
        _rewrite(block)
        passmanager.PassManager.parse("builtin.module(canonicalize,cse)").run(module.operation)
        _check(block)
        returned = list(block.operations)[-1].operands
        for number, value in enumerate(returned):
            if isinstance(value.owner, ir.Block) and len(list(value.uses)) > 1:
                # ascendnpu-ir 1.2.0 then lets the vector unit work on global memory.
                raise LoweringError(f"result {number} is an argument that the program uses too")
        signature = forms.Signature(
            name, [str(a.type) for a in block.arguments], [str(v.type) for v in returned]
        )
        if blocks > 1 or any(o.operation.name == "linalg.matmul" for o in block.operations):
            cut = tuple(split) or (False,) * len(signature.inputs)
            return forms.tile(str(module), signature, blocks, cut)
        return forms.fused(str(module), signature)


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if "error:" in line] or [str(error)]
    return lines[0].split("error:")[-1].strip()


def _entry(module: ir.Module) -> ir.Operation:
    for operation in module.body.operations:
        if ir.StringAttr(operation.attributes["sym_name"]).value == "main":
            return operation.operation
    raise LoweringError("The module has no function main")


# --- calls -------------------------------------------------------------------------------------


def inline(module: ir.Module) -> ir.Operation:
    """Replace each call in `main`, which is returned, by the body of what it calls."""
    functions = {
        ir.StringAttr(f.attributes["sym_name"]).value: f.operation for f in module.body.operations
    }
    main = functions["main"]
    changed = True
    while changed:
        changed = False
        for block in _blocks(main):
            for operation in list(block.operations):
                if operation.operation.name == "func.call":
                    callee = ir.FlatSymbolRefAttr(operation.attributes["callee"]).value
                    _inline_one(operation.operation, functions[callee])
                    changed = True
    return main


def _blocks(operation: ir.Operation) -> list[ir.Block]:
    found = []
    for region in operation.regions:
        for block in region.blocks:
            found.append(block)
            for inner in block.operations:
                found += _blocks(inner.operation)
    return found


def _inline_one(call: ir.Operation, function: ir.Operation) -> None:
    block = function.regions[0].blocks[0]
    values: dict[ir.Value, ir.Value] = dict(zip(block.arguments, call.operands, strict=True))
    point = ir.InsertionPoint(call)
    for operation in block.operations:
        if operation.operation.name == "func.return":
            for result, value in zip(call.results, operation.operands, strict=True):
                result.replace_all_uses_with(values[value] if value in values else value)  # noqa: SIM401
            break
        copy = operation.operation.clone(point)
        _remap(copy, values)
        values.update(zip(operation.operation.results, copy.results, strict=True))
    call.erase()


def _remap(operation: ir.Operation, values: dict[ir.Value, ir.Value]) -> None:
    for index, value in enumerate(operation.operands):
        if value in values:
            operation.operands[index] = values[value]
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                _remap(inner.operation, values)


# --- what the legalisation leaves --------------------------------------------------------------


def _rewrite(block: ir.Block) -> None:
    for view in list(block.operations):
        operation = view.operation
        handler = _REWRITES.get(operation.name)
        if handler is not None:
            handler(operation)


def _fold(block: ir.Block) -> bool:
    """Write maps of constants of rank 0 as scalar operations, which fold into constants."""
    changed = False
    for view in list(block.operations):
        operation = view.operation
        if operation.name != "linalg.map":
            continue
        kind = ir.RankedTensorType(operation.results[0].type)
        inputs = list(operation.operands)[:-1]
        owners = [getattr(v.owner, "operation", None) for v in inputs]
        if kind.rank or not all(o is not None and o.name == "arith.constant" for o in owners):
            continue
        body = operation.regions[0].blocks[0]
        with ir.InsertionPoint(operation):
            values: dict[ir.Value, ir.Value] = {}
            for argument, value in zip(body.arguments, inputs, strict=False):
                element = ir.RankedTensorType(value.type).element_type
                values[argument] = create("tensor.extract", [element], [value])
            for inner in body.operations:
                if inner.operation.name == "linalg.yield":
                    value = inner.operation.operands[0]
                    scalar = values[value] if value in values else value  # noqa: SIM401
                    result = create("tensor.from_elements", [operation.results[0].type], [scalar])
                    break
                copy = inner.operation.clone()
                _remap(copy, values)
                values.update(zip(inner.operation.results, copy.results, strict=True))
            else:
                raise LoweringError("linalg.map without a yield")
        operation.results[0].replace_all_uses_with(result)
        operation.erase()
        changed = True
    return changed


def _splat(value: ir.Value, shape: list[int]) -> ir.Value:
    """A scalar constant, or the element of a tensor of rank 0, over a whole tensor."""
    owner = getattr(value.owner, "operation", None)  # a block has none
    target = shaped(value.type, shape)
    if owner is not None and owner.name == "arith.constant":
        dense = ir.DenseElementsAttr.get_splat(target, owner.attributes["value"])
        return create("arith.constant", [target], [], {"value": dense})
    raise LoweringError(
        f"a scalar that is computed at run time: {str(value).splitlines()[0][:120]}"
    )


def _map(operation: ir.Operation) -> None:
    """An elementwise `linalg.map`: each operation of its body on whole tensors."""
    result = ir.RankedTensorType(operation.results[0].type)
    shape = list(result.shape)
    body = operation.regions[0].blocks[0]
    inputs = list(operation.operands)[:-1]
    values: dict[ir.Value, ir.Value] = dict(zip(body.arguments, inputs, strict=False))
    with ir.InsertionPoint(operation):
        replacement = _elementwise(body, values, shape, operation)
    operation.results[0].replace_all_uses_with(replacement)
    operation.erase()


def _elementwise(
    body: ir.Block, values: dict[ir.Value, ir.Value], shape: list[int], whole: ir.Operation
) -> ir.Value:
    indices: set[ir.Value] = set()
    for view in body.operations:
        inner = view.operation
        if inner.name == "linalg.yield":
            value = inner.operands[0]
            return values[value] if value in values else _splat(value, shape)
        if inner.name == "linalg.index":
            dimension = ir.IntegerAttr(inner.attributes["dim"]).value
            values[inner.results[0]] = _positions(shape, dimension)
            indices.add(inner.results[0])
            continue
        if inner.name in ("arith.index_cast", "arith.trunci") and inner.operands[0] in indices:
            # Positions have 32 bits from the start.
            values[inner.results[0]] = values[inner.operands[0]]
            indices.add(inner.results[0])
            continue
        if not inner.name.startswith(("arith.", "math.")):
            raise LoweringError(f"{inner.name} inside {whole.name} on {whole.results[0].type}")
        operands = [values[v] if v in values else _splat(v, shape) for v in inner.operands]
        values[inner.results[0]] = create(
            inner.name,
            [shaped(inner.results[0].type, shape)],
            operands,
            {name: inner.attributes[name] for name in inner.attributes},
        )
    raise LoweringError(f"{whole.name} without a yield")


def _positions(shape: list[int], dimension: int) -> ir.Value:
    """The index along one dimension, as the compiler's own `hfusion.arange` of 32 bits."""
    i32 = ir.IntegerType.get_signless(32)
    index = ir.IndexType.get()
    line = shaped(i32, [shape[dimension]])

    def scalar(value: int) -> ir.Value:
        return create("arith.constant", [index], [], {"value": ir.IntegerAttr.get(index, value)})

    empty = create("tensor.empty", [line], [])
    positions = create("hfusion.arange", [line], [scalar(0), scalar(1), empty])
    if len(shape) == 1:
        return positions
    target = shaped(i32, shape)
    others = [k for k in range(len(shape)) if k != dimension]
    return structured(
        "linalg.broadcast",
        positions,
        create("tensor.empty", [target], []),
        {"dimensions": ir.DenseI64ArrayAttr.get(others)},
    )


def _generic(operation: ir.Operation) -> None:
    """A contraction or an elementwise operation that came as `linalg.generic`."""
    maps = [ir.AffineMapAttr(a).value for a in ir.ArrayAttr(operation.attributes["indexing_maps"])]
    body = operation.regions[0].blocks[0]
    names = [inner.operation.name for inner in body.operations]
    with ir.InsertionPoint(operation):
        if names in (
            ["arith.mulf", "arith.addf", "linalg.yield"],
            ["arith.extf", "arith.extf", "arith.mulf", "arith.addf", "linalg.yield"],
        ):
            replacement = contraction(operation, maps)
        else:
            raise LoweringError(
                f"linalg.generic of {', '.join(names[:-1])} to {operation.results[0].type}"
            )
    operation.results[0].replace_all_uses_with(replacement)
    operation.erase()


_REWRITES: dict[str, Callable[[ir.Operation], None]] = {
    "linalg.map": _map,
    "linalg.generic": _generic,
    "linalg.matmul": accumulate,
    "linalg.dot": with_vector,
    "linalg.matvec": with_vector,
    "linalg.vecmat": with_vector,
}


# --- what is left ---------------------------------------------------------------------------


def _check(block: ir.Block) -> None:
    for view in block.operations:
        operation = view.operation
        name = operation.name
        if name == "tensor.extract_slice":
            steps = list(ir.DenseI64ArrayAttr(operation.attributes["static_strides"]))
            if any(step != 1 for step in steps[:-1]) or steps[-1:] not in ([], [1], [2]):
                # ascendnpu-ir 1.2.0 drops such steps without a word.
                raise LoweringError(f"a slice with steps {steps}: along columns, by 2, is covered")
        if name in _KEPT or name.startswith(("arith.", "math.", "hfusion.")):
            continue
        first = str(operation).splitlines()[0]
        raise LoweringError(f"{name} has no form for the compiler: {first[:120]}")
