"""Common mistakes of users: name, expression, and the key phrase of the original's message.

The original and MindJAX both run them (`tests/oracle/record_errors.py`, `test_errors.py`). Without
a phrase the original accepts the expression, or its message says nothing of the cause.
"""
# ruff: noqa: E501

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np

MISTAKES = [
    # arithmetic and shapes
    (
        "matmul_shape",
        "ops.matmul(x23(), x23())",
        "For 'MatMulExt' op, shape1[-1] must be equal to shape2[-2], but got 3",
    ),
    (
        "matmul_op_shape",
        "x23() @ x23()",
        "For 'MatMulExt' op, shape1[-1] must be equal to shape2[-2], but got 3",
    ),
    (
        "mint_matmul_shape",
        "mint.matmul(x23(), x23())",
        "For 'MatMulExt' op, shape1[-1] must be equal to shape2[-2], but got 3",
    ),
    (
        "matmul_dtype_mix",
        "ops.matmul(x23(), x34().astype(ms.float16))",
        "'x1' with type Tensor[Float32] and 'x2' with type Tensor[Float16]",
    ),
    (
        "matmul_scalar",
        "ops.matmul(Tensor(1.0), x23())",
        "For 'MatMulExt' op, inputs must be all tensors and rank >= 1",
    ),
    ("add_broadcast", "x23() + x34()", "need to broadcast"),
    ("ops_add_broadcast", "ops.add(x23(), x34())", "need to broadcast"),
    ("mint_add_broadcast", "mint.add(x23(), x34())", "need to broadcast"),
    ("add_str", 'x23() + "a"', "Add"),
    ("add_none", "x23() + None", "add"),
    ("add_list", "x23() + [1, 2, 3]", ""),
    ("add_dict", "x23() + {}", "Add"),
    ("reshape_bad", "x23().reshape(4, 2)", "' is invalid for input of size 6"),
    ("reshape_two_neg", "x23().reshape(-1, -1)", "only one dimension can be inferred"),
    ("view_bad", "x23().view(5)", "' is invalid for input of size 6"),
    ("view_noncontig", "x23().T.view(6)", ""),
    ("transpose_bad_perm", "ops.transpose(x23(), (0, 0))", "perms should all be unique dim"),
    ("transpose_axis_oob", "mint.transpose(x23(), 0, 5)", "[-2, 2), but got 5"),
    (
        "permute_len",
        "mint.permute(x23(), (0,))",
        "For 'Transpose', size of perm should equal to rank of x, but got 1",
    ),
    ("squeeze_bad", "ops.squeeze(x23(), 0)", ""),
    (
        "expand_dims_oob",
        "ops.expand_dims(x23(), 7)",
        "Dimension out of range (expected to be in range of [-3, 3), but got 7)",
    ),
    ("concat_shape", "ops.concat((x23(), x34()))", "only support one axis different"),
    (
        "concat_empty",
        "ops.concat(())",
        "For primitive[Concat], the elements size must be greater than 0, but",
    ),
    ("concat_nontensor", "ops.concat((1, 2))", "Concat"),
    ("stack_shape", "ops.stack((x23(), x34()))", "input shape must be the same"),
    (
        "split_bad",
        "ops.split(x23(), 5, axis=3)",
        "axis 3 is out of bounds for array of dimension 2",
    ),
    (
        "sum_axis_oob",
        "x23().sum(5)",
        "For primitive[SumExt], the axis value must be in [-2,2), but got 5.",
    ),
    ("mean_axis_type", 'x23().mean("a")', "mean"),
    (
        "softmax_axis_oob",
        "ops.softmax(x23(), 5)",
        "For primitive[Softmax], the axis must be in [-2,2), but got 5.",
    ),
    (
        "argmax_axis",
        "x23().argmax(4)",
        "For primitive[Argmax], the axis must be in [-2,2), but got 4.",
    ),
    # indexing
    ("index_oob", "x23()[5]", "index 5 is out of bounds for dimension with size 2"),
    ("index_oob_neg", "x23()[-9]", "index -9 is out of bounds for dimension with size 2"),
    ("index_too_many", "x23()[0, 0, 0]", "too many indices for tensor of dimension"),
    (
        "index_str",
        'x23()["a"]',
        "Unsupported Python object type received: <class 'str'>. Supported",
    ),
    (
        "index_float",
        "x23()[1.5]",
        "Only support integers, slices(`:`), ellipsis(`...`), None, bool,",
    ),
    ("index_tensor_oob", "x23()[Tensor([7])]", "but got 7"),
    (
        "index_mask_shape",
        "x23()[Tensor([True, False, True])]",
        "does not match the shape of the indexed data",
    ),
    ("index_step0", "x23()[::0]", "For 'StridedSlice', 'strides' cannot contain 0"),
    ("setitem_oob", "x23().__setitem__(5, 1)", "Index 5 is out of bounds for axis 0 with size 2"),
    ("setitem_shape", "x23().__setitem__(0, v(1, 2))", "For 'BroadcastTo', in order to broadcast"),
    ("setitem_str", 'x23().__setitem__(0, "a")', "<class 'str'>"),
    ("gather_oob", "ops.gather(x23(), Tensor([9]), 0)", "but got 9"),
    ("gather_float_idx", "ops.gather(x23(), v(0), 0)", ""),
    ("embedding_oob", "nn.Embedding(3, 2)(Tensor([5]))", ""),
    ("embedding_float", "nn.Embedding(3, 2)(v(1))", ""),
    (
        "onehot_float",
        "ops.one_hot(v(1), 3)",
        "For primitive[OneHot], the input argument[indices] must be a type of",
    ),
    # making and converting Tensors
    ("item_multi", "x23().item()", "one element"),
    (
        "bool_multi",
        "bool(x23())",
        "The tensor should have only one element, but got 6, more than one",
    ),
    ("int_multi", "int(x23())", "ne element"),
    (
        "tensor_bad_type",
        'Tensor("abc")',
        "For 'Tensor', the type of 'input_data' should be one of '['Tensor",
    ),
    (
        "tensor_none",
        "Tensor(None)",
        "For 'Tensor', the type of 'input_data' should be one of '['Tensor",
    ),
    (
        "tensor_obj",
        "Tensor(object())",
        "For 'Tensor', the type of 'input_data' should be one of '['Tensor",
    ),
    ("tensor_ragged", "Tensor([[1, 2], [3]])", "contain unsupported element"),
    ("tensor_bad_dtype", 'Tensor([1], dtype="floaty")', ""),
    ("tensor_np_dtype", "Tensor([1], dtype=np.float32)", ""),
    ("tensor_str_np", 'Tensor(np.array(["a"]))', ""),
    ("tensor_shape_no_init", "Tensor(shape=(2,), dtype=ms.float32) + 1", ""),
    ("astype_bad", 'x23().astype("nope")', ""),
    (
        "cast_bad",
        "ops.cast(x23(), 5)",
        "For 'Cast', the input 'dtype' should be mindspore dtype, but got 5.",
    ),
    # layers
    (
        "dense_in_mismatch",
        "nn.Dense(4, 2)(x23())",
        "For 'MatMul' the input dimensions must be equal, but got 'x1_col': 3",
    ),
    ("dense_str", 'nn.Dense("a", 2)', "For 'Dense', the 'in_channels' must be int, but got 'str'"),
    (
        "dense_neg",
        "nn.Dense(-1, 2)",
        "For 'Dense', the 'in_channels' must be int and must > 0, but got '-1'",
    ),
    ("dense_bad_init_shape", "nn.Dense(2, 3, weight_init=x23())", "weight init shape error"),
    ("dense_bad_activation", 'nn.Dense(2, 2, activation="nope")', "'relu', 'relu6'"),
    (
        "conv_in_mismatch",
        "nn.Conv2d(3, 4, 3)(Tensor(np.ones((1, 2, 8, 8), f32)))",
        "For 'Conv2D', 'C_in' of input 'x' shape divide by parameter 'group'",
    ),
    (
        "conv_rank",
        "nn.Conv2d(3, 4, 3)(x23())",
        "For primitive[Conv2D], the x shape size must be equal to 4, but got 2.",
    ),
    (
        "conv_padmode",
        'nn.Conv2d(3, 4, 3, pad_mode="nope")',
        "For 'Conv2D', the 'pad_mode' must be str and must be in '['valid',",
    ),
    (
        "conv_pad_with_same",
        "nn.Conv2d(3, 4, 3, padding=1)",
        "For 'Conv2D', the 'pad' must be zero when 'pad_mode' is not 'pad',",
    ),
    (
        "conv_dtype",
        "nn.Conv2d(3, 4, 3)(Tensor(np.ones((1, 3, 8, 8), np.int32)))",
        "input type must be same",
    ),
    (
        "bn_rank",
        "nn.BatchNorm2d(3)(x23())",
        "For 'BatchNorm2d', the in_shape must have 4 dims, but got 2.",
    ),
    ("bn_channels", "nn.BatchNorm1d(5)(x23())", "channel dimension: 3"),
    (
        "bn_bad_momentum",
        "nn.BatchNorm2d(3, momentum=3)",
        "For 'BatchNorm2d', the 'momentum' must be a number in range [0, 1],",
    ),
    ("layernorm_shape", "nn.LayerNorm((4,))(x23())", "gamma or beta shape must match input shape"),
    ("maxpool_rank", "nn.MaxPool2d(2)(x23())", "the length of input must be equal to 4"),
    (
        "dropout_bad_p",
        "nn.Dropout(p=2.0)",
        "For 'Dropout', the 'p' must be a number in range [0, 1), but got 2.0.",
    ),
    ("dropout_keep_prob", "nn.Dropout(keep_prob=0.5)", ""),
    (
        "ce_shape",
        "nn.CrossEntropyLoss()(x23(), Tensor([0, 1, 2], ms.int32))",
        "For 'CrossEntropyLoss', the shape of 'logits' should be (N, C, d_0,",
    ),
    ("ce_dtype", "nn.CrossEntropyLoss()(x23(), v(0, 1))", "'labels' should be Int32"),
    ("ce_label_oob", "nn.CrossEntropyLoss()(x23(), Tensor([0, 9], ms.int32))", ""),
    (
        "ce_reduction",
        'nn.CrossEntropyLoss(reduction="nope")',
        "For 'CrossEntropyLoss', the 'reduction' must be in ['mean', 'sum',",
    ),
    (
        "mse_shape",
        "nn.MSELoss()(x23(), x34())",
        "Ext', input.shape and other.shape need to broadcast",
    ),
    ("lstm_shape", "nn.LSTM(3, 4)(x23())", "LSTM"),
    # optimizers and Cells
    ("adam_empty", "nn.Adam([])", "For 'Optimizer', the argument parameters must not be empty."),
    (
        "adam_neg_lr",
        "nn.Adam(nn.Dense(2, 2).trainable_params(), learning_rate=-1.0)",
        "For 'Adam', the 'learning rate' must be float and must >= 0, but got",
    ),
    (
        "adam_str_lr",
        'nn.Adam(nn.Dense(2, 2).trainable_params(), learning_rate="a")',
        "could not convert string to float:",
    ),
    (
        "adam_tensor_params",
        "nn.Adam([x23()])",
        "For 'Optimizer', all elements of the argument 'parameters' must be",
    ),
    ("adam_dup_params", '(lambda p: nn.Adam([p, p]))(Parameter(v(1), name="w"))', "already exists"),
    (
        "adam_not_list",
        'nn.Adam(Parameter(v(1), name="w"))',
        "For 'Optimizer', all elements of the argument 'parameters' must be",
    ),
    (
        "sgd_bad_momentum",
        "nn.SGD(nn.Dense(2, 2).trainable_params(), 0.1, momentum=-1)",
        "For 'SGD', the argument 'momentum' must be at least 0.0, but got -1.0.",
    ),
    ("seqcell_nonfell", "nn.SequentialCell([1, 2])", "but got"),
    (
        "celllist_noncell",
        "nn.CellList([1])",
        "For 'CellList', each cell must be subclass of Cell, but got int.",
    ),
    ("cell_no_super_init", "NoInit()", "'NoInit"),
    (
        "cell_missing_arg",
        "TwoArg()(x23())",
        "TwoArg.construct() missing 1 required positional argument: 'b'",
    ),
    (
        "cell_extra_arg",
        "TwoArg()(x23(), x23(), x23())",
        "TwoArg.construct() takes 3 positional arguments but 4 were given",
    ),
    (
        "cell_bad_kwarg",
        "TwoArg()(x23(), c=x23())",
        "TwoArg.construct() got an unexpected keyword argument 'c'",
    ),
    (
        "cell_no_construct",
        "NoConstruct()(x23())",
        "For 'Cell', the method 'construct' is not defined",
    ),
    (
        "cell_missing_attr",
        "nn.Dense(2, 2).nothing",
        "The 'Dense' object has no attribute 'nothing'.",
    ),
    ("cell_np_input", "nn.Dense(3, 2)(np.ones((2, 3), f32))", ""),
    ("cell_list_input", "nn.Dense(3, 2)([[1., 2., 3.]])", "list"),
    # Parameters, gradients
    ("param_same_name", "SameName()", ""),
    (
        "param_no_tensor",
        'Parameter("a", name="w")',
        "For 'Tensor', the type of 'input_data' should be one of '['Tensor",
    ),
    ("param_bad_name", "Parameter(v(1), name=5)", "should be 'string' or 'None'"),
    ("param_from_int", 'type(Parameter(1, name="w")).__name__', ""),
    ("set_data_type", 'Parameter(v(1), name="w").set_data("a")', "<class 'str'>"),
    ("set_data_shape", 'Parameter(v(1), name="w").set_data(v(1, 2))', ""),
    (
        "assign_shape",
        'ops.assign(Parameter(v(1), name="w"), v(1, 2))',
        "'value' must have the same shape as 'variable'",
    ),
    ("assign_nonparam", "ops.assign(v(1), v(2))", ""),
    ("grad_noncallable", "ms.grad(5)", ""),
    ("grad_pos_oob", "ms.grad(lambda x: x, 3)(v(1))", "osition"),
    ("grad_no_tensor", "ms.grad(lambda x: x * 2)(3)", ""),
    (
        "grad_weights_type",
        'ms.grad(lambda x: x, 0, "w")(v(1))',
        "The weights you provided is expected to be a tensor, or a list or",
    ),
    (
        "grad_none_none",
        "ms.grad(lambda x: x, None, None)(v(1))",
        "`grad_position` and `weight` can not be None at the same time.",
    ),
    ("vmap_axis", "ms.vmap(lambda x: x, in_axes=5)(v(1))", ""),
    # settings
    (
        "set_context_mode",
        "context.set_context(mode=9)",
        "For 'context.set_context', the argument 'mode' should be",
    ),
    ("set_context_target", 'context.set_context(device_target="TPU")', "device_target"),
    (
        "set_context_gpu",
        'context.set_context(device_target="GPU")',
        "Unsupported device target GPU",
    ),
    ("set_context_unknown_key", "context.set_context(foo=1)", "foo is not recognized"),
    ("set_device_bad", 'ms.set_device("XPU")', "'device_target' must be one of"),
    ("set_device_gpu", 'ms.set_device("GPU")', "Unsupported device target GPU"),
    ("set_seed_neg", "ms.set_seed(-1)", "'seed'"),
    ("set_seed_str", 'ms.set_seed("a")', "The argument 'seed' must be type of int, but got"),
    # checkpoints
    (
        "load_ckpt_nofile",
        'ms.load_checkpoint("/nope/a.ckpt")',
        "For 'load_checkpoint', the checkpoint file: /nope/a.ckpt does not",
    ),
    (
        "load_ckpt_badfmt",
        'ms.load_checkpoint("/etc/hostname")',
        "For 'load_checkpoint', the checkpoint file format must same with",
    ),
    (
        "save_ckpt_badobj",
        'ms.save_checkpoint(5, TMP+"/x.ckpt")',
        "For 'save_checkpoint', the parameter 'save_obj' must be nn.Cell, list",
    ),
    (
        "load_param_bad",
        "ms.load_param_into_net(5, {})",
        "For 'load_param_into_net', the argument 'net' should be a Cell, but",
    ),
    (
        "load_param_shape",
        'ms.load_param_into_net(nn.Dense(2, 1), {"weight": Parameter(v(1), name="weight")})',
        "weight in the argument",
    ),
    (
        "load_param_nonparam",
        'ms.load_param_into_net(nn.Dense(2, 1), {"weight": 5})',
        "should be a 'str' and 'Parameter'",
    ),
    (
        "export_format",
        'ms.export(nn.Dense(2, 1), v(1, 2).reshape(1, 2), file_name=TMP+"/x", file_format="NOPE")',
        "NOPE",
    ),
    # training
    (
        "model_no_loss",
        'ms.Model(nn.Dense(2, 1)).train(1, ds.NumpySlicesDataset({"a": np.ones((4, 2), f32)}, shuffle=False))',
        "",
    ),
    (
        "model_eval_no_metric",
        'ms.Model(nn.Dense(2, 1), nn.MSELoss()).eval(ds.NumpySlicesDataset({"a": np.ones((4, 2), f32), "b": np.ones((4, 1), f32)}))',
        "For Model.eval, the model argument 'metrics' can not be None or",
    ),
    (
        "model_bad_epoch",
        "ms.Model(nn.Dense(2, 1), nn.MSELoss(), nn.SGD(nn.Dense(2, 1).trainable_params())).train(-1, None)",
        "must be int and must > 0, but got '-1'",
    ),
    (
        "model_bad_metric",
        'ms.Model(nn.Dense(2, 1), nn.MSELoss(), metrics={"zzz"})',
        "unsupported metric zzz",
    ),
    (
        "model_bad_amp",
        'ms.Model(nn.Dense(2, 1), nn.MSELoss(), nn.SGD(nn.Dense(2, 1).trainable_params()), amp_level="O9")',
        "The 'level' should be in : ['O0', 'O1', 'O2', 'O3', 'auto'], but got",
    ),
    # data sets
    (
        "ds_bad_col",
        'list(ds.NumpySlicesDataset({"a": [1, 2]}).map(lambda x: x, input_columns=["zz"]).create_dict_iterator())',
        "",
    ),
    (
        "ds_batch_zero",
        "ds.NumpySlicesDataset([1, 2]).batch(0)",
        "Input batch_size is not within the required interval of [1,",
    ),
    (
        "ds_batch_shape",
        'list(ds.GeneratorDataset(lambda: iter([(np.ones(2),), (np.ones(3),)]), ["a"]).batch(2).create_tuple_iterator())',
        "",
    ),
    (
        "ds_gen_raises",
        'list(ds.GeneratorDataset(lambda: (1 / 0 for _ in range(2)), ["a"]).create_tuple_iterator())',
        "Exception thrown from user defined Python function in dataset.",
    ),
    (
        "ds_gen_cols",
        'list(ds.GeneratorDataset(lambda: iter([(np.ones(2), np.ones(2))]), ["a"]).create_tuple_iterator())',
        "",
    ),
    (
        "ds_map_raises",
        'list(ds.NumpySlicesDataset({"a": [1, 2]}).map(lambda x: 1 // 0, ["a"]).create_dict_iterator())',
        "Exception thrown from user defined Python function in dataset.",
    ),
    (
        "ds_repeat_neg",
        "ds.NumpySlicesDataset([1, 2]).repeat(-5)",
        "count should be either -1 or positive integer, range[1, INT32_MAX]",
    ),
    (
        "ds_shuffle_zero",
        "ds.NumpySlicesDataset([1, 2]).shuffle(0)",
        "Input buffer_size is not within the required interval of [2,",
    ),
    (
        "ds_mnist_nodir",
        'ds.MnistDataset("/nope")',
        "The folder /nope does not exist or is not a directory or permission",
    ),
    # metrics and names
    (
        "accuracy_shape",
        "nn.Accuracy().update(np.ones((2, 3)), np.ones((5,)))",
        "In classification case, y_pred (predicted value) shape and y (true",
    ),
    (
        "accuracy_no_update",
        "nn.Accuracy().eval()",
        "The 'Accuracy' can not be calculated, because the number of samples",
    ),
    ("get_metric_fn", 'nn.get_metric_fn("zzz")', "unsupported metric zzz"),
    ("ops_missing", "ops.does_not_exist", "does_not_exist"),
    ("mint_missing", "mint.does_not_exist", "does_not_exist"),
    (
        "tensor_missing_attr",
        "x23().does_not_exist",
        "'Tensor' object has no attribute 'does_not_exist'",
    ),
    # ops
    ("prim_missing_arg", "ops.Add()(x23())", "missing 1 required positional argument"),
    ("prim_extra_arg", "ops.ReLU()(x23(), x23())", "takes 2 positional arguments but 3 were given"),
    ("prim_wrong_type", 'ops.ReLU()("a")', "ReLU"),
    ("relu_fn_str", 'ops.relu("a")', "ReLU"),
    ("mint_relu_str", 'mint.nn.functional.relu("a")', "ReLU"),
    ("relu_bool", "ops.relu(Tensor([True]))", ""),
    ("sqrt_int", "ops.sqrt(Tensor([4]))", ""),
    ("pow_str", 'ops.pow(x23(), "a")', "Pow"),
    ("arange_step0", "ops.arange(0, 5, 0)", "For Range, delta cannot be equal to zero."),
    (
        "linspace_neg",
        "ops.linspace(0, 1, -2)",
        "For primitive[LinSpace], the num must be greater than 0, but got -2.",
    ),
    ("topk_big", "ops.topk(x23(), 9)", "For primitive[TopK], the k must be in (0,3], but got 9."),
    ("mint_topk_big", "mint.topk(x23(), 9)", "but got 9"),
    ("clip_none", "ops.clip(x23())", "For Clamp, at least one of 'min' or 'max' must not be None."),
    ("where_shape", "ops.where(x23() > 0, x34(), x23())", "need to broadcast"),
    ("einsum_bad", 'ops.einsum("ij,jk->ik", x23(), x23())', ""),
    ("cholesky_nonpd", "ops.cholesky(v(1, 2, 2, 1).reshape(2, 2))", "holesky"),
    ("inverse_singular", "ops.inverse(v(0, 0, 0, 0).reshape(2, 2))", ""),
    ("comm_init_cpu", "ms.communication.init()", ""),
    ("shard_bad", "ops.Add().shard(((2, 1), (2, 1)))(x23(), x23())", ""),
    ("parallel_mode_bad", 'context.set_auto_parallel_context(parallel_mode="nope")', "nope"),
    ("conv2d_channels", "ops.conv2d(x4(2), x4(3))", "For 'Conv2D'"),
    ("conv2d_rank", "ops.conv2d(x23(), x4(3))", "Conv2D"),
    ("unsigned_mix", "Tensor([1], ms.uint16) + Tensor([1])", "UInt16"),
    ("device_id_neg", "ms.set_context(device_id=-1)", "-1"),
]

