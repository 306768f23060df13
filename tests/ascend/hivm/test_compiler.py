"""Lowering from StableHLO, and the driver of the vendor's compiler."""

import importlib.util
import re
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mindjax_ascend.hivm import CompileError, CompilerMissing, Program, compiler, lower, programs
from mindjax_ascend.hivm import __main__ as command

from tests.ascend.hivm.cases import CASES
from tests.ascend.hivm.kernels import (
    TOLERANCE,
    arrays,
    error,
    expected,
    launched,
    lowered,
    recorded,
)

ROW = jax.ShapeDtypeStruct((64, 256), jnp.float32)
needs_compiler = pytest.mark.skipif(not compiler.available(), reason="needs ascendnpu-ir")


@pytest.mark.parametrize(
    "function, shapes, message",
    [
        (lambda x: x[:, ::-1], [ROW], "linalg.generic of"),
        (lambda x: jnp.pad(x, 1), [ROW], "tensor.pad has no form"),
        (lambda x: (x, x + 1), [ROW], "result 0 is an argument that the program uses too"),
        (lambda x: x[::2], [ROW], r"a slice with steps \[2, 1\]"),
        (lambda x: jnp.einsum("bij,bjk->bik", x, x), [jax.ShapeDtypeStruct((2, 4, 4), "float32")],
         "linalg.batch_matmul has no form"),
        (lambda x: jax.lax.fori_loop(0, 3, lambda i, y: y + 1, x), [ROW], "stablehlo.while has"),
        (lambda x: jnp.linalg.cholesky(x[:, :64]), [ROW], "StableHLO|custom|no form"),
    ],
    ids=["reverse", "pad", "argument", "steps", "batch", "loop", "linalg"],
)  # fmt: skip
def test_what_is_not_covered_is_named(function, shapes, message):
    with pytest.raises(NotImplementedError, match=message) as caught:
        lower.lower(function, *shapes)
    assert "\n" not in str(caught.value)


def test_calls_are_inlined_and_maps_become_tensor_operations():
    text = lower.lower(lambda x: jax.nn.silu(jnp.clip(x, -1, 1)), ROW, name="f")
    assert "func.func @f(" in text and "hacc.entry" in text
    assert "call @" not in text and "linalg.map" not in text and "linalg.generic" not in text
    assert text.count("func.func") == 1
    assert not compiler.is_tile(text)


def test_products_are_lowered_as_one_tile():
    half = jax.ShapeDtypeStruct((64, 64), jnp.float16)
    text = lower.lower(lambda q, k: q @ k.T, half, half, name="scores")
    assert compiler.is_tile(text)
    # The cube sums halves in single precision.
    assert "outs(%" in text and "tensor<64x64xf32>" in text and "arith.truncf" in text


def test_positions_become_the_compilers_own_operation():
    text = lower.lower(lambda x: x + jnp.arange(256.0), ROW)
    assert re.search(
        r"hfusion\.arange offset\[%\w+\] strides\[%\w+\] outs\(%\w+ : tensor<256xi32>\)", text
    )


def test_blocks_take_rows_of_their_own():
    text = lower.lower_blocks(
        lambda x, g: x * g, 4, ROW, jax.ShapeDtypeStruct((256,), "float32"), split=(True, False)
    )
    assert "memref.subview %in0[%part0_first, 0] [16, 256] [1, 1]" in text
    assert "memref.copy %in1, %local1" in text
    with pytest.raises(ValueError, match=r"argument 0 has shape .* no multiple of 3 blocks"):
        lower.lower_blocks(lambda x: x, 3, ROW)


def test_without_the_compiler_the_error_has_the_line_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CompilerMissing, match=r'pip install "mindjax\[ascend-compiler\]"'):
        compiler.compile("module {}")


