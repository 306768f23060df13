"""Wrong kinds, sizes and indices, and the corners beside them."""

from tests.ops.table import Case, f32, lit

X = f32(2, 3)
ONE = lit([1.0])
EMPTY = f32(0, 3)


def wrong(name: str, *faces: str) -> Case:
    """Write a row of calls that the original refuses."""
    return Case(name, [X], *faces, raises=True)


def place(name: str, index: list, *faces: str) -> Case:
    """Write a row of index tuples that are out of range."""
    return Case(name, [X, lit(index, "i64"), ONE], *faces, raises=True)


SCATTERS = ("add", "sub", "mul", "div", "max", "min")

CASES = [
    # another kind than a Tensor
    wrong("kinds_products", "ops.dot([[1.0]], a)", "ops.dot(a, 1.5)", "ops.mv([[1.0]], a)", "ops.baddbmm(a, [1.0], a)"),
    wrong("kinds_activation", "ops.relu([1.0])", "ops.relu('a')", "ops.relu(None)", "ops.relu({'a': 1})", "ops.ReLU()([1.0])", "mint.nn.functional.relu([1.0])"),
    wrong("kinds_linear", "ops.cholesky([[1.0]])", "ops.masked_select(a, [True])", "ops.add(a, 'a')", "ops.softmax([1.0])"),
    wrong("kinds_like", "ops.full_like(1.5, 2)", "ops.sequence_mask([1])", "ops.bincount('text')", "ops.bincount(None)"),
    wrong("kinds_diff", "ops.diff(None)", "ops.diff([1.0, 2.0])"),
    wrong("kinds_clip", "ops.clip_by_value([1.0], 0, 1)", "ops.clip_by_value(1.5, 0, 1)", "ops.clip_by_value('a', 0, 1)", "ops.clip_by_global_norm(1.5)", "ops.clip_by_global_norm((1.5,))"),
    wrong("kinds_windows", "ops.interpolate([1.0], size=2)", "ops.max_pool2d('a', 2)", "ops.avg_pool1d('a', 2)", "ops.dropout2d([1.0])"),
    wrong("kinds_numbers", "ops.layer_norm(a, (3,), eps='a')", "ops.gather(a, a, 'b')", "ops.gather(a, a, [[1]])", "mint.cumsum([1.0], 0)", "mint.full((2,), [1])", "ops.quantile([1.0], 0.5)"),
    wrong("kinds_containers", "ops.tuple_getitem(None, 0)", "ops.tuple_getitem(1.5, 0)", "ops.in_dict(1, None)", "ops.dict_getitem(None, 1)", "ops.tuple_reversed(None)", "ops.tuple_equal(None, (1,))", "ops.tuple_div(None, (1,))"),
    wrong("kinds_keys", "ops.dict_getitem({'a': 1}, 'b')"),
    wrong("kinds_scalar_cast", "ops.scalar_cast(1, [1])"),
    # shapes and sizes
    Case("reshape_of_nothing", [EMPTY], "ops.reshape(a, (0, -1))", "ops.reshape(a, (-1, 0))", "a.reshape(0, -1)", "a.view(-1, 0)", "ops.Reshape()(a, (-1, 0))", "mint.reshape(a, (0, -1))", grad=False),
    Case("reshape_of_nothing_3d", [EMPTY], "ops.reshape(a, (-1, 0, 2))", "ms.numpy.reshape(a, (-1, 0, 2))", grad=False),
    Case("global_norm_of_one", [X], "ops.clip_by_global_norm(a)", tol=(1e-3, 1e-4)),
    wrong("one_number_as_shape", "ops.full(2, True)", "ops.full(2.5, 1)", "ops.StandardNormal()(2)", "ops.StandardLaplace()(2)", "ops.standard_normal(2)", "ops.standard_laplace(2)", "ops.normal(2, 0.0, 1.0)", "ops.gamma(2, Tensor(1.0), Tensor(1.0))", "ops.laplace(2, Tensor(1.0), Tensor(1.0))"),
    wrong("turns", "ops.rot90(a, 1, (0, 0))", "ops.rot90(a, 1, (0, -2))", "ops.rot90(a, 1, (0, 2))"),
    wrong("turns_axes", "ops.rot90(a, 1, (0,))"),
    wrong("rates", "ops.dropout(a, 1.5)", "ops.dropout(a, -0.5)"),
    wrong("zero_step", "ops.make_range(0, 5, 0)"),
    wrong("nothing_joined", "ms.numpy.stack([])", "ms.numpy.concatenate([])", "ms.numpy.concatenate([], None)"),
    wrong("nothing_stacked", "ms.numpy.hstack([])", "ms.numpy.array_split(a, -1)", "ms.numpy.split(a, 0)"),
    wrong("categories", "ops.random_categorical(a, -1, 0)", "ops.random_categorical(a[0], 2, 0)"),
    wrong("categories_dtype", "ops.random_categorical(ops.cast(a, ms.int64), 2, 0)", "ops.random_categorical(a, 2, 0, ms.float32)"),
    wrong("losses", "ops.multi_margin_loss(a, Tensor([0, 9]))", "ops.cosine_embedding_loss(a, a, Tensor([1]))", "ops.unsorted_segment_sum(a, Tensor([0, 1]), -1)"),
    wrong("losses_dtype", "ops.unsorted_segment_sum(a, Tensor([0.5, 1.0]), 3)"),
    Case("gaussian_nll_below_eps", [X, f32(2, 3, lo=-3.0, hi=-2.0)], "ops.gaussian_nll_loss(a, a, b)"),
    # indices out of range
    *(place(f"tensor_scatter_{n}_beyond", [[5, 0]], f"ops.tensor_scatter_{n}(a, b, c)") for n in SCATTERS),
    place("tensor_scatter_update_beyond", [[0, 7]], "ops.TensorScatterUpdate()(a, b, c)", "ops.ScatterNdUpdate()(ms.Parameter(a, name='p'), b, c)"),
    place("scatter_nd_beyond", [[5, 0]], "ops.scatter_nd(b, c, (2, 3))", "ops.gather_nd(a, b)", "ops.scatter_nd_add(ms.Parameter(a, name='p'), b, c)"),
    Case("rows_beyond", [X, lit([5], "i32"), f32(1, 3)], "ops.index_fill(a, 0, b, 1.0)", "ops.index_add(ms.Parameter(a, name='p'), b, c, 0)", "ops.inplace_update(a, c, 5)", raises=True),
    Case("segments_beyond", [X, lit([0, 3], "i32")], "ops.unsorted_segment_sum(a, b, 3)", "ops.unsorted_segment_min(a, b, 3)", "ops.unsorted_segment_max(a, b, 3)", "ops.unsorted_segment_prod(a, b, 3)", raises=True),
    Case("segments_dropped", [X, lit([0, -4], "i32")], "ops.unsorted_segment_min(a, b, 3)", grad=False),
    Case("row_from_the_end", [X, f32(1, 3)], "ops.inplace_update(a, b, -1)", grad=False),
    Case("take_from_the_end", [X, lit([-1, -5, 7], "i64")], "a.take(b, 0)", "ms.numpy.take(a, b, 0)", grad=False),
    wrong("select_beyond", "mint.select(a, 0, 5)", "ops.select_scatter(a, a[0], 0, 5)"),
    wrong("strided_slice_beyond", "ops.strided_slice(a, (5,), (6,), (1,), 0, 0, 0, 0, 1)", "ops.strided_slice(a, (1,), (0,), (-1,), 0, 0, 0, 0, 1)"),
    wrong("strided_slice_axes", "ops.strided_slice(a, (0, 0, 0), (1, 1, 1), (1, 1, 1))", "ops.strided_slice(a, (0, 0, 0), (1, 1, 1), (1, 1, 1), 0, 1)"),
    Case("strided_slice_masks", [f32(2, 3, 4)], "ops.strided_slice(a, (1, 0, 1), (2, 2, 3), (1, 1, 1), 2, 1, 0, 0, 4)", grad=False),
    Case("strided_slice_ellipsis", [f32(2, 3, 4)], "ops.strided_slice(a, (0, 1), (1, 3), (1, 2), 0, 0, 1, 0, 0)", judge="math", math="a[..., 1:3:2]"),
    Case("strided_slice_new_axis", [f32(2, 3, 4)], "ops.strided_slice(a, (0, 1), (1, 2), (1, 1), 0, 2, 0, 1, 2)", judge="math", math="a[None, 1]"),
]
