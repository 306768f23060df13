"""Gathering, scattering, sorting."""

from tests.ops.table import Case, f32, i32, lit, mask

X = f32(4, 5)
ROWS = lit([2, 0, 2], "i32")
E = lit([[0, 1], [3, 2]], "i32")
U = f32(2, 5)
D = lit([1, 3], "i32")
N = lit([[1], [3]], "i32")

CASES = [
    Case("gather", [X, ROWS], "ops.gather(a, b, 0)", "ops.Gather()(a, b, 0)", "a.gather(b, 0)", dtypes="f16 i32 bool"),
    Case("gather_axis", [X, ROWS], "ops.gather(a, b, 1)", "ops.Gather()(a, b, 1)", "ops.gather(a, b, -1)"),
    Case("gather_2d", [X, E], "ops.gather(a, b, 0)", "ops.Gather()(a, b, 0)"),
    Case("gather_batch", [f32(2, 4), lit([[0, 1], [3, 2]], "i32")], "ops.gather(a, b, 1, 1)", "ops.Gather(1)(a, b, 1)"),
    Case("gather_int64", [X, lit([3, 1], "i64")], "ops.gather(a, b, 0)"),
    Case("gather_elements", [X, i32(2, 5, lo=0, hi=4)], "ops.gather_elements(a, 0, b)", "ops.gather_d(a, 0, b)", "ops.GatherD()(a, 0, b)", "mint.gather(a, 0, b)", "a.gather_elements(0, b)", dtypes="f16"),
    Case("gather_elements_axis", [X, i32(4, 2, lo=0, hi=5)], "ops.gather_elements(a, 1, b)", "ops.GatherD()(a, 1, b)", "mint.gather(a, 1, b)", "ops.gather_elements(a, dim=-1, index=b)"),
    Case("gather_nd", [X, lit([[0, 1], [3, 4]], "i32")], "ops.gather_nd(a, b)", "ops.GatherNd()(a, b)", "a.gather_nd(b)"),
    Case("gather_nd_rows", [X, N], "ops.gather_nd(a, b)", "ops.GatherNd()(a, b)"),
    Case("take_along", [X, i32(4, 2, lo=0, hi=5)], "ops.gather_elements(a, 1, b)"),
    Case("masked_select", [X, mask(4, 5)], "ops.masked_select(a, b)", "mint.masked_select(a, b)", "a.masked_select(b)", "ops.MaskedSelect()(a, b)", graph=False),
    Case("masked_select_broadcast", [X, mask(5)], "ops.masked_select(a, b)", "a.masked_select(b)", graph=False),
    Case("scatter_nd", [N, U], "ops.scatter_nd(a, b, (4, 5))", "ops.ScatterNd()(a, b, (4, 5))"),
    Case("scatter_nd_add", [lit([[1], [1]], "i32"), U], "ops.scatter_nd(a, b, (3, 5))"),
    Case("tensor_scatter_update", [X, N, U], "ops.tensor_scatter_elements(a * 1, ops.broadcast_to(b, (2, 5)), c, 0)", "ops.TensorScatterUpdate()(a, b, c)"),
    Case("tensor_scatter_add", [X, lit([[1], [1]], "i32"), U], "ops.tensor_scatter_add(a, b, c)", "ops.TensorScatterAdd()(a, b, c)"),
    Case("tensor_scatter_sub", [X, N, U], "ops.tensor_scatter_sub(a, b, c)", "ops.TensorScatterSub()(a, b, c)"),
    Case("tensor_scatter_mul", [X, N, U], "ops.tensor_scatter_mul(a, b, c)", "ops.TensorScatterMul()(a, b, c)", grad=False),
    Case("tensor_scatter_max", [X, N, U], "ops.tensor_scatter_max(a, b, c)", "ops.TensorScatterMax()(a, b, c)", grad=False),
    Case("tensor_scatter_min", [X, N, U], "ops.tensor_scatter_min(a, b, c)", "ops.TensorScatterMin()(a, b, c)", grad=False),
    Case("scatter_elements", [f32(3, 3), lit([[0, 2, 1]], "i64"), f32(1, 3)], "ops.tensor_scatter_elements(a, b, c, 0)", "ops.scatter(a, 0, b, c)", "mint.scatter(a, 0, b, c)", "a.scatter(0, b, c)"),
    Case("scatter_elements_add", [f32(3, 3), lit([[0, 2, 1], [0, 1, 1]], "i64"), f32(2, 3)], "ops.tensor_scatter_elements(a, b, c, 0, 'add')", "mint.scatter_add(a, 0, b, c)", "a.scatter_add(0, b, c)", math="np.add(a, np.array([[c[0, 0] + c[1, 0], 0, 0], [0, c[1, 1], c[0, 2] + c[1, 2]], [0, c[0, 1], 0]]))"),
    Case("unsorted_segment_sum", [f32(4, 2), lit([0, 1, 0, 2], "i32")], "ops.unsorted_segment_sum(a, b, 3)", "ops.UnsortedSegmentSum()(a, b, 3)"),
    Case("topk", [f32(2, 6)], "ops.topk(a, 3)", "ops.TopK()(a, 3)", "mint.topk(a, 3)", "a.topk(3)", "ops.TopK(sorted=True)(a, 3)", dtypes="f16 i32"),
    Case("topk_axis", [f32(5, 3)], "ops.topk(a, 2, 0)", "mint.topk(a, 2, 0)"),
    Case("topk_smallest", [f32(2, 6)], "ops.topk(a, 2, -1, False)", "mint.topk(a, 2, -1, False)"),
    Case("sort", [f32(2, 6)], "ops.sort(a)", "a.sort()", "ops.Sort()(a)", "mint.sort(a)", dtypes="f16"),
    Case("sort_down", [f32(6, 2)], "ops.sort(a, 0, True)", "ops.Sort(0, True)(a)", "ops.Sort(axis=0, descending=True)(a)"),
    Case("argsort", [f32(2, 6)], "ops.argsort(a)", "a.argsort()"),
    Case("argsort_down", [f32(2, 6)], "ops.argsort(a, -1, True)", "a.argsort(-1, True)"),
    Case("sort_stable", [lit([2, 1, 2, 1, 0], "i32")], "ops.sort(a)", "ops.argsort(a), a.sort()[0]" , grad=False),
    Case("unique", [lit([3, 1, 3, 2, 1], "i32")], "ops.unique(a)", "ops.Unique()(a)", graph=False),
    Case("unique_matrix", [lit([[3, 1, 3], [2, 1, 2]])], "ops.unique(a)", graph=False, grad=False, dtypes="f64 u8 i64"),
    Case("unique_0d", [lit(2.0)], "ops.unique(a)", graph=False, grad=False),
    Case("bincount", [lit([0, 1, 1, 3], "i32")], "ops.bincount(a)", graph=False),
    Case("searchsorted", [lit([1.0, 3.0, 5.0]), lit([0.0, 3.0, 6.0])], "ops.searchsorted(a, b)", "mint.searchsorted(a, b)", grad=False, math="np.searchsorted(a, b)"),
    Case("embedding", [lit([[0, 2], [1, 1]], "i32"), f32(3, 4)], "ops.gather(b, a, 0)", "mint.nn.functional.embedding(a, b)", "ops.EmbeddingLookup()(b, a, 0)", "b[a]", math="b[a.astype(int)]"),
    Case("sequence_mask", [lit([1, 3], "i32")], "ops.sequence_mask(a, 4)"),
    Case("reverse_sequence", [f32(2, 4), lit([2, 3], "i32")], "ops.reverse_sequence(a, b, 1, 0)", "ops.ReverseSequence(1, 0)(a, b)"),
    Case("gather_range_error", [X, lit([9], "i32")], "ops.gather(a, b, 0)", raises=True),
    Case("gather_dtype_error", [X, f32(2)], "ops.gather(a, b, 0)", raises=True),
]