# What the original's user code defines around the expressions.
PREPARATION = """
class NoInit(nn.Cell):
    def __init__(self):
        self.d = nn.Dense(2, 2)
class TwoArg(nn.Cell):
    def construct(self, a, b):
        return a + b
class NoConstruct(nn.Cell):
    pass
class SameName(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a = Parameter(v(1), name="w")
        self.b = Parameter(v(1), name="w")
    def construct(self, x):
        return self.a + x
def x23():
    return Tensor(np.ones((2, 3), f32))
def x34():
    return Tensor(np.ones((3, 4), f32))
def x4(channels):
    return Tensor(np.ones((2, channels, 3, 3), f32))
def v(*values):
    return Tensor(np.array(values, f32))
"""


def names(ms: Any) -> dict[str, Any]:
    """Give what the expressions may use, of either package."""
    from importlib import import_module

    found = {part: import_module(f"{ms.__name__}.{part}") for part in ("nn", "ops", "mint")}
    found["ds"] = import_module(f"{ms.__name__}.dataset")
    found |= {"ms": ms, "np": np, "f32": np.float32, "TMP": tempfile.gettempdir()}
    found["__name__"] = __name__  # the original looks for the module of a lambda
    found |= {name: getattr(ms, name) for name in ("Tensor", "Parameter", "context")}
    exec(PREPARATION, found)
    return found
