"""Parameters written by index, rows replaced in a copy, segments, and lookups of embeddings."""

from tests.ops.table import Case, f32, i32, lit

P = "p = ms.Parameter(a * 1, name='p'); "
X = f32(4, 3)
ROWS = lit([2, 0, 2], "i32")
U = f32(3, 3)
N = lit([[1, 0], [3, 2], [1, 0]], "i32")
V = f32(3, lo=0.5)
SEG = lit([0, 0, 2, 2], "i32")
UNS = lit([2, 0, 0, -1], "i32")
WRITE = {"graph": False, "grad": False}


def written(call: str) -> str:
    """Give a face that writes a Parameter and reads both it and the result."""
    return P + f"r = {call}; return p * 1, r * 1"


def scatter(kind: str) -> list[Case]:
    """Give the rows of one ``scatter_*`` and ``scatter_nd_*``."""
    name = kind.capitalize()
    return [
        Case(f"scatter_{kind}", [f32(4, 3, lo=0.5), ROWS, f32(3, 3, lo=0.5)], written(f"ops.scatter_{kind}(p, b, c)"), written(f"ops.Scatter{name}()(p, b, c)"), dtypes="f16 f64 i32", **WRITE),
        Case(f"scatter_nd_{kind}", [f32(4, 3, lo=0.5), N, V], written(f"ops.scatter_nd_{kind}(p, b, c)"), written(f"ops.ScatterNd{name}()(p, b, c)"), dtypes="f64 i32", **WRITE),
    ]


def segments(kind: str) -> list[Case]:
    """Give the rows of one unsorted reduction."""
    name = kind.capitalize()
    call = f"ops.unsorted_segment_{kind}"
    return [
        Case(f"unsorted_{kind}", [X, SEG], f"{call}(a, b, 4)", f"ops.UnsortedSegment{name}()(a, b, 4)", f"a.unsorted_segment_{kind}(b, 4)", dtypes="f16 f64 i32 i64 u8"),
        Case(f"unsorted_{kind}_negative", [X, UNS], f"{call}(a, b, 3)"),
        Case(f"unsorted_{kind}_2d", [f32(2, 2, 2), lit([[0, 1], [1, 1]], "i32")], f"{call}(a, b, 2)"),
        Case(f"unsorted_{kind}_count_error", [X, SEG], f"{call}(a, b, 0)", raises=True),
        Case(f"unsorted_{kind}_range_error", [X, lit([0, 9, 2, 2], "i32")], f"{call}(a, b, 4)", raises=True),
        Case(f"unsorted_{kind}_shape_error", [X, lit([0, 1], "i32")], f"{call}(a, b, 4)", raises=True),
    ]


