"""The checkpoint functions against what the original did (recorded.json), case by case."""

import json
import os
import re

import pytest

import mindjax

mindjax.install()

from tests.checkpoint import scenarios as s  # noqa: E402

with open(os.path.join(s.GOLDENS, "recorded.json"), encoding="utf-8") as _file:
    RECORDED = json.load(_file)

# Where MindJAX does otherwise on purpose: what is expected, and why.
OTHERWISE = {
    ("save", "bad_integrated"): {
        "error": "TypeError",
        "message": "'integrated_save' must be a bool",
    },
    ("into", "strict_type"): {"error": "TypeError", "message": "'strict_load' must be a bool"},
    ("save", "no_directory"): {"error": "FileNotFoundError", "message": "cannot be written"},
    ("load_case", "bad_type"): {"error": "ValueError", "message": "unknown type 'Float99'"},
    ("load_case", "encrypted"): {"error": "ValueError", "message": "it is encrypted"},
    ("load_case", "crc_broken"): {"error": "ValueError", "message": "the crc check is failed"},
    ("load_case", "st_crc"): {"error": "ValueError", "message": "the crc check has failed"},
    ("load_case", "st_empty"): {"error": "ValueError", "message": "it is too short"},
}
# So much of the original's message, without spaces and quotes, must be in ours.
PHRASE = 34


def squeeze(text):
    """Bring a message to what must be equal: no space, no quotes, no place, no file."""
    text = re.sub(r"\[[^ ]*:\d+\]$", "", text.strip())
    for original, ours in (("mindspore.common", "mindjax"), ("abc.Parameter", "mindjax.Parameter")):
        text = text.replace(original, ours)
    return re.sub(r"[\s'\"]", "", text)


def compare(found, expected):
    """Compare outcomes: results whole, errors by class and the beginning of the message."""
    if "ok" in expected:
        assert found == json.loads(json.dumps(expected))
        return
    assert found.get("error") == expected["error"], found
    assert "\n" not in found["message"]
    wanted = squeeze(expected["message"])
    assert wanted[:PHRASE] in squeeze(found["message"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give the folder that the cases use."""
    return os.path.realpath(tmp_path_factory.mktemp("scenarios"))


@pytest.mark.parametrize("name", RECORDED["load"])
def test_load(name):
    found, expected = s.load_file(name), RECORDED["load"][name]
    assert list(found) == list(expected)
    for key, value in expected.items():
        if name.endswith(".safetensors"):
            # MindSpore: Parameters of this format have names given by chance; ours their own.
            value = [key, *value[1:]]
        assert found[key] == value


@pytest.mark.parametrize("name", s.FILES)
def test_saved_bytes(name, tmp_path):
    path = os.path.join(tmp_path, name)
    s.save_file(name, path)
    with open(path, "rb") as ours, open(os.path.join(s.GOLDENS, name), "rb") as theirs:
        found, expected = ours.read(), theirs.read()
    if name.endswith(".safetensors"):
        # The original writes the metadata's entries in an order of chance.
        start, end = expected.index(b"{", 9), expected.index(b"}") + 1
        assert json.loads(found[start:end]) == json.loads(expected[start:end])
        found, expected = found[end:], expected[end:]
    assert found == expected


GROUPS = [(group, name) for group in ("save", "load_case", "into") for name in RECORDED[group]]


@pytest.mark.parametrize(("group", "name"), GROUPS, ids=[f"{g}-{n}" for g, n in GROUPS])
def test_case(group, name, folder):
    cases = {"save": s.save_cases, "load_case": s.load_cases, "into": lambda folder: s.INTO}
    found = s.outcome(cases[group](folder)[name])
    for file in os.listdir(folder):
        os.remove(os.path.join(folder, file))
    text = json.dumps(found, ensure_ascii=False).replace(folder, "FOLDER")
    found = json.loads(text.replace(s.GOLDENS, "GOLDENS"))
    expected = OTHERWISE.get((group, name), RECORDED[group][name])
    if (group, name) in OTHERWISE:
        assert found["error"] == expected["error"] and expected["message"] in found["message"]
    else:
        compare(found, expected)
    if "error" in found:
        assert re.search(r"\[.*:\d+\]$", found["message"]), found
