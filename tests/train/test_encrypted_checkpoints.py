"""`ModelCheckpoint` encrypts what it writes."""

import numpy as np
import pytest

import mindjax as ms
import mindjax.dataset as ds
from mindjax import nn
from mindjax.train import CheckpointConfig, Model, ModelCheckpoint

KEY = b"0123456789abcdef"


def test_the_key_is_used(tmp_path):
    network = nn.Dense(3, 2)
    arrays = np.ones((4, 3), np.float32), np.zeros((4,), np.int32)
    data = ds.NumpySlicesDataset(arrays, shuffle=False).batch(2)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(network, loss, nn.Momentum(network.trainable_params(), 0.1, 0.9))
    config = CheckpointConfig(save_checkpoint_steps=2, enc_key=KEY, enc_mode="AES-CBC")
    model.train(1, data, [ModelCheckpoint("net", str(tmp_path), config)], dataset_sink_mode=False)
    path = str(tmp_path / "net-1_2.ckpt")
    found = ms.load_checkpoint(path, dec_key=KEY, dec_mode="AES-CBC")
    np.testing.assert_array_equal(found["weight"].asnumpy(), network.weight.asnumpy())
    with pytest.raises(ValueError, match="read"):
        ms.load_checkpoint(path)