CASES = [
    *scatter("mul"),
    *scatter("div"),
    *scatter("max"),
    *scatter("min"),
    Case("scatter_nd_add", [X, N, V], written("ops.scatter_nd_add(p, b, c)"), written("ops.ScatterNdAdd()(p, b, c)"), dtypes="f64 i32", **WRITE),
    Case("scatter_nd_sub", [X, N, V], written("ops.scatter_nd_sub(p, b, c)"), written("ops.ScatterNdSub()(p, b, c)"), dtypes="f64 i32", **WRITE),
    Case("scatter_nd_update", [X, lit([[1], [3]], "i32"), f32(2, 3)], written("ops.scatter_nd_update(p, b, c)"), written("ops.ScatterNdUpdate()(p, b, c)"), dtypes="f64 i32", **WRITE),
    Case("scatter_nd_tensor", [X, N, V], "ops.scatter_nd_add(a, b, c); return a", "return ops.scatter_nd_add(a, b, c)", **WRITE),
    Case("scatter_nd_empty", [X, lit([], "i32"), f32(0)], written("ops.scatter_nd_add(p, ops.reshape(b, (0, 2)), c)"), math="(a, a)", judge="math", **WRITE),
    Case("scatter_nd_nan", [X, N, lit([float("nan"), 1.0, 2.0])], written("ops.scatter_nd_max(p, b, c)"), math="(lambda y: (y, y))(np.array([[a[i, j] if (i, j) not in ((1, 0), (3, 2)) else (np.nan if (i, j) == (1, 0) else max(a[3, 2], 1.0)) for j in range(3)] for i in range(4)]))", judge="math", **WRITE),
    Case("scatter_non_aliasing", [X, N, V], written("ops.ScatterNonAliasingAdd()(p, b, c)"), math="[(lambda y: (np.add.at(y, tuple(b.astype(int).T), c), (y, y))[1])(a.copy())][0]", **WRITE),
    Case("scatter_2d", [f32(4), lit([[0, 1], [1, 3]], "i32"), f32(2, 2)], written("ops.scatter_max(p, b, c)"), **WRITE),
    Case("scatter_shape_error", [X, ROWS, f32(2, 3)], written("ops.scatter_mul(p, b, c)"), raises=True, grad=False),
    Case("scatter_range_error", [X, lit([9], "i32"), f32(1, 3)], written("ops.scatter_max(p, b, c)"), raises=True, grad=False),
    Case("scatter_nd_range_error", [X, lit([[9]], "i32"), f32(1, 3)], written("ops.scatter_nd_add(p, b, c)"), raises=True, grad=False),
    Case("scatter_nd_rank_error", [X, lit([1], "i32"), f32(3)], written("ops.scatter_nd_add(p, b, c)"), raises=True, grad=False),
    Case("inplace_add", [X, f32(2, 3)], "ops.inplace_add(a, b, (0, 2))", "ops.InplaceAdd((0, 2))(a, b)", dtypes="f16 i32", grad=False),
    Case("inplace_add_same", [X, f32(2, 3)], "ops.inplace_add(a, b, (1, 1))", grad=False),
    Case("inplace_sub", [X, f32(1, 3)], "ops.inplace_sub(a, b, 1)", "ops.InplaceSub(1)(a, b)", "ops.InplaceSub((1,))(a, b)", dtypes="f16 i32", grad=False),
    Case("inplace_update", [X, f32(2, 3)], "ops.inplace_update(a, b, (0, 2))", "ops.InplaceUpdateV2()(a, (0, 2), b)", "ops.InplaceUpdate((0, 2))(a, b)", "a.inplace_update(b, (0, 2))", dtypes="f16 i32", grad=False),
    Case("inplace_update_tensor", [X, f32(2, 3), lit([0, 2], "i32")], "ops.inplace_update(a, b, c)", grad=False),
    Case("inplace_add_gradient", [X, f32(2, 3)], "ops.inplace_sub(a, b, (0, 2)) * 1", math="a - np.array([[1, 0], [0, 0], [0, 1], [0, 0]]) @ b", judge="math"),
    Case("inplace_keeps", [X, f32(2, 3)], "ops.inplace_add(a, b, (0, 2)); return a * 1"),
    Case("inplace_range_error", [X, f32(1, 3)], "ops.inplace_sub(a, b, 7)", raises=True),
    Case("inplace_negative_error", [X, f32(1, 3)], "ops.inplace_sub(a, b, -1)", raises=True),
    Case("inplace_size_error", [X, f32(1, 3)], "ops.inplace_add(a, b, (0, 1))", raises=True),
    Case("inplace_dtype_error", [X, i32(2, 3)], "ops.inplace_add(a, b, (0, 1))", raises=True),
    Case("inplace_index_add", [X, lit([0, 0], "i32"), f32(4, 2)], written("ops.inplace_index_add(p, b, c, 1)"), written("ops.InplaceIndexAdd(1)(p, b, c)"), dtypes="f64 i32", **WRITE),
    Case("inplace_index_add_axis_error", [X, lit([0, 0], "i32"), f32(4, 2)], written("ops.inplace_index_add(p, b, c, 5)"), raises=True, grad=False),
    Case("index_fill", [X, lit([0, 2], "i32")], "ops.IndexFill()(a, 1, b, Tensor(4.0, a.dtype))", "ops.index_fill(a, 1, b, 4.0)", dtypes="f16 f64"),
    Case("index_put", [X, lit([0.5, 1.5, 2.5]), lit([0, 2], "i32")], "ops.IndexPut()(a, b, (c,))", "a.index_put((c,), b)", grad=False),
    Case("index_put_add", [X, lit([3.0]), lit([0, 0], "i32"), lit([1, 1], "i32")], "ops.IndexPut(1)(a, b, [c, d])", "ops.IndexPut(accumulate=1)(a, b, (c, d))", grad=False),
    Case("index_put_error", [X, lit([3.0]), lit([0, 0], "i32")], "ops.IndexPut(2)(a, b, (c,))", raises=True),
    Case("put", [X, lit([0, 5], "i64"), lit([7.0, 8.0])], "ops.put_(a, b, c); return a", "a.put_(b, c); return a", math="np.where(np.arange(12).reshape(4, 3) == 0, 7.0, np.where(np.arange(12).reshape(4, 3) == 5, 8.0, a))", judge="math", **WRITE),
    Case("scatter_add_axis", [f32(3, 2), lit([[0], [1], [1]], "i32"), f32(3, 1)], "ops.ScatterAddWithAxis(1)(a, b, c)", dtypes="f64 i32", grad=False),
    *segments("max"),
    *segments("min"),
    *segments("prod"),
    Case("unsorted_prod_zero", [lit([[0.0, 2.0], [3.0, 0.0], [0.0, 5.0], [1.0, 1.0]]), lit([0, 0, 0, 1], "i32")], "ops.unsorted_segment_prod(a, b, 2)", math="np.array([[0.0, 0.0], [1.0, 1.0]]) * 0 + np.array([np.prod(a[:3], 0), a[3]])", judge="math"),
    Case("unsorted_max_bool_error", [lit([True, False], "bool"), lit([0, 0], "i32")], "ops.unsorted_segment_max(a, b, 2)", raises=True),
    Case("unsorted_prod_empty", [f32(0, 2), lit([], "i32")], "ops.unsorted_segment_prod(a, b, 2)", math="np.ones((2, 2))", judge="math"),
    Case("tensor_index", [X, lit([0, 2], "i64"), lit([1, 1], "i64")], "a.index((b, c))", "a[b, c]"),
    Case("segment_sum", [X, SEG], "ops.SegmentSum()(a, b)", dtypes="f16 f64 i32 i64", graph=False),
    Case("segment_mean", [X, SEG], "ops.SegmentMean()(a, b)", dtypes="f16 f64 i32", graph=False),
    Case("segment_prod", [X, SEG], "ops.SegmentProd()(a, b)", dtypes="f64 i32", graph=False, grad=False),
    Case("segment_max", [X, SEG], "ops.SegmentMax()(a, b)", dtypes="f16 f64 i32", graph=False, grad=False),
    Case("segment_min", [X, SEG], "ops.SegmentMin()(a, b)", dtypes="f64 i32 u8", graph=False, grad=False),
    Case("segment_order_error", [X, lit([1, 0, 2, 2], "i32")], "ops.SegmentSum()(a, b)", raises=True),
    Case("segment_negative_error", [X, lit([-1, 0, 2, 2], "i32")], "ops.SegmentMax()(a, b)", raises=True),
    Case("segment_size_error", [X, lit([0, 1], "i32")], "ops.SegmentMean()(a, b)", raises=True),
    Case("sparse_segment_mean", [X, lit([0, 3, 1], "i32"), lit([0, 0, 2], "i32")], "ops.sparse_segment_mean(a, b, c)", dtypes="f16 f64", graph=False),
    Case("sparse_segment_order_error", [X, lit([0, 3, 1], "i32"), lit([1, 0, 2], "i32")], "ops.sparse_segment_mean(a, b, c)", raises=True),
    Case("map_uniform", [lit([0, 1, 2, 3, 4, 5, 6, 7], "i32")], "ops.MapUniform()(a, 4, 2)", dtypes=""),
    Case("sub_and_filter", [lit([1, 3, 5, 8, 9, 16], "i32")], "ops.SubAndFilter()(a, 10, 5)", graph=False),
    Case("sparse_gather", [X, ROWS], "ops.SparseGatherV2()(a, b, 0)", math="a[b.astype(int)]"),
    Case("assert_true", [X], "ops.Assert()(True, (a,)); return a * 1", graph=False, grad=False),
    Case("assert_false", [X], "ops.Assert(2)(Tensor(False), [a]); return a * 1", raises=True),
    Case("assert_data_error", [X], "ops.Assert()(True, a); return a * 1", raises=True),
]
