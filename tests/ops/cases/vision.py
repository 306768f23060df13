"""Pooling, patches, grids, resizing, colours, boxes and other ops of images."""

from tests.ops.table import Arr, Case, f32, i32, lit, unit

V = f32(1, 2, 3, 4, 5)
IMG = f32(1, 2, 4, 5)
GRID = f32(1, 3, 2, 2, lo=-1.6, hi=1.6)
BOXES = lit([[0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], [-0.5, 0.3, 0.7, 1.4], [0.9, 0.8, 0.1, 0.2]])
ROIS = lit([[0, 0, 0, 3, 4], [1, 1.2, 0.5, 9, 9], [0, -3, -2, 2, 2]])
CORNERS = lit([[2, 2, 5, 7], [0, 1, 8, 3], [4, 4, 4, 4]])
TRUTH = lit([[1, 2, 6, 6], [0, 0, 4, 4], [3, 4, 5, 6]])
OBJECTS = lit([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [1, 101, 0, 100]])
SCORES = lit([0.9, 0.75, 0.6, 0.95, 0.5, 0.3])
SAMPLES = unit(2, 2, 2)
P2 = lit([[[[0, 2], [8, 15]]]], "i64")
P3 = lit([[[[[0, 5], [9, 14]], [[60, 33], [40, 63]]]]], "i64")
S22 = lit([3, 3], "i32")


def scalar(value: float, dtype: str = "f32") -> Arr:
    """Describe a 0-d input."""
    return lit(value, dtype)


