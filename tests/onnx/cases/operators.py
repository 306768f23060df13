"""Operators of ONNX, by families: name, inputs, attributes."""

import numpy as np

from tests.mindir.networks import floats, integers


def ints(*values):
    return np.array(values, np.int64)


def scalar(value, dtype=np.float32):
    return np.array(value, dtype)


IMAGE = floats(2, 4, 7, 6)
# Operator, inputs, attributes; floating-point arrays are inputs of the model, others constants.
FAMILIES = {
    "windows": [
        ("Conv", [IMAGE, floats(6, 2, 3, 2), floats(6)], {"group": 2, "pads": [1, 0, 2, 1], "strides": [2, 1], "dilations": [1, 2]}),
        ("Conv", [floats(1, 2, 9), floats(3, 2, 4)], {"auto_pad": "SAME_LOWER", "strides": [2]}),
        ("Conv", [floats(1, 2, 4, 5, 4), floats(3, 2, 2, 2, 2)], {}),
        ("ConvTranspose", [IMAGE, floats(4, 3, 3, 2), floats(6)], {"group": 2, "strides": [2, 3], "pads": [1, 0, 0, 1], "output_padding": [1, 0]}),
        ("ConvTranspose", [floats(1, 2, 5), floats(2, 3, 3)], {"auto_pad": "SAME_UPPER", "strides": [2]}),
        ("MaxPool", [IMAGE], {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1], "ceil_mode": 1}),
        ("MaxPool", [IMAGE], {"kernel_shape": [2, 2], "strides": [2, 1], "outputs": 2}),
        ("AveragePool", [IMAGE], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
        ("AveragePool", [IMAGE], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "count_include_pad": 1}),
        ("GlobalAveragePool", [IMAGE], {}),
        ("LpPool", [IMAGE], {"kernel_shape": [2, 2], "p": 2}),
        ("LRN", [IMAGE], {"size": 3}),
        ("Resize", [IMAGE, None, None, ints(2, 4, 9, 11)], {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}),
        ("Resize", [IMAGE, None, None, ints(2, 4, 3, 4)], {"mode": "cubic", "coordinate_transformation_mode": "align_corners"}),
        ("Resize", [IMAGE, None, None, ints(2, 4, 14, 5)], {"mode": "nearest", "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}),
        ("DepthToSpace", [IMAGE], {"blocksize": 2, "mode": "CRD"}),
        ("GridSample", [IMAGE, floats(2, 3, 3, 2)], {"mode": "bilinear", "padding_mode": "reflection"}),
    ],
    "layers": [
        ("Gemm", [floats(4, 3), floats(5, 4), floats(5)], {"transA": 1, "transB": 1, "alpha": 0.5, "beta": 2.0}),
        ("MatMul", [floats(2, 3, 4), floats(4)], {}),
        ("Einsum", [floats(2, 3), floats(4, 3)], {"equation": "ij,kj->ki"}),
        ("BatchNormalization", [IMAGE, floats(4), floats(4), floats(4), np.abs(floats(4))], {}),
        ("InstanceNormalization", [IMAGE, floats(4), floats(4)], {}),
        ("LayerNormalization", [IMAGE, floats(7, 6), floats(7, 6)], {"axis": 2}),
        ("LpNormalization", [IMAGE], {"axis": 1}),
        ("Softmax", [IMAGE], {"axis": 1}),
        ("LogSoftmax", [IMAGE], {}),
        ("Hardmax", [IMAGE], {"axis": 2}),
        ("LSTM", [floats(5, 2, 3), floats(2, 16, 3), floats(2, 16, 4), floats(2, 32), None, floats(2, 2, 4), floats(2, 2, 4), floats(2, 12)], {"direction": "bidirectional", "hidden_size": 4, "outputs": 3}),
        ("GRU", [floats(5, 2, 3), floats(1, 12, 3), floats(1, 12, 4), floats(1, 24)], {"hidden_size": 4, "linear_before_reset": 1, "outputs": 2}),
        ("RNN", [floats(5, 2, 3), floats(1, 4, 3), floats(1, 4, 4)], {"hidden_size": 4, "direction": "reverse", "outputs": 2}),
    ],
    "elementwise": [
        ("Elu", [IMAGE], {"alpha": 0.5}), ("Selu", [IMAGE], {}), ("Celu", [IMAGE], {"alpha": 2.0}),
        ("LeakyRelu", [IMAGE], {}), ("PRelu", [IMAGE, floats(4, 1, 1)], {}), ("HardSigmoid", [IMAGE], {}),
        ("HardSwish", [IMAGE], {}), ("ThresholdedRelu", [IMAGE], {}), ("Shrink", [IMAGE], {"bias": 0.2}),
        ("Clip", [IMAGE, scalar(-0.5), scalar(0.5)], {}), ("Mod", [IMAGE, scalar(0.3)], {"fmod": 1}),
        ("Pow", [np.abs(IMAGE), ints(2)], {}), ("Round", [IMAGE], {}), ("Erf", [IMAGE], {}),
        ("Mean", [IMAGE, floats(6), floats(7, 1)], {}), ("Max", [IMAGE, floats(6)], {}),
        ("Cast", [IMAGE * 3], {"to": 7}), ("IsInf", [np.where(IMAGE > 0, IMAGE, np.sign(IMAGE) * np.float32("inf"))], {"detect_negative": 0}),
        ("DequantizeLinear", [integers(200, 3, 4).astype(np.uint8), floats(4), integers(9, 4).astype(np.uint8)], {"axis": 1}),
        ("QuantizeLinear", [floats(3, 4) * 9, scalar(0.1), np.array(3, np.uint8)], {}),
    ],
    "shapes": [
        ("Slice", [IMAGE, ints(5, -2), ints(-9, 1), ints(2, 3), ints(-2, -1)], {}),
        ("Pad", [IMAGE, ints(0, 0, 1, -2, 0, 0, 3, 1), scalar(2)], {}),
        ("Pad", [IMAGE, ints(0, 0, 1, 2, 0, 0, 3, 1)], {"mode": "reflect"}),
        ("Split", [IMAGE, ints(1, 3)], {"axis": 1, "outputs": 2}),
        ("Expand", [floats(4, 1), ints(2, 1, 3)], {}), ("Tile", [floats(2, 3), ints(2, 3)], {}),
        ("Flatten", [IMAGE], {"axis": 2}), ("Squeeze", [floats(1, 2, 1)], {}),
        ("Gather", [IMAGE, ints(-1, 0)], {"axis": 2}),
        ("GatherElements", [floats(3, 4), ints(-1, 0, 1, 1).reshape(2, 2)], {"axis": 1}),
        ("GatherND", [floats(2, 3, 4), ints(1, 2).reshape(2, 1)], {"batch_dims": 1}),
        ("ScatterND", [floats(4, 3), ints(1, 1).reshape(2, 1), floats(2, 3)], {"reduction": "add"}),
        ("ScatterElements", [floats(3, 4), ints(0, 2).reshape(1, 2), floats(1, 2)], {"axis": 0}),
        ("OneHot", [ints(1, -1, 5), ints(4), floats(2)], {"axis": 0}),
        ("Trilu", [floats(4, 4), scalar(1, np.int64)], {"upper": 0}),
        ("TopK", [floats(3, 5), ints(2)], {"axis": 1, "largest": 0, "outputs": 2}),
        ("CumSum", [floats(3, 5), scalar(1, np.int32)], {"reverse": 1, "exclusive": 1}),
        ("ArgMax", [IMAGE], {"axis": 1, "keepdims": 0}), ("ReduceL2", [IMAGE], {"axes": [1, -1]}),
        ("ReduceLogSumExp", [IMAGE], {"keepdims": 0}), ("ReduceProd", [floats(2, 3)], {"axes": [0]}),
        ("ReverseSequence", [floats(4, 3), ints(1, 2, 4)], {}),
    ],
}  # fmt: skip

# Forms that operators have in some versions only.
OTHER_FORMS = [
    ("Squeeze", [floats(1, 2, 1)], {"axes": [0]}), ("Unsqueeze", [floats(2, 3)], {"axes": [0, 2]}),
    ("Squeeze", [floats(1, 2, 1), ints(-1)], {}), ("Unsqueeze", [floats(2, 3), ints(0, -1)], {}),
    ("ReduceSum", [IMAGE], {"axes": [1, 2], "keepdims": 0}), ("ReduceSum", [IMAGE, ints(1, 2)], {}),
    ("ReduceMean", [IMAGE], {"axes": [-1]}), ("ReduceMean", [IMAGE, ints(-1)], {}),
    ("ReduceMax", [IMAGE, ints(0, 1)], {"keepdims": 0}), ("ReduceSum", [IMAGE, ints()], {"noop_with_empty_axes": 1}),
    ("Split", [IMAGE], {"axis": 1, "split": [3, 1], "outputs": 2}),
    ("Split", [IMAGE], {"axis": 2, "num_outputs": 2, "outputs": 2}),
    ("Softmax", [IMAGE], {}), ("Softmax", [IMAGE], {"axis": 2}), ("LogSoftmax", [IMAGE], {"axis": 1}),
    ("Hardmax", [IMAGE], {}), ("Dropout", [IMAGE], {}), ("Dropout", [IMAGE], {"ratio": 0.3}),
    ("Resize", [IMAGE, floats(0), np.array([1, 1, 2, 1.5], np.float32)], {"mode": "linear"}),
    ("Resize", [IMAGE, floats(0), np.array([1, 1, 0.5, 1.5], np.float32)], {"coordinate_transformation_mode": "tf_half_pixel_for_nn"}),
    ("Resize", [IMAGE, None, None, ints(5, 9)], {"axes": [3, 2], "mode": "cubic"}),
    ("Resize", [IMAGE, None, None, ints(2, 4, 3, 3)], {"mode": "linear", "antialias": 1}),
    ("Pad", [IMAGE, ints(1, 2), scalar(3), ints(3)], {}), ("Pad", [IMAGE, ints(0, 0, 1, 2, 0, 0, 3, 1)], {"mode": "wrap"}),
    ("ScatterND", [floats(4, 3), ints(1, 1).reshape(2, 1), floats(2, 3)], {"reduction": "max"}),
    ("Gelu", [IMAGE], {}), ("Gelu", [IMAGE], {"approximate": "tanh"}), ("Mish", [IMAGE], {}),
    ("RMSNormalization", [IMAGE, floats(6)], {}),
    ("Attention", [floats(2, 3, 4, 8), floats(2, 3, 5, 8), floats(2, 3, 5, 6)], {"is_causal": 1}),
    ("RotaryEmbedding", [floats(2, 3, 4, 8), floats(50, 4), floats(50, 4), ints(0, 1, 2, 3, 3, 4, 5, 6).reshape(2, 4)], {}),
    ("AveragePool", [IMAGE], {"kernel_shape": [2, 2], "dilations": [2, 1]}),
    ("LpPool", [IMAGE], {"kernel_shape": [2, 2], "pads": [1, 1, 0, 0]}),
    ("GridSample", [IMAGE, floats(2, 3, 3, 2)], {"mode": "linear"}),
    ("DFT", [floats(2, 8, 1)], {"axis": 1, "onesided": 1}), ("DFT", [floats(2, 8, 1), None, scalar(1, np.int64)], {"onesided": 1}),
    ("IsNaN", [IMAGE], {}), ("HannWindow", [scalar(8, np.int64)], {}),
]  # fmt: skip
