"""Every Python block of the documentation runs."""

import os
import re
import subprocess
import sys

import pytest

from tests.house.source import ROOT, ids

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(text):
    """List a page's Python blocks."""
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def with_blocks():
    """List the pages that hold Python."""
    return [page for page in PAGES if blocks(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", with_blocks(), ids=ids)
def test_blocks_run(page, tmp_path):
    """A page's blocks are one program, in order, as a reader would type them."""
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks(page.read_text(encoding="utf-8"))), encoding="utf-8")
    command = [sys.executable, "-m", "mindjax", "run", str(program)]
    result = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'parallel'}"},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr


def test_pages_have_no_dead_links():
    dead = []
    for page in [*PAGES, *ROOT.glob("*/README.md"), *ROOT.glob("backends/*/README.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            if not (page.parent / target).exists():
                dead.append(f"{ids(page)}: {target}")
    assert not dead


def test_readme_has_an_example():
    assert blocks((ROOT / "README.md").read_text(encoding="utf-8"))
