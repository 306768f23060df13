"""Convolution and pooling."""

from tests.ops.table import Case, f32

X = f32(2, 3, 7, 6)
K = f32(4, 3, 3, 3)
T = (1e-3, 1e-4)
P = f32(2, 3, 6, 6)

CASES = [
    Case("conv2d", [X, K], "ops.conv2d(a, b)", "ops.Conv2D(4, 3)(a, b)", "ops.conv2d(a, b, pad_mode='valid')", "mint.nn.functional.conv2d(a, b)", "ops.Conv2D(4, (3, 3), pad_mode='valid')(a, b)", tol=T, dtypes="f16"),
    Case("conv2d_same", [X, K], "ops.conv2d(a, b, pad_mode='same')", "ops.Conv2D(4, 3, pad_mode='same')(a, b)", "ops.conv2d(a, b, padding=1, pad_mode='pad')", tol=T),
    Case("conv2d_pad", [X, K], "ops.conv2d(a, b, padding=(2, 1), pad_mode='pad')", "ops.Conv2D(4, 3, pad_mode='pad', pad=(2, 2, 1, 1))(a, b)", "mint.nn.functional.conv2d(a, b, padding=(2, 1))", tol=T),
    Case("conv2d_stride", [X, K], "ops.conv2d(a, b, stride=2)", "ops.Conv2D(4, 3, stride=2)(a, b)", "ops.conv2d(a, b, stride=(2, 2))", tol=T),
    Case("conv2d_same_stride", [X, K], "ops.conv2d(a, b, stride=2, pad_mode='same')", "ops.Conv2D(4, 3, stride=2, pad_mode='same')(a, b)", tol=T),
    Case("conv2d_dilation", [X, K], "ops.conv2d(a, b, dilation=2)", "ops.Conv2D(4, 3, dilation=2)(a, b)", tol=T),
    Case("conv2d_groups", [f32(2, 4, 5, 5), f32(6, 2, 3, 3)], "ops.conv2d(a, b, groups=2)", "ops.Conv2D(6, 3, group=2)(a, b)", tol=T),
    Case("conv2d_depthwise", [f32(2, 4, 5, 5), f32(4, 1, 3, 3)], "ops.conv2d(a, b, groups=4, padding=1, pad_mode='pad')", "ops.Conv2D(4, 3, pad_mode='pad', pad=1, group=4)(a, b)", tol=T),
    Case("conv2d_bias", [X, K, f32(4)], "ops.conv2d(a, b, c)", "ops.conv2d(a, b, bias=c)", "ops.bias_add(ops.conv2d(a, b), c)", tol=T),
    Case("conv2d_one", [f32(2, 3, 4, 4), f32(5, 3, 1, 1)], "ops.conv2d(a, b)", "ops.Conv2D(5, 1)(a, b)", tol=T),
    Case("conv2d_transpose", [f32(1, 4, 3, 3), f32(4, 2, 3, 3)], "ops.conv_transpose2d(a, b)", "mint.nn.functional.conv_transpose2d(a, b)", "ops.Conv2DBackpropInput(4, 3, pad_mode='valid')(a, b, (1, 2, 5, 5))", tol=T, grad=False),
    Case("conv1d", [f32(2, 3, 8), f32(4, 3, 3)], "ops.conv1d(a, b)", tol=T),
    Case("conv3d", [f32(1, 2, 4, 4, 4), f32(3, 2, 2, 2, 2)], "ops.conv3d(a, b)", tol=T, grad=False),
    Case("max_pool2d", [P], "ops.max_pool2d(a, 2)", "ops.MaxPool(2, 2)(a)", "ops.MaxPool(kernel_size=2, strides=2, pad_mode='valid')(a)", "mint.nn.functional.max_pool2d(a, 2)", dtypes="f16"),
    Case("max_pool_same", [f32(2, 3, 7, 6)], "ops.MaxPool(3, 2, 'same')(a)", "nn.MaxPool2d(3, 2, 'same')(a)"),
    Case("max_pool_pad", [P], "ops.max_pool2d(a, 3, 2, 1)", "nn.MaxPool2d(3, 2, 'pad', 1)(a)"),
    Case("max_pool_overlap", [P], "ops.max_pool2d(a, 3, 1)", "ops.MaxPool(3, 1)(a)"),
    Case("avg_pool2d", [P], "ops.avg_pool2d(a, 2, 2)", "ops.AvgPool(2, 2)(a)", "ops.AvgPool(kernel_size=2, strides=2, pad_mode='valid')(a)", "mint.nn.functional.avg_pool2d(a, 2)", dtypes="f16", tol=T),
    Case("avg_pool_same", [f32(2, 3, 7, 6)], "ops.AvgPool(3, 2, 'same')(a)", "nn.AvgPool2d(3, 2, 'same')(a)", tol=T),
    Case("avg_pool_pad", [P], "ops.avg_pool2d(a, 3, 2, 1)", "ops.avg_pool2d(a, 3, 2, 1, count_include_pad=True)", tol=T),
    Case("avg_pool_exclude", [P], "ops.avg_pool2d(a, 3, 2, 1, count_include_pad=False)", tol=T),
    Case("max_pool1d", [f32(2, 3, 8)], "nn.MaxPool1d(2, 2)(a)"),
    Case("avg_pool1d", [f32(2, 3, 8)], "ops.avg_pool1d(a, 2, 2)", "nn.AvgPool1d(2, 2)(a)", tol=T),
    Case("adaptive_avg_pool2d", [P], "ops.adaptive_avg_pool2d(a, 2)", "ops.adaptive_avg_pool2d(a, (2, 2))", "nn.AdaptiveAvgPool2d(2)(a)", "mint.nn.functional.adaptive_avg_pool2d(a, 2)", math="a.reshape(2, 3, 2, 3, 2, 3).mean((3, 5))", tol=T),
    Case("adaptive_avg_uneven", [f32(1, 2, 5, 7)], "ops.adaptive_avg_pool2d(a, (2, 3))", tol=T),
    Case("adaptive_avg_one", [P], "ops.adaptive_avg_pool2d(a, 1)", "a.mean((2, 3), keep_dims=True)", tol=T),
    Case("adaptive_max_pool2d", [P], "ops.adaptive_max_pool2d(a, 2)", "nn.AdaptiveMaxPool2d(2)(a)", math="a.reshape(2, 3, 2, 3, 2, 3).max((3, 5))", grad=False),
    Case("max_pool_indices", [P], "ops.max_pool2d(a, 2, 2, return_indices=True)", grad=False),
    Case("resize_nearest", [f32(1, 2, 3, 3)], "ops.interpolate(a, size=(6, 6), mode='nearest')", "ops.ResizeNearestNeighbor((6, 6))(a)", math="a.repeat(2, 2).repeat(2, 3)"),
    Case("resize_bilinear", [f32(1, 2, 3, 3)], "ops.interpolate(a, size=(5, 4), mode='bilinear', align_corners=True)", "ops.ResizeBilinearV2(True)(a, (5, 4))", tol=T),
    Case("resize_half_pixel", [f32(1, 2, 3, 3)], "ops.interpolate(a, size=(6, 6), mode='bilinear')", tol=T),
    Case("conv2d_error", [f32(2, 5, 7, 6), K], "ops.conv2d(a, b)", "ops.Conv2D(4, 3)(a, b)", raises=True),
    Case("conv2d_mode_error", [X, K], "ops.conv2d(a, b, pad_mode='none')", "ops.Conv2D(4, 3, pad_mode='none')(a, b)", raises=True),
]
