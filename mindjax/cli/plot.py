"""``mindjax plot``: curves of loss and accuracy as a picture."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from mindjax.train.summary.reader import Scalars, event_scalars, log_scalars

_SHARES = ("acc", "top", "precision", "recall", "f1", "fbeta", "dice", "auc")
# Okabe and Ito: told apart by everybody. The first is black, kept for text.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_DASHES = ("-", "--", ":", "-.")


def plot(run: str, out: str | None = None) -> int:
    """Draw the scalars of a run.

    Args:
        run: folder with files of events, also in folders within, of which each is a run; or such a
            file; or a text with the lines of ``LossMonitor``.
        out: the PNG file; None for ``curves.png`` in the folder, or beside the file.

    Returns:
        The process's exit status: 2 if there is nothing to draw.
    """
    path = Path(run)
    try:
        curves = read_run(path)
        target = Path(out) if out else _beside(path)
        _figure(curves).savefig(target, dpi=150)
    except (OSError, ValueError, ModuleNotFoundError) as error:
        print(f"mindjax: {error}", file=sys.stderr)
        return 2
    print(f"{target}: {_listed(curves)}")
    return 0


def _beside(path: Path) -> Path:
    return path / "curves.png" if path.is_dir() else path.with_name(f"{path.name}.png")


def read_run(path: Path) -> dict[str, Scalars]:
    """Read the scalars of one run or several.

    Args:
        path: see `plot`.

    Returns:
        The scalars by name of the run.

    Raises:
        FileNotFoundError: there is no such path, or no file of events in it.
        ValueError: the files hold no scalars.
    """
    if not path.exists():
        raise FileNotFoundError(f"there is no {path}")
    found: dict[str, Scalars] = {}
    if path.is_file():
        is_events = "tfevents" in path.name
        found[path.name] = event_scalars(path) if is_events else log_scalars(path)
    else:
        files = sorted(path.rglob("*tfevents*"))
        if not files:
            raise FileNotFoundError(
                f"{path} holds no file of events (*tfevents*): train with "
                f"SummaryCollector({str(path)!r}), or give a text that LossMonitor has printed"
            )
        for file in files:
            name = file.parent.relative_to(path).as_posix()
            run = found.setdefault(path.resolve().name if name == "." else name, {})
            for tag, points in event_scalars(file).items():
                run.setdefault(tag, []).extend(points)
    found = {name: run for name, run in found.items() if run}
    if not found:
        raise ValueError(
            f"{path} holds no scalars: record some with SummaryCollector or ops.ScalarSummary, or "
            "give a text with the lines of LossMonitor"
        )
    return found


def _panel_of(tag: str) -> str:
    word = tag.lower()
    if "loss" in word:
        return "loss"
    return "accuracy" if any(share in word for share in _SHARES) else "other"


def _figure(curves: dict[str, Scalars]) -> Any:
    """Draw one panel each for losses, for shares such as accuracy, and for what else there is."""
    try:
        figure_class = importlib.import_module("matplotlib.figure").Figure
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != "matplotlib":
            raise
        raise ModuleNotFoundError(
            'curves are drawn with matplotlib, which is not installed here: pip install "'
            'mindjax[demo]"',
            name="matplotlib",
        ) from None
    tags = list(dict.fromkeys(tag for run in curves.values() for tag in run))
    panels = [p for p in ("loss", "accuracy", "other") if p in map(_panel_of, tags)]
    figure = figure_class(figsize=(5 * len(panels), 3.6), layout="constrained")
    all_axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, panel in zip(all_axes, panels, strict=True):
        own = [tag for tag in tags if _panel_of(tag) == panel]
        for i, (name, run) in enumerate(curves.items()):
            for j, tag in enumerate(tag for tag in own if tag in run):
                points = sorted(run[tag], key=lambda point: point[0])
                words = [name] * (len(curves) > 1) + [tag.removesuffix("/auto")] * (len(own) > 1)
                colour, dash = (i, j) if len(curves) > 1 else (j, 0)
                axes.plot(
                    [step for step, _ in points],
                    [value for _, value in points],
                    _DASHES[dash % len(_DASHES)],
                    color=_COLOURS[colour % len(_COLOURS)],
                    marker="." if len(points) < 30 else "",
                    label=" ".join(words),
                )
        title = panel if len(own) > 1 else own[0].removesuffix("/auto")
        axes.set(title=title, xlabel="step")
        axes.grid(alpha=0.3)
        if len(own) > 1 or len(curves) > 1:
            axes.legend(frameon=False, fontsize="small")
    return figure


def _listed(curves: dict[str, Scalars]) -> str:
    """Tell the last value of each curve."""
    parts = []
    for name, run in curves.items():
        label = f"{name} " if len(curves) > 1 else ""
        parts += [
            f"{label}{tag.removesuffix('/auto')} {max(points)[1]:.4g}"
            for tag, points in run.items()
        ]
    return ", ".join(parts)
