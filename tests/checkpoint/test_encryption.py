"""Encrypted checkpoints: the original's files, ours, wrong keys, damaged blocks."""

import os

import numpy as np
import pytest

import mindjax as ms
from mindjax import Parameter, Tensor
from mindjax.core import cipher

pytest.importorskip("cryptography")

GOLDENS = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "goldens", "ckpt_encrypted"
)
KEY = b"0123456789abcdef"
VALUES = {"w": [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], "b": [0, 1, 2]}


def values(found):
    return {name: parameter.asnumpy().tolist() for name, parameter in found.items()}


def parameters():
    return [
        Parameter(Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)), name="w"),
        Parameter(Tensor(np.arange(3, dtype=np.int32)), name="b"),
    ]


@pytest.mark.parametrize("mode", cipher.MODES)
def test_what_the_original_encrypted_is_read(mode):
    path = os.path.join(GOLDENS, f"enc_{mode}.ckpt")
    assert values(ms.load_checkpoint(path, dec_key=KEY, dec_mode=mode)) == VALUES
    other = "AES-CBC" if mode == "AES-GCM" else "AES-GCM"
    for wrong in ({"dec_key": b"1" * 16, "dec_mode": mode}, {"dec_key": KEY, "dec_mode": other}):
        with pytest.raises(ValueError, match="please pass in the correct 'dec_key'"):
            ms.load_checkpoint(path, **wrong)
    with pytest.raises(ValueError, match="it is encrypted: give its key as 'dec_key'"):
        ms.load_checkpoint(path)


CASES = [(mode, length) for mode in cipher.MODES for length in (16, 24, 32)]


@pytest.mark.parametrize(("mode", "length"), CASES)
def test_round_trip(tmp_path, mode, length, monkeypatch):
    # Several blocks; the last one is full.
    monkeypatch.setattr(cipher, "BLOCK_BYTES", 7)
    key, path = (KEY * 2)[:length], str(tmp_path / "a.ckpt")
    if mode == "SM4-CBC" and length != 16:
        with pytest.raises(ValueError, match="takes a key of"):
            ms.save_checkpoint(parameters(), path, enc_key=key, enc_mode=mode)
        assert os.listdir(tmp_path) == []
        return
    ms.save_checkpoint(parameters(), path, enc_key=key, enc_mode=mode, crc_check=True)
    with open(path, "rb") as file:
        content = file.read()
    assert b"Float32" not in content
    found = ms.load_checkpoint(path, dec_key=key, dec_mode=mode, crc_check=True)
    assert values(found) == VALUES
    damaged = bytearray(content)
    damaged[60] ^= 1
    (tmp_path / "b.ckpt").write_bytes(bytes(damaged))
    with pytest.raises(ValueError, match="Failed to read the checkpoint file"):
        ms.load_checkpoint(str(tmp_path / "b.ckpt"), dec_key=key, dec_mode=mode, crc_check=True)


@pytest.mark.parametrize("options", [{"enc_key": b"abc"}, {"enc_key": KEY, "enc_mode": "XYZ"}])
def test_wrong_keys_write_nothing(tmp_path, options):
    with pytest.raises(ValueError, match="For 'save_checkpoint'") as caught:
        ms.save_checkpoint(parameters(), str(tmp_path / "a.ckpt"), **options)
    assert __file__ in str(caught.value) and os.listdir(tmp_path) == []


def test_a_key_for_a_plain_file(tmp_path):
    path = str(tmp_path / "a.ckpt")
    ms.save_checkpoint(parameters(), path)
    with pytest.raises(ValueError, match="it is not encrypted with AES-GCM"):
        ms.load_checkpoint(path, dec_key=KEY)


def test_in_the_background(tmp_path):
    path = str(tmp_path / "a.ckpt")
    ms.save_checkpoint(parameters(), path, enc_key=KEY, async_save=True)
    ms.save_checkpoint(parameters(), str(tmp_path / "b.ckpt"))
    assert values(ms.load_checkpoint_async(path, dec_key=KEY).result()) == VALUES


def test_training_saves_encrypted_files(tmp_path):
    net = ms.nn.Dense(3, 1)
    data = ms.dataset.NumpySlicesDataset(
        (np.ones((4, 3), np.float32), np.ones((4, 1), np.float32)), ["x", "y"]
    ).batch(2)
    config = ms.train.CheckpointConfig(save_checkpoint_steps=2, enc_key=KEY, enc_mode="AES-CBC")
    saver = ms.train.ModelCheckpoint("net", str(tmp_path), config)
    ms.train.Model(net, ms.nn.MSELoss(), ms.nn.SGD(net.trainable_params(), 0.1)).train(
        1, data, callbacks=[saver]
    )
    path = os.path.join(tmp_path, "net-1_2.ckpt")
    with pytest.raises(ValueError, match="encrypted"):
        ms.load_checkpoint(path)
    found = ms.load_checkpoint(path, dec_key=KEY, dec_mode="AES-CBC")
    assert np.array_equal(found["weight"].asnumpy(), net.weight.asnumpy())
    with pytest.raises(ValueError, match=r"For .*key of"):
        ms.train.CheckpointConfig(enc_key=b"short")
