"""Programs that show the rows of docs/differences.md; they run under the original too.

``LIBRARY`` in the environment names the package. A row's second entry is what MindJAX answers: by
the documentation, by mathematics or by decision, and not what the original answers.
"""

import importlib
import json
import os
import sys

import numpy as np

LIBRARY = os.environ.get("LIBRARY", "mindjax")
ms = importlib.import_module(LIBRARY)
nn, ops, mint, ds, train = (
    importlib.import_module(f"{LIBRARY}.{name}")
    for name in ("nn", "ops", "mint", "dataset", "train")
)
optim = importlib.import_module(f"{LIBRARY}.mint.optim")
Tensor, Parameter = ms.Tensor, ms.Parameter
NAN = float("nan")


def floats(*values):
    return Tensor(np.array(values, np.float32))


def ints(*values):
    return Tensor(np.array(values, np.int32))


def logits(*values):
    return Tensor(np.array([values], np.float32))


class Scale(nn.Cell):
    """Multiplies by an attribute that may be written from outside."""

    def __init__(self):
        super().__init__()
        self.factor = 2

    def construct(self, x):
        return x * self.factor


def change(x, name, *args):
    """Call an in-place method and give its Tensor."""
    getattr(x, name)(*args)
    return x


def scipy_linalg():
    return importlib.import_module(f"{LIBRARY}.scipy.linalg")


def rows_above_max_norm():
    """Give the sum of rows that are all limited to 1."""
    table = Tensor(np.array([[2], [30], [400]], np.float32))
    rows = nn.EmbeddingLookup(3, 1, table, max_norm=1.0)(Tensor(np.array([[1], [2]], np.int32)))
    return rows.sum()


def hidden_key():
    """Give the weight of a hidden key."""
    x = Tensor(np.ones((2, 1, 2), np.float32))
    mask, hidden = Tensor(np.zeros((2, 2), np.float32)), Tensor(np.array([[False, True]]))
    _, weights = nn.MultiheadAttention(2, 1)(x, x, x, key_padding_mask=hidden, attn_mask=mask)
    return weights[0, 0, 1]


def conjugated_input():
    x = Tensor(np.array([[1j]], np.complex64))
    ops.ConjugateTranspose()(x, (1, 0)).asnumpy()
    return [float(x.asnumpy()[0, 0].imag)]


def reversed_write(x):
    x[::-1] = floats(1, 2, 3)
    return x


def copied_by_asnumpy():
    x = floats(1, 2)
    x.asnumpy()[0] = 9
    return x


def copied_when_used():
    array = np.ones(2, np.float32)
    x = Tensor.from_numpy(array)
    (x + 1).asnumpy()
    array[0] = 9
    return x


def truncated(x):
    return (x.astype(ms.int32).astype(ms.float32) * 3).sum()


def one_tensor_twice():
    def f(u, v):
        return u * v * v

    x = floats(2)
    return ms.grad(f, (0, 1))(x, x)


def tuple_gradient():
    def f(pair):
        return pair[0] * pair[1]

    return ms.grad(f)((floats(2), floats(3)))


def selu_sum(x):
    return ops.selu(x).sum()


def written_attribute():
    net = Scale()
    first = net(floats(1))
    net.factor = 5
    return first, net(floats(1))


def hooks():
    net, calls = Scale(), []

    def hook(*args):
        calls.append(len(args))

    net.register_forward_hook(hook)
    net(floats(1)).asnumpy()
    return calls


def numpy_argument():
    def f(x):
        return ops.relu(x)

    return ms.jit(f)(np.ones(2, np.float32))


def traced_branch():
    def f(x):
        if x > 0:
            return x * 2
        return x * 3

    run = ms.jit(f, capture_mode="trace")
    return run(floats(1)), run(floats(-1))


def augmented():
    def f(x):
        y = x
        x += 1
        return y

    return ms.jit(f)(floats(1))


def gathered():
    def f(x, i):
        return ops.gather(x, i, 0)

    return ms.jit(f)(floats(1, 2), ints(5))


def after(make, steps):
    """Take steps with gradients of 1 and give the Parameter."""
    parameter = Parameter(floats(1, 2), name="p")
    optimizer = make([parameter])
    for _ in range(steps):
        optimizer((floats(1, 1),))
    return parameter