def stand_in(tmp_path, monkeypatch, script):
    """A package folder whose compiler is a script."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").mkdir()
    tool = tmp_path / "bin" / "bishengir-compile"
    tool.write_text(f"#!/bin/sh\n{script}")
    tool.chmod(0o755 if script else 0o644)
    monkeypatch.setattr(compiler, "_package", lambda: (tmp_path, "0.0.0"))


@pytest.mark.parametrize(
    "script, message",
    [
        ("sleep 30", "took more than 0.3 s"),
        ("echo 'LLVM ERROR: broken'; echo 'Stack dump'; exit 134", "crashed: broken"),
        ("kill -SEGV $$", "crashed: signal 11"),
        ("echo 'loc(\"x/kernel.mlir\":3:5): error: no such thing'; exit 1",
         r"no such thing \(line 3 of the module\)"),
        ("exit 3", "exit status 3"),
        (None, "does not start: Permission denied"),
        # It gets as far as the last step, with a call that the library lacks.
        ("echo 'func.func private @moon_float(' > m; hivmc m -o k.o", "library has no moon_float"),
    ],
)  # fmt: skip
def test_failures_of_the_compiler_are_one_line(tmp_path, monkeypatch, script, message):
    stand_in(tmp_path, monkeypatch, script)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    with pytest.raises(CompileError, match=message) as caught:
        compiler.compile("module {}", seconds=0.3 if script == "sleep 30" else 20)
    assert "\n" not in str(caught.value)
    assert not list(scratch.iterdir())


def test_the_stand_in_of_the_last_step_keeps_the_module(tmp_path, monkeypatch):
    script = 'cp "$1" m; test "$(hivmc --version)" = "hivmc 0.0.0" && hivmc m'
    stand_in(tmp_path, monkeypatch, script)
    made = compiler.compile("module { } // hivm.hir.x", library=False)
    assert (made.hivm, made.version) == ("module { } // hivm.hir.x", "0.0.0")
    assert made.options == ("-enable-hivm-compile=true",)


def test_a_program_that_overflows_is_tried_with_more_buffers(tmp_path, monkeypatch):
    script = 'case "$*" in *tuning=8*) hivmc "$1";; *) echo "error: ub overflow"; exit 1;; esac'
    stand_in(tmp_path, monkeypatch, script)
    made = compiler.compile("module {}")
    assert made.options[-1] == "--hfusion-max-buffer-count-tuning=8"


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_cases_compile_and_run(case):
    made = compiler.compile(lowered(case), extra=case.options)
    result = Program(made.hivm).run(*arrays(case), blocks=launched(case))
    for found, wanted in zip(result.outputs, expected(case, arrays(case)), strict=True):
        assert error(found, wanted) <= TOLERANCE[case.dtype]


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("name", programs.names())
def test_kernels_by_hand_compile_to_what_was_recorded(name):
    made = compiler.compile(programs.source(name))
    golden = recorded()
    if golden["compiler"] == f"ascendnpu-ir {made.version}":
        assert made.hivm == golden["modules"][f"hand_{name}"]
    assert Program(made.hivm).entries


@needs_compiler
@pytest.mark.slow
def test_a_product_that_the_library_lacks_is_refused():
    text = """module {
  func.func @product(%a: tensor<64x128xf16>, %b: tensor<128x256xf16>) -> tensor<64x256xf32>
      attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x256xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
    %r = linalg.matmul ins(%a, %b : tensor<64x128xf16>, tensor<128x256xf16>)
                       outs(%z : tensor<64x256xf32>) -> tensor<64x256xf32>
    return %r : tensor<64x256xf32>
  }
}"""
    with pytest.raises(CompileError, match=r"the vendor's library has no matmul_.*TChalf|TCfloat"):
        compiler.compile(text)


@needs_compiler
@pytest.mark.slow
def test_the_real_compiler_says_what_it_refuses():
    with pytest.raises(CompileError, match=r"line \d+ of the module") as caught:
        compiler.compile("module {\n  func.func @f() { moon.walk }\n}")
    assert "\n" not in str(caught.value)


def test_the_reference_is_double_precision():
    case = CASES[0]
    assert expected(case, arrays(case))[0].dtype == np.float64


def test_the_command_runs_a_module(tmp_path, capsys):
    modules = recorded()["modules"]
    file = tmp_path / "softmax.mlir"
    file.write_text(modules["softmax"])
    assert command.main([str(file)]) == 0
    said = capsys.readouterr().out
    assert "output 0: float32 (64, 256), mean 0.00390625" in said
    assert "estimated cycles: " in said and "race" not in said
    file.write_text(re.sub(r".*pipe_barrier\[<PIPE_V>\].*\n", "", modules["softmax"]))
    assert command.main([str(file), "--policy", "program"]) == 1
    assert "race: UB bytes" in capsys.readouterr().out
    file.write_text(modules["refused_cross_entropy"])
    assert command.main([str(file)]) == 1
    assert capsys.readouterr().err.startswith("MemoryFault: line 110: misaligned")
