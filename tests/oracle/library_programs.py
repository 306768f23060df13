"""Short programs of libraries written for MindSpore: data, training steps, validation, generation.

Each function of `PROGRAMS` runs under the original and under MindJAX. What it returns is compared,
and `Kept` gives the second run the Parameters that the first one began with.
"""

import pathlib
import tempfile
import time
import traceback

import numpy as np


class Kept:
    """Parameters that networks began with: noted in the first run, given in the second."""

    def __init__(self, values=None):
        self.given = values is not None
        self.values = values if self.given else {}

    def same(self, name, net):
        """Give a network the Parameters that the first run's had, by their order."""
        import mindspore as ms

        every = list(net.get_parameters())
        if not self.given:
            # The original's arrays are the Parameters' own memory.
            self.values[name] = [p.asnumpy().copy() for p in every]
            return net
        for parameter, value in zip(every, self.values[name], strict=True):
            parameter.set_data(ms.Tensor(value, parameter.dtype))
        return net


def _numbers(value):
    """Turn what a program gives into arrays."""
    if isinstance(value, dict):
        return {key: _numbers(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_numbers(part) for part in value]
    if isinstance(value, (str, type(None))):
        return value
    array = np.array(value.asnumpy() if hasattr(value, "asnumpy") else value)
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def _sums(net):
    """Give the sum of magnitudes of each Parameter."""
    return np.array([float(np.abs(p.asnumpy()).sum()) for p in net.get_parameters()])


def _tensor(seed, *shape):
    import mindspore as ms

    return ms.Tensor(np.random.RandomState(seed).randn(*shape).astype(np.float32))


def _stepped(net, optimizer, forward, count=2):
    """Take steps by value_and_grad; the losses and the sums of the first gradients."""
    import mindspore as ms

    step = ms.value_and_grad(forward, None, optimizer.parameters)
    losses, first = [], None
    for _ in range(count):
        loss, gradients = step()
        if first is None:
            first = np.array([float(np.abs(g.asnumpy()).sum()) for g in gradients])
        optimizer(gradients)
        losses.append(float(loss.asnumpy()))
    return {"losses": losses, "gradients": first, "weights": _sums(net)}


def _images(folder):
    """Write small pictures of two classes."""
    from PIL import Image

    random = np.random.RandomState(0)
    for split, count in (("train", 8), ("val", 4)):
        for kind in range(2):
            place = folder / split / f"class{kind}"
            place.mkdir(parents=True)
            for number in range(count):
                small = random.randint(0, 255, (8, 8, 3), dtype=np.uint8)
                small[..., kind] //= 3
                Image.fromarray(small).resize((80, 72)).save(place / f"{number}.png")
    return str(folder)


def _small(classes=2):
    from mindspore import nn

    return nn.SequentialCell(
        nn.Conv2d(3, 4, 3, 2, has_bias=True),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Conv2d(4, 8, 3, 4, has_bias=True),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dense(8 * 8 * 8, classes),
    )


def _mindcv_loaders(folder, batch=4):
    from mindcv.data import create_dataset, create_loader, create_transforms

    loaders = []
    for split in ("train", "val"):
        data = create_dataset("", root=folder, split=split, shuffle=False, num_parallel_workers=1)
        turned = create_transforms("", image_resize=64, is_training=False)
        loaders.append(
            create_loader(data, batch, True, False, 0.0, 0.0, 0.0, 2, turned, None, 1, False)
        )
    return loaders


def mindcv_data(kept):
    """Read a folder of images with mindcv's own pipeline for validation."""
    with tempfile.TemporaryDirectory() as place:
        loaders = _mindcv_loaders(_images(pathlib.Path(place) / "images"))
        return {
            f"{split} {name}": [row[name] for row in loader.create_dict_iterator(1, True)]
            for split, loader in zip(("train", "val"), loaders, strict=True)
            for name in ("image", "label")
        }


def mindcv_training_data(kept):
    """Give the shapes of what mindcv's random pipelines for training make."""
    from mindcv.data import create_dataset, create_loader, create_transforms

    found = {}
    cases = {
        "plain": {"color_jitter": 0.4, "re_prob": 0.5},
        "randaug": {"auto_augment": "randaug-m9-mstd0.5-inc1"},
        "autoaug": {"auto_augment": "autoaug-mstd0.5"},
        "trivial": {"auto_augment": "trivialaugwide-m31"},
        "augmix": {"auto_augment": "augmix-m5"},
    }
    with tempfile.TemporaryDirectory() as place:
        folder = _images(pathlib.Path(place) / "images")
        for name, arguments in cases.items():
            data = create_dataset("", root=folder, shuffle=True, num_parallel_workers=1)
            turned = create_transforms("", image_resize=64, is_training=True, **arguments)
            loader = create_loader(
                data,
                4,
                True,
                True,
                num_classes=2,
                transform=turned,
                num_parallel_workers=1,
                mixup=0.8,
                cutmix=1.0,
                cutmix_prob=1.0,
            )
            rows = list(loader.create_dict_iterator(1, True))
            kinds = [{k: f"{v.shape} {v.dtype}" for k, v in row.items()} for row in rows]
            found[name] = str(kinds)
    return found


def mindcv_losses(kept):
    """Compare mindcv's losses and their gradients."""
    import mindspore as ms
    from mindcv.loss import create_loss

    found = {}
    whole = ms.Tensor([1, 3, 0, 2, 1, 0], ms.int32)
    dense = ms.Tensor(np.random.RandomState(1).dirichlet(np.ones(4), 6).astype(np.float32))
    for name, labels in (
        ("ce", whole),
        ("ce", dense),
        ("bce", dense),
        ("asl_single_label", whole),
        ("asl_multi_label", dense),
        ("jsd", whole),
    ):
        for reduction in ("mean", "sum"):
            loss = create_loss(name, reduction=reduction, label_smoothing=0.1)
            step = ms.value_and_grad(lambda x, y, loss=loss: loss(x, y))
            value, gradient = step(_tensor(2, 6, 4), labels)
            found[f"{name} {labels.dtype} {reduction}"] = [value, gradient]
    return found


def mindcv_optimizers(kept):
    """Take three steps with each optimizer that mindcv makes, but Lamb, which needs Ascend."""
    import mindspore as ms
    from mindcv.optim import create_optimizer
    from mindspore import nn, ops

    found = {}
    images, labels = _tensor(0, 6, 3, 4), ms.Tensor([0, 1, 1, 0, 1, 0], ms.int32)
    for name in [
        "sgd",
        "momentum",
        "nesterov",
        "adam",
        "adamw",
        "lion",
        "nadam",
        "adan",
        "rmsprop",
        "adagrad",
    ]:
        for sort in ("norm_and_bias", "auto"):
            layers = [nn.Flatten(), nn.Dense(12, 4), nn.BatchNorm1d(4), nn.Dense(4, 2)]
            net = kept.same(f"{name} {sort}", nn.SequentialCell(layers))
            net.set_train()
            made = create_optimizer(
                net, name, lr=[0.01, 0.005, 0.001], weight_decay=0.1, weight_decay_filter=sort
            )
            found[f"{name} {sort}"] = _stepped(
                net, made, lambda net=net: ops.cross_entropy(net(images), labels), 3
            )
    return found


def mindcv_schedulers(kept):
    """List the learning rates of each schedule."""
    from mindcv.scheduler import create_scheduler

    found = {}
    for name in [
        "constant",
        "cosine_decay",
        "one_cycle",
        "cyclic",
        "exponential_decay",
        "polynomial_decay",
        "step_decay",
        "multi_step_decay",
    ]:
        for warm in (0, 2):
            for stair in (False, True):
                try:
                    rates = create_scheduler(
                        5,
                        name,
                        0.1,
                        1e-4,
                        warm,
                        0.01,
                        4,
                        0.9,
                        [3, 5],
                        8,
                        lr_epoch_stair=stair,
                    )
                    found[f"{name} {warm} {stair}"] = np.array([float(r) for r in rates])
                except Exception as error:
                    found[f"{name} {warm} {stair}"] = type(error).__name__
    return found


def _written(folder):
    """List a folder's files once those that are being written are there."""
    for _ in range(100):
        names = [path.name for path in folder.iterdir()]
        if not any(name.startswith(".") for name in names):
            break
        time.sleep(0.1)
    return names


def mindcv_training(kept):
    """Train and validate with mindcv's trainer and callbacks, its options one after the other."""
    from mindcv.loss import create_loss
    from mindcv.optim import create_optimizer
    from mindcv.scheduler import create_scheduler
    from mindcv.utils import StateMonitor, create_trainer
    from mindspore.train import Callback, History

    class Losses(Callback):
        def __init__(self):
            self.seen = []

        def on_train_step_end(self, run_context):
            loss = run_context.original_args().net_outputs
            loss = loss[0] if isinstance(loss, tuple) else loss
            self.seen.append(float(loss.asnumpy()))

    plain = {"loss_scale_type": "fixed", "loss_scale": 1.0, "amp_level": "O0"}
    cases = {
        "plain": plain,
        "scaled": {**plain, "loss_scale": 8.0},
        "auto": {**plain, "loss_scale_type": "auto"},
        "ema": {**plain, "ema": True, "ema_decay": 0.9},
        "clipped": {**plain, "clip_grad": True, "clip_value": 0.1},
        "accumulated": {**plain, "gradient_accumulation_steps": 2},
        "O2": {**plain, "amp_level": "O2"},
        "O2 ema": {**plain, "amp_level": "O2", "ema": True},
        "O1": {**plain, "amp_level": "O1"},
        "O3": {**plain, "amp_level": "O3"},
    }
    found = {}
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        folder = _images(place / "images")
        for name, arguments in cases.items():
            train, val = _mindcv_loaders(folder)
            try:
                net = _small()
                kept.same(name, net)
                rates = create_scheduler(
                    4, "cosine_decay", 0.01, 1e-4, 1, 0.1, decay_epochs=1, num_epochs=2
                )
                made = create_optimizer(
                    net, "momentum", rates, 1e-3, 0.9, weight_decay_filter="norm_and_bias"
                )
                trainer = create_trainer(
                    net,
                    create_loss("CE", label_smoothing=0.1),
                    made,
                    {"acc"},
                    amp_cast_list=None,
                    **arguments,
                )
                losses = Losses()
                monitor = StateMonitor(
                    trainer,
                    summary_dir=str(place / name / "summary"),
                    model_name="net",
                    model_ema=arguments.get("ema", False),
                    dataset_sink_mode=False,
                    # With averages the original's loading refuses what the library gives it.
                    dataset_val=None if "ema" in name else val,
                    metric_name=["acc"],
                    ckpt_save_dir=str(place / name),
                    log_interval=1,
                )
                trainer.train(
                    2, train, callbacks=[monitor, losses, History()], dataset_sink_mode=False
                )
                found[name] = {
                    "losses": losses.seen,
                    "weights": _sums(net),
                    "validated": list(trainer.eval(val, dataset_sink_mode=False).values()),
                    "files": ", ".join(sorted(_written(place / name))),
                }
            except Exception as error:
                found[name] = f"{type(error).__name__}: {error}"
                traceback.print_exc(limit=-4)
    return found


_BACKBONE8 = [
    [-1, 1, "ConvNormAct", [64, 3, 2]],
    [-1, 1, "ConvNormAct", [128, 3, 2]],
    [-1, 3, "C2f", [128, True]],
    [-1, 1, "ConvNormAct", [256, 3, 2]],
    [-1, 6, "C2f", [256, True]],
    [-1, 1, "ConvNormAct", [512, 3, 2]],
    [-1, 6, "C2f", [512, True]],
    [-1, 1, "ConvNormAct", [1024, 3, 2]],
    [-1, 3, "C2f", [1024, True]],
    [-1, 1, "SPPF", [1024, 5]],
]


def _head8(last):
    return [
        [-1, 1, "Upsample", ["None", 2, "nearest"]],
        [[-1, 6], 1, "Concat", [1]],
        [-1, 3, "C2f", [512]],
        [-1, 1, "Upsample", ["None", 2, "nearest"]],
        [[-1, 4], 1, "Concat", [1]],
        [-1, 3, "C2f", [256]],
        [-1, 1, "ConvNormAct", [256, 3, 2]],
        [[-1, 12], 1, "Concat", [1]],
        [-1, 3, "C2f", [512]],
        [-1, 1, "ConvNormAct", [512, 3, 2]],
        [[-1, 9], 1, "Concat", [1]],
        [-1, 3, "C2f", [1024]],
        last,
    ]


_BACKBONE5 = [
    [-1, 1, "ConvNormAct", [64, 6, 2, 2]],
    [-1, 1, "ConvNormAct", [128, 3, 2]],
    [-1, 3, "C3", [128]],
    [-1, 1, "ConvNormAct", [256, 3, 2]],
    [-1, 6, "C3", [256]],
    [-1, 1, "ConvNormAct", [512, 3, 2]],
    [-1, 9, "C3", [512]],
    [-1, 1, "ConvNormAct", [1024, 3, 2]],
    [-1, 3, "C3", [1024]],
    [-1, 1, "SPPF", [1024, 5]],
]


def _head5(last):
    return [
        [-1, 1, "ConvNormAct", [512, 1, 1]],
        [-1, 1, "Upsample", ["None", 2, "nearest"]],
        [[-1, 6], 1, "Concat", [1]],
        [-1, 3, "C3", [512, False]],
        [-1, 1, "ConvNormAct", [256, 1, 1]],
        [-1, 1, "Upsample", ["None", 2, "nearest"]],
        [[-1, 4], 1, "Concat", [1]],
        [-1, 3, "C3", [256, False]],
        [-1, 1, "ConvNormAct", [256, 3, 2]],
        [[-1, 14], 1, "Concat", [1]],
        [-1, 3, "C3", [512, False]],
        [-1, 1, "ConvNormAct", [512, 3, 2]],
        [[-1, 10], 1, "Concat", [1]],
        [-1, 3, "C3", [1024, False]],
        last,
    ]


_ANCHORS = [
    [10, 13, 16, 30, 33, 23],
    [30, 61, 62, 45, 59, 119],
    [116, 90, 156, 198, 373, 326],
]
_GAINS = {
    "box": 0.05,
    "obj": 1.0,
    "cls": 0.5,
    "dfl": 1.5,
    "anchor_t": 4.0,
    "label_smoothing": 0.0,
    "fl_gamma": 0.0,
    "cls_pw": 1.0,
    "obj_pw": 1.0,
}


def _yolo(kept, model, loss, backbone, head, **gains):
    """Predict, and take two steps of mindyolo's own step, with a tiny network of one kind."""
    import mindspore as ms
    from mindyolo.models import create_loss, create_model
    from mindyolo.optim import EMA, create_optimizer
    from mindyolo.utils.config import Config
    from mindyolo.utils.train_step_factory import create_train_step_fn, get_loss_scaler

    shape = {
        "nc": 3,
        "reg_max": 16,
        "stride": [8, 16, 32],
        "anchors": _ANCHORS,
        "depth_multiple": 0.33,
        "width_multiple": 0.125,
        "max_channels": 1024,
        "backbone": backbone,
        "head": head,
    }
    net = kept.same(model, create_model(model, Config(shape), num_classes=3))
    averaged = kept.same(f"{model} ema", create_model(model, Config(shape), num_classes=3))
    image = _tensor(0, 2, 3, 64, 64)
    net.set_train(False)
    out = net(image)
    found = {"predicted": out[0] if isinstance(out, (list, tuple)) else out}
    net.set_train(True)
    labels = np.zeros((2, 4, 6), np.float32) - 1
    labels[0, :2] = [[0, 1, 0.5, 0.5, 0.4, 0.5], [0, 2, 0.3, 0.6, 0.2, 0.3]]
    labels[1, :1] = [[1, 0, 0.6, 0.4, 0.7, 0.6]]
    measure = create_loss(
        loss, nc=3, stride=shape["stride"], anchors=_ANCHORS, **{**_GAINS, **gains}
    )
    made = create_optimizer(
        net.trainable_params(), "momentum", lr=0.01, weight_decay=5e-4, nesterov=True
    )
    step = create_train_step_fn(
        "detect",
        net,
        measure,
        made,
        1.0,
        get_loss_scaler("static", 8.0),
        lambda gradients: gradients,
        ema=EMA(net, averaged, 0.9),
        ms_jit=ms.get_context("mode") == ms.GRAPH_MODE,
    )
    try:
        step(image, ms.Tensor(labels), False)
    except Exception as error:
        # Some losses of the library do not run under the release that it is compared with.
        found["loss"] = f"{type(error).__name__}: {error}".split("\n")[0]
        return found | _stepped(net, made, lambda: sum((part**2).mean() for part in net(image)))
    for turn in range(2):
        loss, items, gradients, finite = step(image, ms.Tensor(labels), True)
        found[f"step {turn}"] = [loss, items, bool(finite.asnumpy())]
        if turn == 0:
            found["gradients"] = np.array([float(np.abs(g.asnumpy()).sum()) for g in gradients])
    found["weights"], found["averaged"] = _sums(net), _sums(averaged)
    return found


def mindyolo_v8(kept):
    """A tiny yolov8."""
    last = [[15, 18, 21], 1, "YOLOv8Head", ["nc", "reg_max", "stride"]]
    return _yolo(kept, "yolov8", "YOLOv8Loss", _BACKBONE8, _head8(last), box=7.5)


def mindyolo_v5(kept):
    """A tiny yolov5."""
    last = [[17, 20, 23], 1, "YOLOv5Head", ["nc", "anchors", "stride"]]
    return _yolo(kept, "yolov5", "YOLOv5Loss", _BACKBONE5, _head5(last))


def mindyolo_v7(kept):
    """The blocks of yolov5 with yolov7's head and loss."""
    last = [[17, 20, 23], 1, "YOLOv7Head", ["nc", "anchors", "stride"]]
    return _yolo(kept, "yolov7", "YOLOv7Loss", _BACKBONE5, _head5(last))


def mindyolo_x(kept):
    """The blocks of yolov5 with yolox's head and loss."""
    last = [[17, 20, 23], 1, "YOLOXHead", ["nc", "stride"]]
    return _yolo(kept, "yolox", "YOLOXLoss", _BACKBONE5, _head5(last), use_l1=True)


def mindyolo_v10(kept):
    """The blocks of yolov8 with yolov10's head and loss."""
    last = [[15, 18, 21], 1, "YOLOv10Head", ["nc", "reg_max", "stride"]]
    return _yolo(kept, "yolov10", "YOLOv10Loss", _BACKBONE8, _head8(last), box=7.5)


def _without_abinet():
    """Let mindocr import: abinet's layers ask for modules that the release has no more."""
    import sys
    import types

    module = types.ModuleType("mindocr.models.utils.abinet_layers")
    module.__getattr__ = lambda name: type(name, (), {})
    sys.modules[module.__name__] = module


def mindocr_dbnet(kept):
    """Detect text: forward, DBNet's loss, two steps, on random images."""
    import mindspore as ms

    _without_abinet()
    from mindocr.losses import build_loss
    from mindocr.models import build_model
    from mindspore import nn

    config = {
        "backbone": {"name": "det_resnet18", "pretrained": False},
        "neck": {"name": "DBFPN", "out_channels": 32, "bias": False},
        "head": {"name": "DBHead", "k": 50, "bias": False, "adaptive": True},
    }
    net = kept.same("dbnet", build_model(config))
    image = _tensor(0, 1, 3, 64, 64)
    net.set_train(False)
    found = {"predicted": net(image)}
    net.set_train(True)
    random = np.random.RandomState(1)
    maps = [(random.rand(1, *s) > 0.5).astype(np.float32) for s in ((1, 64, 64), (64, 64))]
    areas = [maps[0], maps[1], random.rand(1, 64, 64).astype(np.float32), 1 - maps[1]]
    targets = [ms.Tensor(area) for area in areas]
    measure = build_loss("DBLoss")
    made = nn.Momentum(net.trainable_params(), 0.007, 0.9, 1e-4)
    return found | _stepped(net, made, lambda: measure(net(image), *targets))


def mindocr_crnn(kept):
    """Read text: forward, CTC loss and two steps."""
    import mindspore as ms

    _without_abinet()
    from mindocr.losses import build_loss
    from mindocr.models import build_model
    from mindspore import nn

    config = {
        "backbone": {"name": "rec_vgg7", "pretrained": False},
        "neck": {"name": "RNNEncoder", "hidden_size": 32},
        "head": {
            "name": "CTCHead",
            "out_channels": 37,
            "weight_init": "crnn_customised",
            "bias_init": "crnn_customised",
        },
    }
    net = kept.same("crnn", build_model(config))
    image = _tensor(0, 2, 3, 32, 100)
    net.set_train(False)
    found = {"predicted": net(image)}
    net.set_train(True)
    letters = ms.Tensor(np.random.RandomState(1).randint(0, 36, (2, 8)), ms.int32)
    measure = build_loss("CTCLoss", pred_seq_len=24, max_label_len=8, batch_size=2)
    found["loss before"] = measure(net(image), letters)
    made = nn.Adam(net.trainable_params(), 1e-3)
    return found | _stepped(net, made, lambda: measure(net(image), letters))


def mindone_llama(kept):
    """A tiny llama of mindone.transformers: forward, loss, one step, ten tokens."""
    import mindspore as ms
    from mindone.transformers import LlamaForCausalLM
    from mindspore import nn
    from transformers import LlamaConfig

    config = LlamaConfig(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        attn_implementation="eager",
    )
    net = kept.same("llama", LlamaForCausalLM(config))
    net.set_train(False)
    ids = ms.Tensor(np.random.RandomState(0).randint(3, 64, (2, 9)), ms.int32)
    found = {"logits": net(ids)[0]}
    made = nn.AdamWeightDecay(net.trainable_params(), 1e-3)
    found |= _stepped(net, made, lambda: net(ids, labels=ids)[0], 1)
    found["tokens"] = net.generate(ids, max_new_tokens=10, do_sample=False)
    return found


def mindone_unet(kept):
    """A tiny UNet of mindone.diffusers: forward and one step, and a scheduler's denoising."""
    import mindspore as ms
    from mindone.diffusers import DDIMScheduler, UNet2DConditionModel
    from mindspore import nn

    net = UNet2DConditionModel(
        sample_size=8,
        block_out_channels=(8, 16),
        layers_per_block=1,
        norm_num_groups=4,
        cross_attention_dim=8,
        attention_head_dim=4,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
    )
    kept.same("unet", net)
    net.set_train(False)
    image, text = _tensor(0, 1, 4, 8, 8), _tensor(1, 1, 5, 8)
    at = ms.Tensor([10], ms.int32)
    found = {"out": net(image, at, text)[0]}
    made = nn.AdamWeightDecay(net.trainable_params(), 1e-3)
    found |= _stepped(net, made, lambda: (net(image, at, text)[0] ** 2).mean(), 1)
    steps = DDIMScheduler()
    steps.set_timesteps(3)
    for moment in steps.timesteps:
        image = steps.step(net(image, moment, text)[0], moment, image)[0]
    found["denoised"] = image
    return found


def mindone_vae(kept):
    """A tiny AutoencoderKL of mindone.diffusers: its mean, and a step of reconstruction."""
    from mindone.diffusers import AutoencoderKL
    from mindspore import nn

    net = AutoencoderKL(
        block_out_channels=(8, 16),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        norm_num_groups=4,
        latent_channels=4,
    )
    kept.same("vae", net)
    net.set_train(False)
    image = _tensor(0, 1, 3, 16, 16)

    def rebuilt():
        return net.decode(net.diag_gauss_dist.mode(net.encode(image)[0]))[0]

    found = {"out": rebuilt()}
    made = nn.AdamWeightDecay(net.trainable_params(), 1e-3)
    return found | _stepped(net, made, lambda: ((rebuilt() - image) ** 2).mean(), 1)


def mindformers_llama(kept):
    """A tiny llama of mindformers: forward, loss, one step, five tokens."""
    import mindspore as ms
    from mindformers.models.llama import LlamaConfig, LlamaForCausalLM
    from mindspore import nn

    config = LlamaConfig(
        batch_size=2,
        seq_length=16,
        hidden_size=32,
        num_layers=2,
        num_heads=4,
        vocab_size=64,
        multiple_of=8,
        compute_dtype="float32",
        layernorm_compute_type="float32",
        softmax_compute_type="float32",
        rotary_dtype="float32",
        param_init_type="float32",
        use_past=False,
        use_flash_attention=False,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    net = kept.same("mindformers llama", LlamaForCausalLM(config))
    ids = np.random.RandomState(0).randint(3, 64, (2, 17))
    net.set_train(True)
    tokens = ms.Tensor(ids, ms.int32)
    made = nn.AdamWeightDecay(net.trainable_params(), 1e-3)
    found = _stepped(net, made, lambda: net(tokens), 1)
    net.set_train(False)
    found["logits"] = net(ms.Tensor(ids[:, :16], ms.int32))[0]
    written = net.generate(ids[:, :4].tolist(), max_length=9, do_sample=False)
    found["tokens"] = [np.asarray(row) for row in written]
    return found


PROGRAMS = {
    name: function
    for name, function in list(globals().items())
    if callable(function) and name.split("_")[0].startswith("mind")
}


def run(wanted, kept):
    """Run programs; of one that fails, the error's class and words."""
    found = {}
    for name in wanted:
        try:
            found[name] = _numbers(PROGRAMS[name](kept))
        except Exception as error:
            traceback.print_exc(limit=-6)
            found[name] = f"{type(error).__name__}: {error}"
        print("ran", name, flush=True)
    return found


def _compared(path, ours, theirs):
    """Give differences: a path, and a number or words."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in {**theirs, **ours}:
            yield from _compared(f"{path}/{key}", ours.get(key), theirs.get(key))
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            yield from _compared(f"{path}/{index}", a, b)
    elif isinstance(ours, np.ndarray) and isinstance(theirs, np.ndarray):
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            yield path, f"{ours.dtype}{ours.shape}, not {theirs.dtype}{theirs.shape}"
        elif ours.size:
            a, b = ours.astype(np.float64), theirs.astype(np.float64)
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            off = np.where(same, 0.0, np.abs(a - b))
            yield path, float(off.max() / (np.abs(b[np.isfinite(b)]).max(initial=0) + 1e-30))
    elif ours != theirs:
        yield path, f"{str(ours)[:300]!r}, not {str(theirs)[:300]!r}"


def differences(theirs, ours, bound=1e-4):
    """Say a line for each program, and one for each part that differs by more than the bound."""
    lines = []
    for name, one in ours.items():
        parts = list(_compared("", one, theirs[name]))
        worst = max((off for _, off in parts if not isinstance(off, str)), default=0.0)
        lines.append(f"{name}: {len(parts)} parts, largest difference {worst:.1e}")
        lines += [
            f"  {name}{path}: {off if isinstance(off, str) else f'{off:.1e}'}"
            for path, off in parts
            if isinstance(off, str) or not off <= bound
        ]
    return lines
