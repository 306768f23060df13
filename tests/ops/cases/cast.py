"""Changing the dtype."""

from tests.ops.table import Case, f32, i32, lit

X = f32(2, 3, lo=-3.5, hi=3.5)
ODD = lit([1.9, -1.9, 0.5, -0.5, 300.0, 0.0])
NAMES = {"i8": "int8", "i32": "int32", "i64": "int64", "u8": "uint8", "f16": "float16", "f64": "float64", "bf16": "bfloat16", "bool": "bool_"}

CASES = [
    *(Case(f"cast_{short}", [X if short != "u8" else f32(2, 3, lo=0, hi=9)], f"ops.cast(a, ms.{name})", f"ops.Cast()(a, ms.{name})", f"a.astype(ms.{name})", f"a.to(ms.{name})", f"a.type(ms.{name})", dtypes="i32 f16" if short not in ("u8", "i8") else "", tol=(1e-2, 1e-2) if "f16" in short else None) for short, name in NAMES.items()),
    Case("cast_odd", [ODD], "ops.cast(a, ms.int32)", "a.int()", "ops.Cast()(a, ms.int32)"),
    Case("cast_same", [X], "ops.cast(a, ms.float32)", "a.astype(ms.float32)", "a.float()"),
    Case("float", [i32(2, 3)], "a.float()", "a.to(ms.float32)", "a.astype('float32')", "a.astype(np.float32)"),
    Case("half", [X], "a.half()", "a.to(ms.float16)", grad=False),
    Case("long", [X], "a.long()", "a.astype(ms.int64)", "a.to(ms.int64)"),
    Case("bool", [lit([0.0, 0.5, -1.0])], "a.bool()", "a.astype(ms.bool_)", "a != 0", grad=False),
    Case("int_number", [lit(3.7)], "int(a)", graph=False, grad=False),
    Case("float_number", [lit(3.5)], "float(a)", graph=False, grad=False),
    Case("type_as", [X, i32(2)], "a.type_as(b)", "ops.cast(a, b.dtype)", grad=False),
    Case("type_as_half", [X, lit([1.0], "f16")], "a.type_as(b)", "a.astype(b.dtype)", grad=False),
    Case("grad_through_half", [X], "a.astype(ms.float16).astype(ms.float32) * a"),
    Case("astype_copy", [X], "a.copy()", "a + 0"),
    Case("is_tensor", [X], "ops.is_tensor(a)", "isinstance(a, Tensor)", grad=False),
    Case("is_floating_point", [X], "ops.is_floating_point(a)", "a.is_floating_point()", grad=False, dtypes="i32 f16"),
    Case("is_complex", [X], "ops.is_complex(a)", grad=False),
    Case("complex_parts", [lit([1 + 2j, 3 - 1j], "c64")], "ops.real(a)", "ops.Real()(a)", "a.real()" ),
    Case("complex_imag", [lit([1 + 2j, 3 - 1j], "c64")], "ops.imag(a)", "ops.Imag()(a)"),
    Case("complex_abs", [lit([3 + 4j, 1j], "c64")], "ops.abs(a)"),
    Case("cast_error", [X], "ops.cast(a, 'nothing')", "a.astype('nothing')", raises=True),
]