CASES = [
    # Rearrangements.
    Case("channel_shuffle", [f32(2, 4, 2, 3)], "ops.channel_shuffle(a, 2)", "ops.ChannelShuffle(2)(a)", dtypes="f16 i32", grad=False),
    Case("channel_shuffle_rank", [f32(4, 2, 3)], "ops.channel_shuffle(a, 2)", raises=True),
    Case("channel_shuffle_groups", [f32(1, 4, 2, 3)], "ops.channel_shuffle(a, 3)", raises=True),
    Case("pixel_shuffle", [f32(2, 8, 2, 3)], "ops.pixel_shuffle(a, 2)", "mint.nn.functional.pixel_shuffle(a, 2)", dtypes="f16 i32"),
    Case("pixel_shuffle_3d", [f32(9, 1, 2)], "ops.pixel_shuffle(a, 3)"),
    Case("pixel_shuffle_channels", [f32(1, 3, 2, 2)], "ops.pixel_shuffle(a, 2)", raises=True),
    Case("pixel_shuffle_float", [f32(1, 4, 2, 2)], "ops.pixel_shuffle(a, 2.0)", raises=True),
    Case("pixel_unshuffle", [f32(2, 2, 4, 6)], "ops.pixel_unshuffle(a, 2)", dtypes="i32"),
    Case("pixel_unshuffle_sizes", [f32(1, 1, 3, 4)], "ops.pixel_unshuffle(a, 2)", raises=True),
    Case("depth_to_space", [f32(2, 8, 2, 3)], "ops.DepthToSpace(2)(a)", dtypes="f16 i32"),
    Case("space_to_depth", [f32(2, 2, 4, 6)], "ops.SpaceToDepth(2)(a)", dtypes="f16 i32"),
    Case("space_to_depth_sizes", [f32(1, 2, 3, 4)], "ops.SpaceToDepth(2)(a)", raises=True),
    Case("batch_to_space_nd", [f32(4, 2, 2, 3)], "ops.batch_to_space_nd(a, [2, 2], [[0, 0], [0, 1]])", "ops.BatchToSpaceND([2, 2], [[0, 0], [0, 1]])(a)", "ops.batch_to_space_nd(a, 2, [[0, 0], [0, 1]])", "ops.BatchToSpaceNDV2()(a, ms.Tensor([2, 2]), [[0, 0], [0, 1]])", "ops.BatchToSpace(2, [[0, 0], [0, 1]])(a)", graph=False),
    Case("batch_to_space_1d", [f32(4, 3, 2)], "ops.batch_to_space_nd(a, (2,), [[0, 0]])"),
    Case("batch_to_space_batch", [f32(3, 1, 2, 2)], "ops.batch_to_space_nd(a, [2, 2], [[0, 0], [0, 0]])", raises=True),
    Case("batch_to_space_negative", [f32(4, 1, 2, 2)], "ops.batch_to_space_nd(a, [2, 2], [[0, 0], [0, -1]])", raises=True),
    Case("space_to_batch_nd", [f32(1, 2, 2, 4)], "ops.space_to_batch_nd(a, [2, 2], [[0, 0], [1, 1]])", "ops.SpaceToBatchND([2, 2], [[0, 0], [1, 1]])(a)", "ops.space_to_batch_nd(a, 2, [[0, 0], [1, 1]])", "ops.SpaceToBatch(2, [[0, 0], [1, 1]])(a)"),
    Case("space_to_batch_sizes", [f32(1, 1, 2, 4)], "ops.SpaceToBatchND([2, 2], [[0, 0], [1, 0]])(a)", raises=True),
    Case("dim_map", [lit([0, 1, 2, 3, -1, -4], "i32")], "ops.DataFormatDimMap()(a)"),
    Case("dim_map_back", [lit([[0, 1], [-2, 3]], "i32")], "ops.DataFormatDimMap('NCHW', 'NHWC')(a)"),
    Case("vec_permute", [i32(4)], "ops.DataFormatVecPermute()(a)", "ops.DataFormatVecPermute('NHWC', 'NCHW')(a)"),
    Case("vec_permute_pairs", [i32(4, 2)], "ops.DataFormatVecPermute('NCHW', 'NHWC')(a)"),
    Case("vec_permute_shape", [i32(3)], "ops.DataFormatVecPermute()(a)", raises=True),
    # Patches.
    Case("unfold", [IMG], "ops.unfold(a, 2)", "ops.unfold(a, (2, 2), 1, 0, 1)", "mint.nn.functional.unfold(a, 2)", "a.unfold(2)", dtypes="f16"),
    Case("unfold_window", [IMG], "ops.unfold(a, (2, 3), (2, 1), (1, 0), 2)", "mint.nn.functional.unfold(a, (2, 3), (2, 1), (1, 0), 2)"),
    Case("unfold_fit", [IMG], "ops.unfold(a, (5, 2))", raises=True),
    Case("unfold_dilation", [IMG], "ops.unfold(a, 2, 0)", raises=True),
    Case("unfold_kind", [IMG], "ops.unfold(a, 2.0)", raises=True),
    Case("im2col", [IMG], "ops.Im2Col(2, 1, 1, (1, 0))(a)", "ops.Im2Col((2, 2), strides=1, pads=(1, 0))(a)"),
    Case("fold", [f32(1, 8, 4), S22], "ops.fold(a, b, 2)", "a.fold(b, 2)", "mint.nn.functional.fold(a, (3, 3), 2)", graph=False),
    Case("fold_window", [f32(2, 12, 6), lit([4, 5], "i32")], "ops.fold(a, b, (2, 3), (2, 1), (1, 0), (2, 2))", graph=False, raises=True),
    Case("fold_blocks", [f32(1, 8, 5), S22], "ops.fold(a, b, 2)", raises=True),
    Case("col2im", [f32(1, 2, 4, 4), S22], "ops.col2im(a, b, (2, 2), (1, 1), (0, 0), (1, 1))", "a.col2im(b, (2, 2), (1, 1), (0, 0), (1, 1))", "ops.Col2Im(2)(a, b)", graph=False),
    Case("extract_volume_patches", [f32(1, 2, 3, 3, 3)], "ops.ExtractVolumePatches(2, 1, 'VALID')(a)", "ops.ExtractVolumePatches((1, 1, 2, 2, 2), (1, 1, 1, 1, 1), 'VALID')(a)"),
    Case("extract_volume_same", [f32(1, 1, 2, 2, 3)], "ops.ExtractVolumePatches(2, (1, 1, 1, 2, 2), 'same')(a)", grad=False),
    Case("extract_image_patches", [f32(1, 1, 3, 3)], "ops.ExtractImagePatches([1, 1, 2, 2], [1, 1, 1, 1], [1, 1, 1, 1])(a)", math="np.stack([a[:, 0, :2, :2], a[:, 0, :2, 1:], a[:, 0, 1:, :2], a[:, 0, 1:, 1:]], 1)"),
    # Pooling.
    Case("avg_pool3d", [V], "ops.AvgPool3D(2, 2)(a)", "ops.avg_pool3d(a, 2, 2)", "mint.nn.functional.avg_pool3d(a, 2, 2)", dtypes="f16"),
    Case("avg_pool3d_same", [V], "ops.AvgPool3D(2, 2, 'same')(a)"),
    Case("avg_pool3d_inside", [V], "ops.AvgPool3D((1, 2, 3), 2, 'same', count_include_pad=False)(a)"),
    Case("avg_pool3d_pads", [V], "ops.AvgPool3D(2, 2, 'pad', (1, 0, 1, 0, 0, 1))(a)", "ops.avg_pool3d(a, 2, 2, (1, 0, 1, 0, 0, 1))"),
    Case("avg_pool3d_ceil", [V], "ops.avg_pool3d(a, 2, 2, 1, True, False)"),
    Case("avg_pool3d_divisor", [V], "ops.avg_pool3d(a, 2, 2, 1, False, True, 3)"),
    Case("avg_pool3d_pad_error", [V], "ops.AvgPool3D(2, 2, 'valid', 1)(a)", "ops.avg_pool3d(a, 2, 1, (1, 1, 0))", raises=True),
    Case("avg_pool3d_rank", [IMG], "ops.AvgPool3D(2, 2)(a)", raises=True),
    Case("avg_pool3d_int", [i32(1, 1, 3, 4, 5)], "ops.AvgPool3D(2, 2)(a)", raises=True),
    Case("max_pool3d", [V], "ops.MaxPool3D(2, 2)(a)", "ops.max_pool3d(a, 2, 2)", "ops.max_pool3d(a, 2)", dtypes="f16"),
    Case("max_pool3d_same", [V], "ops.MaxPool3D((2, 3, 2), (1, 2, 2), 'SAME')(a)", slow=True),
    Case("max_pool3d_pads", [V], "ops.MaxPool3D(2, 2, 'pad', (1, 0, 1, 0, 0, 1))(a)"),
    Case("max_pool3d_indices", [V], "ops.max_pool3d(a, 2, 2, 1, 1, True, True)", "ops.MaxPool3DWithArgmax(2, 2, 1, ceil_mode=True)(a)"),
    Case("max_pool3d_dilation", [V], "ops.max_pool3d(a, 2, 1, 0, (1, 2, 2), return_indices=True)", grad=False),
    Case("max_pool3d_pad_error", [V], "ops.max_pool3d(a, 2, 1, 2)", "ops.MaxPool3D(2, 2, 'VALID', 0, True)(a)", raises=True),
    Case("max_pool_argmax", [IMG], "ops.MaxPoolWithArgmax(2, 2)(a)", grad=False),
    Case("max_pool_argmax_same", [IMG], "ops.MaxPoolWithArgmax(2, (1, 2), 'same')(a)", grad=False),
    Case("adaptive_avg_pool3d", [V], "ops.adaptive_avg_pool3d(a, (2, None, 2))", "ops.AdaptiveAvgPool3D((2, None, 2))(a)", "mint.nn.functional.adaptive_avg_pool3d(a, (2, None, 2))", dtypes="f16"),
    Case("adaptive_avg_pool3d_4d", [f32(2, 3, 4, 5)], "ops.adaptive_avg_pool3d(a, 2)", slow=True),
    Case("adaptive_avg_pool3d_rank", [f32(3, 4, 5)], "ops.adaptive_avg_pool3d(a, 2)", raises=True),
    Case("adaptive_max_pool3d", [V], "ops.adaptive_max_pool3d(a, (2, 3, 2), True)", "ops.AdaptiveMaxPool3D()(a, ms.Tensor([2, 3, 2], ms.int32))", graph=False),
    Case("adaptive_max_pool3d_value", [f32(2, 3, 4, 5)], "ops.adaptive_max_pool3d(a, 2)", slow=True),
    Case("adaptive_max_pool3d_zero", [V], "ops.adaptive_max_pool3d(a, (2, 0, 2))", raises=True),
    Case("adaptive_max_pool1d_indices", [f32(2, 3, 7)], "mint.nn.functional.adaptive_max_pool1d(a, 3)", math="np.stack([a[..., 0:3].max(-1), a[..., 2:5].max(-1), a[..., 4:7].max(-1)], -1)"),
    Case("lp_pool1d", [Arr((2, 3, 5), "f32", 0.5, 2.5)], "ops.lp_pool1d(a, 2, 2, 2, True)"),
    Case("lp_pool1d_2d", [Arr((2, 5), "f32", 0.5, 2.5)], "ops.lp_pool1d(a, 3, 2)", slow=True),
    Case("lp_pool2d", [Arr((1, 2, 4, 5), "f32", 0.5, 2.5)], "ops.lp_pool2d(a, 2.0, (2, 2))", dtypes="f16"),
    Case("lp_pool2d_ceil", [Arr((1, 2, 4, 5), "f32", 0.5, 2.5)], "ops.lp_pool2d(a, 3, (2, 2), (1, 2), True)", slow=True),
    Case("lp_pool2d_inf", [IMG], "ops.lp_pool2d(a, float('inf'), 2)", judge="math", math="np.stack([np.stack([a[..., :2, :2].max((2, 3)), a[..., :2, 2:4].max((2, 3))], -1), np.stack([a[..., 2:, :2].max((2, 3)), a[..., 2:, 2:4].max((2, 3))], -1)], -2)"),
    Case("lp_pool2d_zero", [IMG], "ops.lp_pool2d(a, 0, 2)", raises=True),
    Case("max_unpool1d", [f32(1, 2, 3), lit([[[1, 3, 5], [0, 2, 4]]], "i64")], "ops.max_unpool1d(a, b, 2, 2, 0)", "ops.max_unpool1d(a, b, 2)"),
    Case("max_unpool1d_size", [f32(1, 3), lit([[0, 2, 6]], "i64")], "ops.max_unpool1d(a, b, 2, None, 0, (7,))", "ops.max_unpool1d(a, b, 2, None, 0, (1, 7))", slow=True),
    Case("max_unpool1d_far", [f32(1, 3), lit([[0, 2, 6]], "i64")], "ops.max_unpool1d(a, b, 2, None, 0, (1, 9))", raises=True),
    Case("max_unpool1d_range", [f32(1, 3), lit([[0, 2, 9]], "i64")], "ops.max_unpool1d(a, b, 2)", raises=True),
    Case("max_unpool1d_dtype", [f32(1, 3), f32(1, 3)], "ops.max_unpool1d(a, b, 2)", raises=True),
    Case("max_unpool2d", [f32(1, 1, 2, 2), P2], "ops.max_unpool2d(a, b, 2)", "ops.MaxUnpool2D(2)(a, b)", "mint.nn.functional.max_unpool2d(a, b, 2)", "ops.max_unpool2d(a, b, (2, 2), 2, 0, (4, 4))", dtypes="f16"),
    Case("max_unpool2d_last", [f32(1, 2, 2, 1), lit([[[[0], [2]], [[8], [15]]]], "i64")], "ops.MaxUnpool2D(2, data_format='NHWC')(a, b)", slow=True),
    Case("max_unpool2d_size", [f32(1, 1, 2, 2), P2], "ops.max_unpool2d(a, b, 2, 2, 0, (1, 1, 4, 5))", slow=True),
    Case("max_unpool2d_stride", [f32(1, 1, 2, 2), P2], "ops.max_unpool2d(a, b, 2, -1)", "ops.max_unpool2d(a, b, 2, 2, -1)", raises=True),
    Case("max_unpool3d", [f32(1, 1, 2, 2, 2), P3], "ops.max_unpool3d(a, b, 2)", "ops.MaxUnpool3D(2)(a, b)"),
    Case("fractional_fixed", [f32(2, 2, 6, 7), SAMPLES], "ops.FractionalMaxPoolWithFixedKsize((2, 3), (3, 2))(a, b)", "ops.fractional_max_pool2d(a, (2, 3), (3, 2), return_indices=True, _random_samples=b)", grad=False),
    Case("fractional_ratio", [f32(2, 2, 6, 7), SAMPLES], "ops.fractional_max_pool2d(a, (2, 3), None, (0.5, 0.5), _random_samples=b)", grad=False),
    Case("fractional_fixed_3d", [f32(1, 2, 4, 5, 6), unit(1, 2, 3)], "ops.FractionalMaxPool3DWithFixedKsize(2, (2, 3, 2))(a, b)", "ops.fractional_max_pool3d(a, 2, (2, 3, 2), None, True, b)", grad=False),
    Case("fractional_none", [f32(2, 2, 6, 7)], "ops.fractional_max_pool2d(a, 2)", raises=True),
    Case("fractional_large", [f32(2, 2, 6, 7), SAMPLES], "ops.fractional_max_pool2d(a, (5, 3), (3, 2), _random_samples=b)", raises=True),
    Case("fractional_max_even", [f32(1, 6, 8, 2)], "ops.FractionalMaxPool([1.0, 2.0, 2.0, 1.0])(a)", grad=False),
    Case("fractional_avg_even", [f32(1, 6, 8, 2)], "ops.FractionalAvgPool([1.0, 2.0, 2.0, 1.0], overlapping=True)(a)", grad=False),
    Case("fractional_avg_int", [i32(1, 6, 8, 2)], "ops.FractionalAvgPool([1.0, 3.0, 2.0, 1.0])(a)"),
    # Grids, crops, regions.
    Case("affine_grid", [f32(2, 2, 3)], "ops.affine_grid(a, (2, 1, 2, 3))", "ops.AffineGrid()(a, (2, 1, 2, 3))", dtypes="f16", grad=False),
    Case("affine_grid_corners", [f32(1, 2, 3)], "ops.affine_grid(a, (1, 1, 1, 3), True)", "ops.AffineGrid(True)(a, (1, 1, 1, 3))", grad=False),
    Case("affine_grid_3d", [f32(1, 3, 4)], "ops.affine_grid(a, (1, 1, 2, 2, 3), True)", grad=False),
    Case("affine_grid_size", [f32(1, 2, 3)], "ops.affine_grid(a, (1, 1, 2))", "ops.affine_grid(a, (2, 1, 2, 3))", "ops.affine_grid(a, (1, 1, 2, 2, 2))", raises=True),
    *[
        Case(f"grid_sample_{mode}_{padding}_{corners}", [IMG, GRID], f"ops.grid_sample(a, b, '{mode}', '{padding}', {corners})", f"ops.GridSampler2D('{mode}', '{padding}', {corners})(a, b)", tol=(1e-3, 1e-4), slow=padding == "border" or (padding == "zeros") == corners)
        for mode in ("bilinear", "nearest")
        for padding in ("zeros", "border", "reflection")
        for corners in (False, True)
    ],
    Case("grid_sample_mint", [IMG, GRID], "mint.nn.functional.grid_sample(a, b)", "ops.grid_sample(a, b)", dtypes="f64"),
    Case("grid_sample_3d", [V, f32(1, 1, 3, 2, 3, lo=-1.5, hi=1.5)], "ops.grid_sample(a, b, 'bilinear', 'reflection', True)", "ops.GridSampler3D('bilinear', 'reflection', True)(a, b)", tol=(1e-3, 1e-4)),
    Case("grid_sample_3d_nearest", [V, f32(1, 1, 3, 2, 3, lo=-1.5, hi=1.5)], "ops.grid_sample(a, b, 'nearest')", grad=False),
    Case("grid_sample_mode", [IMG, GRID], "ops.grid_sample(a, b, 'bicubic')", "ops.grid_sample(a, b, 'bilinear', 'x')", raises=True),
    Case("grid_sample_shapes", [IMG, f32(1, 3, 2, 1)], "ops.grid_sample(a, b)", raises=True),
    Case("crop_and_resize", [f32(2, 5, 4, 2), BOXES, lit([0, 1, 0, 1], "i32")], "ops.crop_and_resize(a, b, c, (3, 2), 'bilinear', 0.5)", "ops.CropAndResize('bilinear', 0.5)(a, b, c, (3, 2))", grad=False),
    Case("crop_and_resize_one", [f32(2, 5, 4, 2), BOXES, lit([0, 1, 0, 1], "i32")], "ops.crop_and_resize(a, b, c, (1, 1))", grad=False),
    Case("crop_nearest", [f32(2, 5, 4, 2), BOXES, lit([0, 1, 0, 1], "i32")], "ops.crop_and_resize(a, b, c, (3, 2), 'nearest', 0.5)", grad=False),
    Case("crop_area", [f32(2, 5, 4, 2), BOXES, lit([0, 1, 0, 1], "i32")], "ops.crop_and_resize(a, b, c, (3, 2), 'bilinear_v2', 0.5)", "ops.crop_and_resize(a, b, c, (3, 2), 'bilinear_v2')", grad=False),
    Case("crop_index", [f32(2, 5, 4, 2), BOXES, lit([0, 1, 0, 2], "i32")], "ops.crop_and_resize(a, b, c, (3, 2))", raises=True),
    Case("crop_size", [f32(2, 5, 4, 2), BOXES, lit([0, 1, 0, 1], "i32")], "ops.crop_and_resize(a, b, c, (3, 0))", raises=True),
    Case("crop_size_kind", [f32(2, 5, 4, 2), BOXES, lit([0, 1, 0, 1], "i32")], "ops.crop_and_resize(a, b, c, 3)", raises=True),
    *[
        Case(f"roi_align_{mode}_{n}", [f32(2, 2, 6, 5), ROIS], f"ops.ROIAlign(2, 2, 0.5, {n}, {mode})(a, b)", grad=False)
        for mode in (0, 1)
        for n in (1, 2, 3)
    ],
    Case("roi_align_adaptive", [f32(2, 2, 6, 5), lit([[0, 0, 0, 8, 9], [1, -3, -2, 4, 7]])], "ops.ROIAlign(2, 2, 0.5, 0, 1)(a, b)", grad=False, graph=False),
    *[
        Case(f"glimpse_{centered}_{normalized}", [f32(2, 4, 6, 2), lit([[0.5, 0.25], [1.0, -1.0]] if normalized else [[1.0, 2.0], [4.0, 0.0]])], f"ops.ExtractGlimpse({centered}, {normalized}, False, 'zero')(a, ms.Tensor([2, 3], ms.int32), b)", grad=False)
        for centered in (True, False)
        for normalized in (True, False)
    ],
    # Resizing.
    Case("resize_area", [f32(1, 4, 5, 2), lit([2, 3], "i32")], "ops.ResizeArea()(a, b)", graph=False, grad=False),
    Case("resize_area_corners", [f32(1, 4, 5, 2), lit([2, 3], "i32")], "ops.ResizeArea(True)(a, b)", graph=False, grad=False),
    Case("resize_area_up", [f32(1, 4, 5, 2), lit([5, 7], "i32")], "ops.ResizeArea()(a, b)", graph=False, grad=False),
    Case("resize_bicubic", [IMG], "ops.ResizeBicubic()(a, (3, 7))", "ops.ResizeBicubic()(a, ms.Tensor([3, 7], ms.int32))", dtypes="f64", graph=False),
    Case("resize_bicubic_corners", [IMG], "ops.ResizeBicubic(True)(a, (8, 10))", "ops.interpolate(a, (8, 10), None, 'bicubic', True)", slow=True),
    Case("resize_bicubic_half", [IMG], "ops.ResizeBicubic(False, True)(a, (3, 7))", "ops.interpolate(a, (3, 7), None, 'bicubic')"),
    Case("resize_bicubic_error", [IMG], "ops.ResizeBicubic(True, True)(a, (3, 7))", "ops.ResizeBicubic()(a, (3, 0))", "ops.ResizeBicubic()(a[0], (3, 3))", raises=True),
    Case("resize_linear1d", [f32(1, 2, 5)], "ops.ResizeLinear1D()(a, (8,))", "ops.interpolate(a, 8, None, 'linear', True)"),
    Case("resize_linear1d_half", [f32(1, 2, 5)], "ops.ResizeLinear1D('half_pixel')(a, [3])", slow=True),
    Case("resize_linear1d_error", [f32(1, 2, 5)], "ops.ResizeLinear1D()(a, (0,))", "ops.ResizeLinear1D('x')(a, (3,))", raises=True),
    *[
        Case(f"scale_{kind}_{anti}", [f32(1, 4, 5, 2), lit([3, 4], "i32"), lit([0.8, 1.9]), lit([1.1, 0.2])], f"ops.ScaleAndTranslate('{kind}', {anti})(a, b, c, d)", graph=False, grad=False)
        for i, kind in enumerate(("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"))
        for anti in ((True, False) if kind == "lanczos3" else (i % 2 == 0,))
    ],
    Case("upsample_nearest3d", [f32(1, 1, 2, 3, 4)], "ops.UpsampleNearest3D()(a, (3, 4, 5), None)", "ops.interpolate(a, (3, 4, 5))", "ops.upsample(a, (3, 4, 5))"),
    Case("upsample_nearest3d_scales", [f32(1, 1, 2, 3, 4)], "ops.UpsampleNearest3D()(a, None, (1.6, 1.6, 1.6))", "ops.interpolate(a, None, (1.6, 1.6, 1.6))", slow=True),
    Case("upsample_nearest3d_error", [f32(1, 1, 2, 3, 4)], "ops.UpsampleNearest3D()(a, None, None)", "ops.UpsampleNearest3D()(a, (3, 4, 5), (1., 1., 1.))", raises=True),
    Case("upsample_trilinear3d", [f32(1, 1, 2, 3, 4)], "ops.UpsampleTrilinear3D()(a, (3, 4, 5), None)"),
    Case("upsample_trilinear3d_corners", [f32(1, 1, 2, 3, 4)], "ops.UpsampleTrilinear3D(True)(a, None, (1.6, 1.6, 1.6))", "ops.interpolate(a, (3, 4, 6), None, 'trilinear', True)", slow=True),
    Case("upsample_trilinear3d_scales", [f32(1, 1, 2, 3, 4)], "ops.UpsampleTrilinear3D()(a, None, (1.6, 1.6, 1.6))", slow=True),
    Case("interpolate_recompute", [f32(1, 1, 2, 3, 4)], "ops.interpolate(a, None, (1.6, 1.6, 1.6), 'trilinear', None, True)"),
    Case("interpolate_area", [IMG], "ops.interpolate(a, (2, 3), None, 'area')"),
    Case("interpolate_exact", [f32(1, 2, 5)], "ops.interpolate(a, 8, None, 'nearest-exact')", "mint.nn.functional.upsample(a, 8)", grad=False, raises=False),
    Case("interpolate_exact_2d", [IMG], "ops.interpolate(a, (6, 7), None, 'nearest-exact')"),
    Case("interpolate_errors", [IMG], "ops.interpolate(a)", "ops.interpolate(a, (6, 7), (1., 1.))", "ops.interpolate(a, (2, 2), None, 'nearest', True)", "ops.interpolate(a, (2, 0))", "ops.interpolate(a, (2, 2, 2))", "ops.interpolate(a, (2, 2), None, 'foo')", raises=True),
    # Colours.
    Case("rgb_to_hsv", [unit(1, 2, 3, 3)], "ops.RGBToHSV()(a)", dtypes="f64", grad=False),
    Case("rgb_to_hsv_gray", [lit([[0.0, 0.0, 0.0], [0.5, 0.5, 0.5], [1.0, 0.0, 0.0]])], "ops.RGBToHSV()(a)", grad=False),
    Case("hsv_to_rgb", [unit(1, 2, 3, 3)], "ops.HSVToRGB()(a)", dtypes="f64", grad=False),
    Case("adjust_hue", [unit(1, 2, 3, 3), scalar(0.3)], "ops.AdjustHue()(a, b)", grad=False),
    Case("adjust_saturation", [unit(1, 2, 3, 3), scalar(1.7)], "ops.AdjustSaturation()(a, b)", grad=False),
    Case("adjust_rank", [unit(1, 2, 3, 3), lit([1.7])], "ops.AdjustSaturation()(a, b)", raises=True),
    # Boxes.
    Case("bounding_box_encode", [CORNERS, TRUTH], "ops.bounding_box_encode(a, b, (0., .1, .2, .3), (1., 2., .5, 1.))", "ops.BoundingBoxEncode((0., .1, .2, .3), (1., 2., .5, 1.))(a, b)", grad=False),
    Case("bounding_box_decode", [CORNERS, lit([[0.1, 0.2, 0.3, 0.4], [5, -3, 9, 1], [0, 0, -9, 0]])], "ops.bounding_box_decode(a, b, (8, 9), (0., .1, .2, .3), (1., 2., .5, 1.), 0.016)", "ops.BoundingBoxDecode((8, 9), (0., .1, .2, .3), (1., 2., .5, 1.))(a, b)", grad=False),
    Case("bounding_box_kinds", [CORNERS, TRUTH], "ops.bounding_box_decode(a, b, [8, 9])", "ops.bounding_box_decode(a, b, (8, 9), wh_ratio_clip=1)", raises=True),
    Case("check_valid", [CORNERS, lit([8, 9, 1])], "ops.check_valid(a, b)", "ops.CheckValid()(a, b)"),
    Case("check_valid_small", [CORNERS, lit([2, 4, 2])], "ops.check_valid(a, b)"),
    Case("check_valid_shape", [CORNERS, lit([2, 4])], "ops.check_valid(a, b)", raises=True),
    Case("iou", [CORNERS, TRUTH], "ops.iou(a, b)", "ops.IOU()(a, b)", grad=False, dtypes="f16"),
    Case("iof", [CORNERS, lit([[1, 2, 6, 6], [0, 0, 4, 4]])], "ops.iou(a, b, 'iof')", grad=False),
    Case("iou_mode", [CORNERS, TRUTH], "ops.iou(a, b, 'x')", raises=True),
    Case("rotated_iou", [lit([[[1, 1, 2, 2, 0], [0, 0, 2, 2, 45]]]), lit([[[2, 1, 2, 2, 90], [0, 0, 2, 2, 0], [9, 9, 1, 1, 0]]])], "ops.rotated_iou(a, b)", math="np.array([[[1 / 3, 1 / 7, 0], [(2 ** 0.5 - 1) ** 2 / 2 / (8 - (2 ** 0.5 - 1) ** 2 / 2), 8 * (2 ** 0.5 - 1) / (8 - 8 * (2 ** 0.5 - 1)), 0]]]) + (a[0, 0, 0] - 1)", judge="math", grad=False),
    Case("nms_with_mask", [lit([[100, 100, 150, 168, 0.6], [0, 0, 10, 10, 0.5], [1, 1, 10, 11, 0.91], [1, 1, 9, 9, 0.9], [20, 20, 30, 30, 0.1], [-3, -3, 5, 5, 0.45]])], "ops.NMSWithMask(0.5)(a)", "ops.NMSWithMask()(a)", grad=False),
    Case("nms_with_mask_low", [lit([[100, 100, 150, 168, 0.6], [0, 0, 10, 10, 0.5], [1, 1, 10, 11, 0.91], [1, 1, 9, 9, 0.9], [-3, -3, 5, 5, 0.45]])], "ops.NMSWithMask(0.1)(a)", grad=False),
    Case("nms_columns", [f32(3, 4)], "ops.NMSWithMask(0.5)(a)", raises=True),
    Case("nms_v3", [OBJECTS, SCORES, scalar(3, "i32"), scalar(0.5), scalar(0.0)], "ops.NonMaxSuppressionV3()(a, b, c, d, e)", math="np.array([3, 0, 5]).astype(np.int32)", judge="math", grad=False, graph=False),
    Case("nms_v3_score", [OBJECTS, SCORES, scalar(30, "i32"), scalar(0.5), scalar(0.4)], "ops.NonMaxSuppressionV3()(a, b, 30, 0.5, 0.4)", math="np.array([3, 0]).astype(np.int32)", judge="math", grad=False, graph=False),
    Case("nms_overlaps", [unit(6, 6), SCORES, scalar(4, "i32"), scalar(0.5), scalar(0.0)], "ops.NonMaxSuppressionWithOverlaps()(a, b, c, d, e)", grad=False, graph=False),
    Case("nms_overlaps_high", [unit(6, 6), SCORES, scalar(4, "i32"), scalar(0.8), scalar(0.55)], "ops.NonMaxSuppressionWithOverlaps()(a, b, c, d, e)", grad=False, graph=False),
    Case("nms_overlaps_negative", [unit(6, 6), SCORES, scalar(-4, "i32"), scalar(0.8), scalar(0.55)], "ops.NonMaxSuppressionWithOverlaps()(a, b, c, d, e)", raises=True),
    *[
        Case(f"nms_combined_{pad}_{clip}_{q}", [f32(2, 5, q, 4, lo=-0.2, hi=1.2), unit(2, 5, 3), scalar(2, "i32"), scalar(8, "i32"), scalar(0.3), scalar(0.3)], f"ops.CombinedNonMaxSuppression({pad}, {clip})(a, b, c, d, e, f)", grad=False, graph=False, slow=pad == clip)
        for pad in (True, False)
        for clip, q in ((True, 1), (False, 3))
    ],
    # Convolutions.
    Case("conv3d_transpose", [f32(1, 1, 2, 2, 3), f32(1, 2, 2, 3, 2)], "ops.conv3d_transpose(a, b)", "ops.Conv3DTranspose(1, 2, (2, 3, 2))(a, b)", tol=(1e-3, 1e-3)),
    Case("conv3d_transpose_pad", [f32(1, 1, 2, 2, 3), f32(1, 2, 2, 3, 2)], "ops.conv3d_transpose(a, b, 'pad', 1, 2, 1, 1, 1)", "ops.Conv3DTranspose(1, 2, (2, 3, 2), pad_mode='pad', pad=1, stride=2, output_padding=1)(a, b)", tol=(1e-3, 1e-3), slow=True),
    Case("conv3d_transpose_small", [f32(1, 1, 2, 2, 3), f32(1, 2, 2, 3, 2)], "ops.Conv3DTranspose(1, 2, (2, 3, 2), pad_mode='pad', pad=1, stride=2)(a, b)", "ops.Conv3DTranspose(1, 2, (2, 3, 2), stride=2)(a, b)[:, :, 1:-1, 1:-1, 1:-1]", tol=(1e-3, 1e-3), grad=False),
    Case("conv3d_transpose_same", [f32(1, 1, 2, 2, 3), f32(1, 2, 2, 3, 2)], "ops.Conv3DTranspose(1, 2, (2, 3, 2), pad_mode='same', stride=2)(a, b)", tol=(1e-3, 1e-3), grad=False),
    Case("conv3d_transpose_group", [f32(1, 2, 2, 2, 3), f32(2, 1, 2, 3, 2)], "ops.Conv3DTranspose(2, 2, (2, 3, 2), group=2)(a, b)", tol=(1e-3, 1e-3), grad=False),
    Case("conv3d_transpose_error", [f32(1, 1, 2, 2, 3), f32(1, 2, 2, 3, 2)], "ops.Conv3DTranspose(1, 2, (2, 3, 2), output_padding=1)(a, b)", raises=True),
    Case("depthwise", [f32(1, 2, 3, 3), f32(1, 2, 2, 2)], "ops.DepthwiseConv2dNative(1, (2, 2))(a, b)", math="sum(a[:, :, i:i + 2, j:j + 2] * b[0, :, i, j][:, None, None] for i in range(2) for j in range(2))", judge="math", tol=(1e-3, 1e-3)),
    Case("dilation2d", [f32(1, 2, 4, 5), f32(2, 2, 2)], "ops.Dilation2D(1, 1, 'VALID')(a, b)", math="np.max([a[:, :, i:i + 3, j:j + 4] + b[:, i, j][:, None, None] for i in range(2) for j in range(2)], 0)", judge="math"),
    Case("dilation2d_same", [f32(1, 2, 4, 5), f32(2, 2, 2)], "ops.Dilation2D((2, 2), 1, 'same')(a, b)", math="np.max([np.pad(a, [(0, 0), (0, 0), (0, 0), (0, 1)], constant_values=-99)[:, :, i:i + 4:2, j:j + 6:2][:, :, :2, :3] + b[:, i, j][:, None, None] for i in range(2) for j in range(2)], 0)", judge="math", slow=True),
    Case("dilation2d_error", [f32(1, 1, 4, 5), f32(1, 2, 2)], "ops.Dilation2D(1, 1, 'x')(a, b)", "ops.Dilation2D(0, 1)(a, b)", "ops.Dilation2D(1, 7, 'VALID')(a, b)", raises=True),
    Case("deformable_offsets", [f32(1, 2, 4, 4), f32(1, 24, 3, 3, lo=-0.4, hi=0.4)], "ops.DeformableOffsets((1, 1, 1, 1), (0, 0, 0, 0), (2, 2), deformable_groups=2)(a, b)", grad=False),
    Case("deformable_conv2d", [f32(1, 2, 4, 4), f32(3, 2, 2, 2), f32(1, 12, 3, 3, lo=-0.9, hi=0.9), f32(3)], "ops.deformable_conv2d(a, b, c, (2, 2), (1, 1, 2, 2), (1, 1, 1, 1), d)", grad=False, tol=(1e-3, 1e-3)),
]