def large_rmsprop():
    parameter = Parameter(Tensor(np.ones(64, np.float32)), name="p")
    nn.RMSProp([parameter], 0.1, epsilon=0.5)((Tensor(np.ones(64, np.float32)),))
    return parameter[:1]


def groups():
    return importlib.import_module(f"{LIBRARY}.experimental.optim")


def amsgrad():
    """Tell whether a small gradient after a large one is divided by the large one."""
    moved = []
    for flag in (False, True):
        p = Parameter(floats(1), name="p")
        optimizer = groups().Adam([p], 0.1, (0.5, 0.5), amsgrad=flag)
        for gradient in (8.0, 0.5, 0.5):
            optimizer((floats(gradient),))
        moved.append(float(p.asnumpy()[0]))
    return moved[0] != moved[1]


def nadam_state():
    names = groups().NAdam([Parameter(floats(1), name="p")]).parameters_dict()
    return "mu_product_p" in names


def late_milestone():
    optimizer = groups().SGD([Parameter(floats(1), name="p")], 0.5)
    schedule = groups().lr_scheduler.MultiStepLR(optimizer, [3], 0.5)
    schedule.step(5)
    return [float(rate) for rate in schedule.get_last_lr()]


def written_rate():
    parameter = Parameter(floats(1, 2), name="p")
    optimizer = optim.SGD([parameter], lr=0.1)
    optimizer((floats(1, 1),))
    optimizer.param_groups[0]["lr"] = 0.5
    optimizer((floats(1, 1),))
    return parameter


def scaled_momentum():
    parameter, moment = Parameter(floats(1, 2), name="p"), Parameter(floats(0, 0), name="m")
    ops.ApplyMomentum(gradient_scale=2.0)(parameter, moment, 0.1, floats(1, 1), 0.9)
    return parameter


def rows():
    return ds.NumpySlicesDataset((np.ones((4, 2), np.float32), np.ones((4, 1), np.float32))).batch(
        2
    )


def two_models():
    data = rows()
    for _ in range(2):
        net = nn.Dense(2, 1)
        model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
        model.train(1, data, dataset_sink_mode=False)
    return "trained"


def saved_files(folder="saved"):
    net = nn.Dense(2, 1)
    model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    saver = train.ModelCheckpoint("net", folder, train.CheckpointConfig(2))
    model.train(1, rows(), saver, dataset_sink_mode=False)
    return ",".join(sorted(os.listdir(folder)))


def loaded_shape():
    net = nn.Dense(2, 1)
    bias = Parameter(Tensor(np.ones((1, 1, 1), np.float32)), name="bias")
    ms.load_param_into_net(net, {"bias": bias})
    return net.bias.shape


def no_digits(folder="no_digits"):
    os.makedirs(folder, exist_ok=True)
    return ds.MnistDataset(folder).get_dataset_size()


