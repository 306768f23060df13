"""Wrong programs: the error names the user's file, the line and the cause, and is short."""

from __future__ import annotations

import traceback

import pytest

import mindjax as ms
from tests.graph.wrong_programs import _OUTSIDE, WRONG

HERE = "wrong_programs.py"


@pytest.mark.parametrize("name", WRONG)
def test_errors(name):
    function, arguments, kind, part = WRONG[name]
    code = function.__code__
    with pytest.raises(kind) as caught:
        result = ms.jit(function)(*arguments)
        # A Tensor that outlives its trace is found when it is used.
        _ = result, [tensor.asnumpy() for tensor in _OUTSIDE]
    error = caught.value
    _OUTSIDE.clear()
    text = str(error)
    assert part in text
    assert text.count("\n") < 15
    # The line stands in the message, in a note, or in the traceback, which is the user's own.
    said = "\n".join([text, *getattr(error, "__notes__", ())])
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.endswith(HERE)]
    lines = code.co_firstlineno, max(line for *_, line in code.co_lines() if line)
    inside = any(lines[0] <= f.lineno <= lines[1] + 8 for f in frames if f.lineno)
    assert HERE in said or inside or name == "tensor_kept_outside"
    if HERE in said:
        number = int(said.split(HERE + ":")[1].split("]")[0].split(")")[0].split(":")[0])
        assert number >= lines[0]
