"""Python's operators, containers and choices, as graph code names them."""

from tests.ops.table import Case, f32, lit

X = f32(3)
AB = [f32(3), f32(3)]


def value(name: str, *faces: str, **options: object) -> Case:
    """Give a case without inputs."""
    return Case(name, [], *faces, **options)


CASES = [
    value("add", "ops.scalar_add(1, 2)", "1 + 2"),
    value("sub", "ops.scalar_sub(1, 2.5)", "1 - 2.5"),
    value("mul", "ops.scalar_mul(3, 2)", "3 * 2"),
    value("div", "ops.scalar_div(1, 2)", "1 / 2"),
    value("floordiv", "ops.scalar_floordiv(7, -2)", "7 // -2", graph=False),
    value("mod", "ops.scalar_mod(-7, 3)", "-7 % 3"),
    value("pow", "ops.scalar_pow(2, 3)", "2**3"),
    value("pow_negative", "ops.scalar_pow(2, -1)"),
    value("compare", "ops.scalar_eq(1, 1.0), ops.scalar_lt(1, 2), ops.scalar_le(2, 2), ops.scalar_gt(1, 2), ops.scalar_ge(1, 2)", "1 == 1.0, 1 < 2, 2 <= 2, 1 > 2, 1 >= 2"),
    value("log", "ops.scalar_log(2.0)", "ops.scalar_log(2)"),
    value("max_min", "ops.scalar_max(1, 2.5), ops.scalar_min(1, 2.5)", "2.5, 1"),
    value("unary", "ops.scalar_uadd(-3), ops.scalar_usub(3)", "-3, -3"),
    value("div_zero_error", "ops.scalar_div(1, 0)", raises=True),
    value("floordiv_zero_error", "ops.scalar_floordiv(1, 0)", raises=True),
    value("mod_zero_error", "ops.scalar_mod(1, 0)", raises=True),
    value("log_error", "ops.scalar_log(-1.0)", raises=True),
    value("add_error", "ops.scalar_add(1, 'a')", raises=True),
    value("cast", "ops.scalar_cast(3.7, ms.int64)", "ops.ScalarCast()(3.7, ms.int64)", "int(3.7)"),
    value("cast_float", "ops.scalar_cast(3, ms.float64)", "float(3)"),
    value("cast_bool", "ops.scalar_cast(3, ms.bool_)", "bool(3)"),
    value("cast_error", "ops.scalar_cast(3, ms.float32)", raises=True),
    value("cast_text_error", "ops.scalar_cast('a', ms.int64)", raises=True),
    value("tuple_items", "ops.tuple_len((1, 2)), ops.tuple_getitem((1, 2), 1), ops.tuple_setitem((1, 2), -1, 7), ops.tuple_reversed((1, 2))", "2, 2, (1, 7), (2, 1)"),
    value("tuple_compare", "ops.tuple_equal((1, 2), (1, 2)), ops.tuple_equal((1,), (1, 2)), ops.list_equal([1], [1])", "True, False, True"),
    value("tuple_div", "ops.tuple_div((4, 6), (2, 3))", "(2, 2)"),
    value("tuple_div_error", "ops.tuple_div((4, 7), (2, 2))", raises=True),
    value("tuple_item_error", "ops.tuple_getitem((1, 2), 5)", raises=True),
    value("list_items", "ops.list_getitem([1, 2], 1), ops.list_len([1])", "2, 1"),
    value("list_setitem", "ops.list_setitem([1, 2], 0, 5)", "[5, 2]"),
    value("dict_items", "ops.dict_getitem({'a': 1}, 'a'), ops.in_dict('a', {'a': 1}), ops.in_dict('b', {'a': 1}), ops.not_in_dict('b', {'a': 1})", "1, True, False, True"),
    value("ranges", "ops.make_range(1, 5), ops.make_range(5), ops.make_range(5, 1, -2)", "(1, 2, 3, 4), (0, 1, 2, 3, 4), (5, 3)"),
    value("made", "ops.make_tuple(1, 2), ops.make_list(1, 2)", "(1, 2), [1, 2]"),
    value("sameness", "ops.is_(None, None), ops.is_(1, None), ops.is_not(1, None)", "True, False, True"),
    value("shapes", "ops.shape_mul((2, 3)), ops.shape_mul(()), ops.reduced_shape((2, 3), (0,)), ops.reduced_shape((2, 3), ()), ops.reduced_shape((2, 3, 4), (-1, 0)), ops.reduced_shape((2, 3), 1)", "6, 1, (1, 3), (1, 1), (1, 3, 1), (2, 1)"),
    value("broadcast_axes", "ops.broadcast_gradient_args((2, 3), (3,)), ops.broadcast_gradient_args((2, 1, 3), (4, 3)), ops.broadcast_gradient_args((1,), (1,))", "((), (0,)), ((1,), (0,)), ((), ())"),
    value("broadcast_axes_error", "ops.broadcast_gradient_args((2,), (3,))", raises=True),
    value("known", "ops.isconstant(1), ops.is_sequence_shape_unknown((1, 2)), ops.is_sequence_value_unknown((1, 2)), ops.is_tensor_bool_cond(Tensor(True))", "True, False, False, True", graph=False),
    value("condition_error", "ops.is_tensor_bool_cond(Tensor([1, 2]))", raises=True),
    value("types", "ops.typeof(1) == ms.int64, ops.typeof(1.0) == ms.float32, ops.typeof(True) == ms.bool_", "True, True, True", graph=False),
    value("hastype", "ops.hastype(1, ms.int64), ops.hastype(1, ms.int32), ops.hastype(1.0, ms.float32), ops.hastype(True, ms.bool_)", "True, False, True, True", graph=False),
    Case("hastype_tensor", [X], "ops.hastype(a, ms.float32), ops.typeof(a) == ops.typeof(a * 2), ops.typeof(a).element_type() == ms.float32", "False, True, True", grad=False, graph=False),
    value("enum", "ops.DtypeToEnum()('op', 'arg', ms.float32), ops.DtypeToEnum()('op', 'arg', ms.int64), ops.DtypeToEnum()('op', 'arg', ms.bfloat16), ops.DtypeToEnum()('op', 'arg', ms.bool_), ops.DtypeToEnum()('op', 'arg', ms.complex128), ops.DtypeToEnum()('op', 'arg', ms.uint8)", "43, 35, 45, 30, 52, 37"),
    value("enum_error", "ops.DtypeToEnum()('op', 'arg', None)", raises=True),
    value("data_types", "len([n for n in dir(ops.DataType) if n[0] != '_']), ops.DataType.F32_Default, ops.DataType.None_None, ops.DataType.I8_NC1HWC0, ops.DataType.F16_FracZNLSTM, ops.DataType.C64_Default_Tuple", graph=False),
    value("switch", "ops.switch(True, 1, 2)", "1"),
    value("slices", "ops.make_slice(1, 2, 3)", "slice(1, 2, 3)", graph=False),
    Case("hyper_add", AB, "ops.hyper_add((a, b), (b, a))", "a + b, b + a"),
    Case("hyper_add_one", AB, "ops.hyper_add(a, b)", "ops.augassign_add(a, b)", "a + b"),
    value("hyper_add_numbers", "ops.hyper_add(1, 2), ops.augassign_div(1, 2), ops.augassign_mod(7, 4), ops.augassign_sub(1, 2), ops.augassign_mul(2, 3)", "3, 0.5, 3, -1, 6"),
    value("hyper_add_none_error", "ops.hyper_add(None, None)", raises=True),
    Case("mixed_precision", [X], "ops.mixed_precision_cast(ms.float16, a)", "a.astype(ms.float16)", grad=False),
    Case("mixed_precision_tree", [X, lit([1, 2], "i32")], "ops.mixed_precision_cast(ms.float16, (a, b))", "a.astype(ms.float16), b", grad=False),
    Case("aliases", [lit([7, -5], "i32")], "ops.floordiv(a, 2), ops.floormod(a, 4), ops.reshape_(a, (2, 1)), ops.tensor_slice(a, (1,), (1,))", "a // 2, a % 4, a.reshape(2, 1), a[1:]", graph=False),
    value("tensor_range", "ops.tensor_range(0, 5, 2)", "Tensor([0, 2, 4])"),
    Case("shape_alias", [X], "ops.shape_(a)", "a.shape", grad=False),
    Case("deepcopy", [X], "ops.deepcopy(a)", "a * 1"),
    value("deepcopy_error", "ops.deepcopy(3)", raises=True),
]