def sampled():
    class Mine(ds.Sampler):
        def __iter__(self):
            return iter([0, 2, 7])

    data = ds.NumpySlicesDataset([1, 2, 3], sampler=Mine())
    return [int(row[0]) for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def smoothed():
    return importlib.import_module(f"{LIBRARY}.dataset.transforms").OneHot(4, 0.2)(np.array([1, 2]))


def complex_column():
    return len(list(ds.NumpySlicesDataset(np.ones(2, np.complex64)).create_tuple_iterator()))


def one_parameter_each(*values):
    """Make Parameters of one number."""
    return [Parameter(floats(v), name=f"p{i}") for i, v in enumerate(values)]


def ftrl_of_a_negative_sum():
    state = one_parameter_each(1, 1, -2)
    ops.ApplyFtrl()(*state, floats(0), 0.1, 0.2, 0.3, -0.5)
    return state[0] * 1


def dual_averaging_of_a_negative_sum():
    state = one_parameter_each(0, -2, 1)
    ops.ApplyAdagradDA()(*state, floats(0), 0.1, 0.2, 0.3, 2)
    return state[0] * 1


def sparse_nesterov():
    state = [Parameter(Tensor(np.ones((2, 1), np.float32)), name=f"p{i}") for i in range(3)]
    numbers = [floats(v) for v in (0.9, 0.99, 0.01, 0.9, 0.999, 1e-6)]
    zero = Tensor(np.zeros((1, 1), np.float32))
    ops.FusedSparseAdam(use_nesterov=True)(*state, *numbers, zero, ints(0))
    return (state[0] * 1)[1]


BOTH, GRAPH = ("PYNATIVE", "GRAPH"), ("GRAPH",)
# name -> program, what MindJAX answers (the class for an error), modes in which the two differ
ROWS = {
    "negative sum of FTRL": (ftrl_of_a_negative_sum, [(2 - 0.2) / (1 / 0.1 + 0.6)], BOTH),
    "clip norms of rows": (
        lambda: nn.ClipByNorm(1)(floats([0, 3, 4], [0, 0, 2]), Tensor(1.0, ms.float32)),
        [[0, 0.6, 0.8], [0, 0, 1]],
        BOTH,
    ),
    "weight of a cross entropy": (
        lambda: nn.BCELoss(floats(1, 2, 3), "sum")(
            floats(*[[0.5] * 3] * 4), floats(*[[1, 0, 1]] * 4)
        ),
        24 * np.log(2),
        BOTH,
    ),
    "negative sum of AdagradDA": (
        dual_averaging_of_a_negative_sum,
        [0.1 * (2 - 0.4) / 1.06],
        BOTH,
    ),
    "sparse nesterov": (
        sparse_nesterov,
        [1 - 0.01 * 0.1 / 0.1 * 0.81 / (0.999**0.5 + 1e-6)],
        BOTH,
    ),
    "asnumpy": (copied_by_asnumpy, [1, 2], BOTH),
    "from_numpy": (copied_when_used, [1, 1], BOTH),
    "add_": (lambda: change(floats(1, 2), "add_", 1.0), [2, 3], BOTH),
    "exp_": (lambda: change(floats(0, 0), "exp_"), [1, 1], BOTH),
    "clamp_": (lambda: change(floats(-1, 2), "clamp_", 0.0, 1.0), [0, 1], BOTH),
    "reversed write": (lambda: reversed_write(floats(0, 0, 0)), [3, 2, 1], BOTH),
    "max of NaN": (lambda: floats(1, NAN, 2).max(), NAN, BOTH),
    "maximum of NaN": (lambda: ops.maximum(floats(NAN, 1), floats(1, NAN)), [NAN, NAN], BOTH),
    "sort of NaN": (lambda: ops.sort(floats(1, NAN, 0))[0], [0, 1, NAN], BOTH),
    "sum of nothing": (lambda: floats().sum(), 0, BOTH),
    "mean of nothing": (lambda: floats().mean(), NAN, BOTH),
    "xlogy at 0": (lambda: ops.xlogy(floats(0), floats(0)), [0], BOTH),
    "cast gradient": (lambda: ms.grad(truncated)(floats(1.5, 2.5)), [0, 0], BOTH),
    "selu gradient": (
        lambda: ms.grad(selu_sum)(floats(-1, -2)),
        [1.0507009873554805 * 1.6732632423543772 * np.exp(x) for x in (-1, -2)],
        BOTH,
    ),
    "std with dim": (lambda: floats(1, 2, 4).std(dim=0), (7 / 3) ** 0.5, BOTH),
    "a numpy number on the left": (
        lambda: isinstance(np.float32(2) * floats(1, 2), Tensor),
        True,
        BOTH,
    ),
    "sort of unsigned": (lambda: ops.sort(Tensor(np.array([3, 1], np.uint16)))[1], [1, 0], BOTH),
    "std of truth values": (lambda: Tensor([True, True]).std(), 0.0, BOTH),
    "comparison with a numpy number": (
        lambda: floats(1, 2) == np.float32(1),
        [True, False],
        BOTH,
    ),
    "a number to exp": (lambda: ops.exp(0.0), 1, BOTH),
    "an array as operand": (lambda: floats(1, 2) + np.ones(2, np.float32), [2, 3], BOTH),
    "integers to log": (lambda: ops.log(ints(1, 1)), [0, 0], BOTH),
    "a kernel without CPU": (lambda: mint.std(floats(1, 2, 4), dim=0), (7 / 3) ** 0.5, BOTH),
    "a numpy integer": (lambda: nn.Dense(np.int64(2), 1).in_channels, 2, BOTH),
    "HyperMap of unequal lengths": (
        lambda: ops.HyperMap()(ops.add, (floats(1), floats(2)), (floats(1),)),
        "ValueError",
        BOTH,
    ),
    "embedding out of range": (
        lambda: nn.Embedding(3, 1, embedding_table="ones")(ints(5)),
        [[1]],
        BOTH,
    ),
    "rows above max_norm": (rows_above_max_norm, 2, BOTH),
    "hidden key beside numbers": (hidden_key, 0, BOTH),
    "PSNR in PYNATIVE": (
        lambda: nn.PSNR()(
            Tensor(np.zeros((1, 1, 1, 1), np.float32)), Tensor(np.ones((1, 1, 1, 1), np.float32))
        ),
        [0],
        ("PYNATIVE",),
    ),
    "SyncBatchNorm before init": (
        lambda: nn.SyncBatchNorm(1, eps=1e-12)(Tensor(np.ones((1, 1), np.float32))),
        [[1]],
        BOTH,
    ),
    "label out of range": (lambda: ops.cross_entropy(logits(1, 1, 1), ints(7)), 0, BOTH),
    "gather out of range": (gathered, [NAN], BOTH),
    "one Tensor twice": (one_tensor_twice, [[4], [8]], ("PYNATIVE",)),
    "gradient of a tuple": (tuple_gradient, [[3], [2]], BOTH),
    "written attribute": (written_attribute, [[2], [5]], GRAPH),
    "hooks": (hooks, [3], GRAPH),
    "numpy argument": (numpy_argument, [1, 1], BOTH),
    "branch in a trace": (traced_branch, [[2], [-3]], BOTH),
    "augmented assignment": (augmented, [1], BOTH),
    "rates past the end": (lambda: after(lambda p: nn.SGD(p, [1.0, 0.5]), 3), [-1, 0], BOTH),
    "nesterov": (
        lambda: after(lambda p: nn.Momentum(p, 0.1, 0.9, use_nesterov=True), 1),
        [0.81, 1.81],
        BOTH,
    ),
    "gradient_scale": (scaled_momentum, [0.8, 1.8], BOTH),
    "update_slots": (
        lambda: after(lambda p: nn.Adagrad(p, 0.25, 0.1, update_slots=False), 2),
        [0.6, 1.6],
        BOTH,
    ),
    "rmsprop eps": (large_rmsprop, [1 - 0.1 / 1.5**0.5], BOTH),
    "written rate": (written_rate, [0.4, 1.4], BOTH),
    "amsgrad": (amsgrad, True, BOTH),
    "NAdam's state": (nadam_state, True, BOTH),
    "MultiStepLR": (late_milestone, [0.25], BOTH),
    "two models": (two_models, "trained", BOTH),
    "graph.meta": (saved_files, "net-1_2.ckpt", GRAPH),
    "trailing 1-dims": (loaded_shape, [1], BOTH),
    "empty folder": (no_digits, "RuntimeError", BOTH),
    "batch of -1": (lambda: bool(rows().batch(-1)), "ValueError", BOTH),
    "sampler": (sampled, [1, 3], BOTH),
    "smoothing": (smoothed, [[0.05, 0.85, 0.05, 0.05], [0.05, 0.05, 0.85, 0.05]], BOTH),
    "complex64": (complex_column, 2, BOTH),
    "module": (lambda: nn.Dense.__module__.partition(".")[0], "mindjax", ("PYNATIVE",)),
    "inplace_add gradient": (
        lambda: ms.grad(lambda x: ops.inplace_add(x, floats(1), 0).sum())(floats(1, 2)),
        [1, 1],
        BOTH,
    ),
    "eigvals of a Tensor": (
        lambda: ops.real(floats([2, 0], [0, 2]).eigvals()),
        [2, 2],
        BOTH,
    ),
    "regularized lstsq": (
        lambda: ops.Lstsq(True, 1.0)(floats([1, 0], [0, 1]), floats([2], [4])),
        [[1], [2]],
        BOTH,
    ),
    "numbers for a diagonal": (
        lambda: ops.matrix_diag_part(floats([1, 2], [3, 4]), 0, 0.0),
        [1, 4],
        BOTH,
    ),
    "lu of a tall matrix": (
        lambda: scipy_linalg().lu(floats([4], [2]), True)[0],
        [[1], [0.5]],
        BOTH,
    ),
    "rfft of complex numbers": (
        lambda: ops.real(ops.rfft(Tensor(np.array([1j, 2, 3], np.complex64)))),
        "TypeError",
        BOTH,
    ),
    "ihfftn of numpy": (
        lambda: ops.real(ms.numpy.fft.ihfftn(floats([1, 1], [1, 1]))),
        [[1, 0], [0, 0]],
        BOTH,
    ),
    "conjugate of an input": (conjugated_input, [1], ("PYNATIVE",)),
    "inverse of a singular matrix": (
        lambda: scipy_linalg().inv(floats([1, 1], [1, 1])),
        "LinAlgError",
        BOTH,
    ),
    "bessel below 0": (
        lambda: ops.isnan(ops.bessel_k0(floats(-1.0))).astype(ms.int32),
        [1],
        BOTH,
    ),
    "histc of NaN": (lambda: ops.histc(floats(1, 2, NAN), 2, 0.0, 3.0), [1, 1], BOTH),
    "unique_consecutive of NaN": (
        lambda: ops.unique_consecutive(floats(NAN, NAN, 1), False, True)[1],
        [1, 1, 1],
        ("PYNATIVE",),
    ),
    "choose among floats": (
        lambda: ints(1, 0).choose(floats([1.5, 2.5], [3.5, 4.5])),
        [3.5, 2.5],
        BOTH,
    ),
    "zeta gradient": (
        lambda: ops.round(1000 * ms.grad(lambda x: ops.zeta(x, floats(2.0)))(floats(2.0))),
        [-938],
        BOTH,
    ),
    "betainc gradient": (
        lambda: ops.round(
            1000 * ms.grad(lambda a: ops.Betainc()(a, floats(2.0), floats(0.3)))(floats(2.0))
        ),
        [-197],
        BOTH,
    ),
    "lp_pool of infinity": (
        lambda: ops.lp_pool1d(Tensor([[1.0, 3.0, 2.0, 5.0]]), float("inf"), 2),
        [[3, 5]],
        BOTH,
    ),
    "zero_infinity": (
        lambda: (
            ops.ctc_loss(
                Tensor(np.full((1, 1, 3), -1.0, np.float32)),
                Tensor([[1, 1]], ms.int32),
                Tensor([1], ms.int32),
                Tensor([1], ms.int32),
                2,
                "none",
                True,
            )[0]
            + ops.ctc_loss(
                Tensor(np.full((2, 1, 3), -1.0, np.float32)),
                Tensor([[1, 1]], ms.int32),
                Tensor([2], ms.int32),
                Tensor([2], ms.int32),
                2,
                "none",
                True,
            )[0]
        ),
        [1],
        ("PYNATIVE",),
    ),
    "small region": (
        lambda: ops.ROIAlign(2, 2, 0.5, 0, 0)(
            Tensor(np.ones((1, 1, 4, 4), np.float32)), Tensor([[0.0, 0.0, 0.0, 3.0, 3.0]])
        ),
        [[[[1, 1], [1, 1]]]],
        ("PYNATIVE",),
    ),
    "scale_factor": (
        lambda: ops.interpolate(Tensor([[[1.0, 2.0]]]), None, 2.0),
        [[[1, 1, 2, 2]]],
        BOTH,
    ),
    "fold to a tuple": (
        lambda: ops.fold(Tensor([[[1.0], [2.0], [3.0], [4.0]]]), (2, 2), 2),
        [[[[1, 2], [3, 4]]]],
        BOTH,
    ),
}


def plain(value):
    """Bring a result to what JSON holds."""
    if isinstance(value, Tensor):
        return value.asnumpy().tolist()
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def answer(name, mode):
    """Run a row's program in a mode.

    Returns:
        The plain result, or the name of the error's class.
    """
    before = ms.get_context("mode")
    ms.set_context(mode={"PYNATIVE": ms.PYNATIVE_MODE, "GRAPH": ms.GRAPH_MODE}[mode])
    try:
        return plain(ROWS[name][0]())
    except Exception as error:
        return type(error).__name__
    finally:
        ms.set_context(mode=before)


if __name__ == "__main__":
    print("JSON" + json.dumps(answer(*sys.argv[1:])), flush=True)
