"""Transforms of text, sound and images, called by themselves, against the original.

The goldens are of record_eager.py.
"""

import importlib
import json
import pathlib

import numpy as np
import pytest

import mindjax.core.dtype as ms
import mindjax.dataset as ds
from mindjax.dataset import transforms

GOLDENS = pathlib.Path(__file__).resolve().parents[1] / "goldens" / "dataset"
NAMES = ["text", "audio", "vision"]
CASES = {name: importlib.import_module(f"tests.dataset.{name}_cases") for name in NAMES}


@pytest.fixture(scope="module")
def scopes(tmp_path_factory):
    found = {}
    for name, cases in CASES.items():
        found[name] = {
            "X": importlib.import_module(f"mindjax.dataset.{name}"),
            "ds": ds,
            "T": transforms,
            "ms": ms,
            "np": np,
            "folder": str(tmp_path_factory.mktemp(name)),
        }
        exec(cases.HELPERS, found[name])
    return found


@pytest.fixture(scope="module")
def goldens():
    return {
        name: (
            dict(np.load(GOLDENS / f"{name}.npz")),
            json.loads((GOLDENS / f"{name}_errors.json").read_text())["errors"],
        )
        for name in NAMES
    }


@pytest.mark.parametrize("name", NAMES)
def test_results(name, scopes, goldens):
    wrong = []
    arrays = goldens[name][0]
    places = {}
    for key in arrays:
        places.setdefault(key.rpartition("|")[0], []).append(key)
    assert set(places) == set(CASES[name].TABLE)
    for expression in CASES[name].TABLE:
        result = eval(expression, scopes[name])
        columns = [np.asarray(c) for c in (result if isinstance(result, tuple) else (result,))]
        wanted = [arrays[key] for key in places[expression]]
        if [(c.dtype.kind, c.shape) for c in columns] != [(w.dtype.kind, w.shape) for w in wanted]:
            wrong.append((expression, columns, wanted))
            continue
        for column, want in zip(columns, wanted, strict=True):
            if want.dtype.kind in "US":
                same = np.array_equal(column, want)
            else:
                limits = getattr(CASES[name], "LIMITS", {})
                rtol, atol = limits.get(expression.partition("(")[0][2:], (1e-5, 1e-6))
                wide = complex if want.dtype.kind == "c" else np.float64
                same = column.dtype == want.dtype and np.allclose(
                    column.astype(wide), want.astype(wide), rtol, atol, equal_nan=True
                )
            if not same:
                wrong.append((expression, column, want))
    assert not wrong, "\n".join(f"{e}:\n  {c!r}\n  want {w!r}" for e, c, w in wrong)


@pytest.mark.parametrize("name", NAMES)
def test_errors(name, scopes, goldens):
    wrong = []
    assert set(goldens[name][1]) == set(CASES[name].REFUSED)
    for expression in CASES[name].REFUSED:
        try:
            result = eval(expression, scopes[name])
        except Exception as error:
            kinds = {base.__name__ for base in type(error).__mro__}
            if goldens[name][1][expression] not in kinds or "\n" in str(error):
                wrong.append((expression, repr(error), goldens[name][1][expression]))
        else:
            wrong.append((expression, result, goldens[name][1][expression]))
    assert not wrong, "\n".join(f"{e}: {c} want {w}" for e, c, w in wrong)


def test_mel_features_are_products_with_their_banks():
    """The original reads memory that it never wrote here; this is the mathematics."""
    from mindjax.dataset import audio

    signal = np.random.default_rng(0).random((2, 60))
    sizes = audio.Spectrogram(16, 16, 8, power=1.0)(signal)
    bank = audio.melscale_fbanks(9, 100.0, 3000.0, 4, 8000, audio.NormType.SLANEY)
    bands = audio.MelSpectrogram(
        8000, 16, 16, 8, 100.0, 3000.0, n_mels=4, power=1.0, norm=audio.NormType.SLANEY
    )(signal)
    want = np.einsum("cft,fm->cmt", sizes, bank)
    np.testing.assert_allclose(bands, want, rtol=1e-6)
    keywords = {"n_fft": 16, "win_length": 16, "hop_length": 8, "n_mels": 6}
    powers = audio.MelSpectrogram(8000, 16, 16, 8, n_mels=6)(signal)
    found = audio.MFCC(8000, 3, melkwargs=keywords)(signal)
    levels = 10 * np.log10(np.maximum(powers, 1e-10))
    want = np.einsum("cmt,mk->ckt", levels, audio.create_dct(3, 6, audio.NormMode.ORTHO))
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-4)
    assert found.dtype == np.float32
    linear = audio.LFCC(
        8000, 5, 4, norm=audio.NormMode.NONE, log_lf=True, speckwargs={"n_fft": 16}
    )(signal)
    powers = audio.Spectrogram(16)(signal)
    bands = np.einsum("cft,fm->cmt", powers, audio.linear_fbanks(9, 0.0, 4000, 5, 8000))
    want = np.einsum("cmt,mk->ckt", np.log(bands + 1e-6), audio.create_dct(4, 5))
    np.testing.assert_allclose(linear, want, rtol=1e-4, atol=1e-4)


def test_what_the_original_gets_wrong():
    """Rows of docs/differences.md: its documentation is followed."""
    from mindjax.dataset import text, vision

    image = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    padded = vision.NormalizePad([1, 2, 3], [1, 2, 4])(image)
    np.testing.assert_array_equal(padded[..., 3], 0)
    np.testing.assert_allclose(padded[..., :3], (image - [1.0, 2, 3]) / [1, 2, 4])
    tokens = text.BasicTokenizer(lower_case=True)("[CLS] Ünï [SEP]")
    assert tokens.tolist() == ["[CLS]", "uni", "[SEP]"]
    replaced = text.RegexReplace("one", "two", False)(["oneone", "none"])
    assert replaced.tolist() == ["twoone", "ntwo"]
    vocab = text.Vocab.from_list(["play", "##er"])
    words, starts, ends = text.WordpieceTokenizer(vocab, with_offsets=True)(["playing", "player"])
    assert words.tolist() == ["[UNK]", "play", "##er"]
    assert (starts.tolist(), ends.tolist()) == ([0, 0, 4], [7, 4, 6])
