"""Pipelines and transforms against what the original did (goldens of record_dataset.py)."""

import json
import pathlib

import numpy as np
import pytest

import mindjax.core.dtype as ms
import mindjax.dataset as ds
from mindjax.dataset import transforms, vision
from tests.dataset import cases

GOLDENS = pathlib.Path(__file__).resolve().parents[1] / "goldens" / "dataset"
ROWS = json.loads((GOLDENS / "pipelines.json").read_text())["pipelines"]
REFUSED = json.loads((GOLDENS / "errors.json").read_text())["errors"]
# OpenCV's vector code rounds some bytes of its cubic interpolation the other way.
LOOSE = {"BICUBIC": 1}


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    folder = tmp_path_factory.mktemp("folders")
    cases.write_folders(folder)
    return cases.scope(ds, vision, transforms, ms, folder)


@pytest.fixture(scope="module")
def arrays():
    with np.load(GOLDENS / "transforms.npz") as file:
        return dict(file)


@pytest.mark.parametrize("expression", cases.TRANSFORMS)
def test_transform(expression, names, arrays):
    result = eval(expression, names)
    columns = result if isinstance(result, tuple) else (result,)
    wanted = [arrays[key] for key in arrays if key.rpartition("|")[0] == expression]
    assert len(columns) == len(wanted)
    allowed = next((steps for word, steps in LOOSE.items() if word in expression), 0)
    for column, want in zip(columns, wanted, strict=True):
        column = np.asarray(column)
        assert (column.dtype, column.shape) == (want.dtype, want.shape)
        difference = np.abs(column.astype(np.float64) - want.astype(np.float64)).max(initial=0)
        assert difference <= allowed


@pytest.mark.parametrize("expression", cases.PIPELINES)
def test_pipeline(expression, names):
    found = json.loads(json.dumps(cases.describe(eval(expression, names))))
    assert found == ROWS[expression]


@pytest.mark.parametrize("expression", cases.ERRORS)
def test_error(expression, names):
    with pytest.raises(Exception) as caught:
        cases.consume(eval(expression, names))
    assert REFUSED[expression] in {base.__name__ for base in type(caught.value).__mro__}
    text = str(caught.value)
    assert (cases.ERRORS[expression] or "") in text
    assert "\n" not in text
    if "unexpected keyword" not in text:
        # The line of the user: eval's, or the loop that consumes the rows.
        assert text.endswith("]") and ("<string>:" in text or "cases.py:" in text), text


def test_every_case_is_recorded(arrays):
    assert set(cases.PIPELINES) == set(ROWS)
    assert set(cases.ERRORS) == set(REFUSED)
    assert set(cases.TRANSFORMS) == {key.rpartition("|")[0] for key in arrays}


BATCHED = [
    "V.Resize((32, 32))",
    "V.Resize((5, 11))",
    "V.Resize(4)",
    "V.Resize((9, 3), V.Inter.NEAREST)",
    "V.Rescale(1 / 255.0, -0.3)",
    "V.Normalize([33.3], [78.6])",
    "V.HWC2CHW()",
    "V.ToTensor()",
    "V.CenterCrop((20, 30))",
    "V.Pad((1, 2, 3, 4), 9)",
    "T.TypeCast(ms.float32)",
    "T.Fill(7)",
    "T.Mask(T.Relational.GT, 100)",
    "T.Compose([V.Resize(30), V.Rescale(1 / 255.0, 0.0), V.HWC2CHW()])",
]


@pytest.mark.parametrize("expression", BATCHED)
@pytest.mark.parametrize("image", ["gray", "flat", "flat.astype(np.float32)"])
def test_stacked_rows_give_the_same_bits(expression, image, names):
    transform = eval(expression, names)
    one = eval(image, names)
    rows = np.stack([one, one[::-1], one[:, ::-1]])
    assert transform.batched
    np.testing.assert_array_equal(
        transform._apply_batch(rows), np.stack([transform(row) for row in rows]), strict=True
    )


def test_vision_names_come_from_transforms_too():
    from mindjax.dataset.transforms import Compose, Normalize, ToTensor

    assert (Normalize, ToTensor) == (vision.Normalize, vision.ToTensor)
    image = np.full((2, 2, 1), 51, np.uint8)
    result = Compose([ToTensor(), Normalize([0.1], [0.5], is_hwc=False)])(image)
    np.testing.assert_allclose(result, np.full((1, 2, 2), 0.2), rtol=1e-6)


@pytest.mark.parametrize("old", ["c_transforms", "py_transforms", "transforms"])
@pytest.mark.parametrize("package", ["vision", "transforms"])
def test_old_import_paths(package, old):
    import importlib

    new = importlib.import_module(f"mindjax.dataset.{package}")
    module = importlib.import_module(f"mindjax.dataset.{package}.{old}")
    shared = [name for name in vars(module) if name[0].isupper() and hasattr(new, name)]
    assert shared and all(getattr(module, name) is getattr(new, name) for name in shared)
