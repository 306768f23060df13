"""The simulator on recorded outputs of the vendor's compiler: values, races, faults, time."""

import re
from functools import partial

import numpy as np
import pytest
from mindjax_ascend.hivm import (
    Deadlock,
    HivmSyntaxError,
    MemoryFault,
    Program,
    RaceError,
    SimulationError,
)

from tests.ascend.hivm import refused
from tests.ascend.hivm.cases import CASES, attention
from tests.ascend.hivm.kernels import TOLERANCE, arrays, error, expected, launched, recorded

MODULES = recorded()["modules"]
BY_NAME = {case.name: case for case in CASES}


def inputs(name):
    return arrays(BY_NAME[name])


def worst(name, result):
    case = BY_NAME[name]
    pairs = zip(result.outputs, expected(case, arrays(case)), strict=True)
    with np.errstate(invalid="ignore"):
        return max(float(np.nan_to_num(error(f, w), nan=np.inf)) for f, w in pairs)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_equals_numpy(case):
    result = Program(MODULES[case.name]).run(*arrays(case), blocks=launched(case))
    assert not result.races
    assert result.cycles > 0
    assert worst(case.name, result) <= TOLERANCE[case.dtype]


def test_the_table_covers_what_was_recorded():
    others = {name for name in MODULES if name.startswith(("hand_", "refused_"))}
    assert set(MODULES) - others == set(BY_NAME)
    assert len(BY_NAME) >= 25
    assert recorded()["target"] == "Ascend910B1"
    assert re.fullmatch(r"ascendnpu-ir \d+\.\d+\.\d+", recorded()["compiler"])


@pytest.mark.parametrize(
    "name, shapes, compute, blocks",
    [
        ("vector_add", [(64, 256), (64, 256)], lambda a, b: a + b, 1),
        ("matmul", [(64, 128), (128, 256)], lambda a, b: a @ b, 1),
        ("attention", [(64, 64)] * 3, partial(attention, np), 1),
        # A loop over keys with a running maximum, for the rows of each of two blocks.
        ("flash_attention", [(128, 64), (256, 64), (256, 64)], partial(attention, np), 2),
    ],
)
def test_kernels_by_hand(name, shapes, compute, blocks):
    generator = np.random.default_rng(3)
    arguments = [generator.standard_normal(s).astype(np.float16) for s in shapes]
    result = Program(MODULES[f"hand_{name}"]).run(*arguments, blocks=blocks)
    wanted = compute(*(a.astype(np.float64) for a in arguments))
    assert error(result.outputs[0], wanted) <= 1e-3


def test_atomic_stores_of_several_blocks_need_no_order():
    text = MODULES["hand_accumulate"]
    numbers = np.random.default_rng(4).standard_normal(4096).astype(np.float32)
    wanted = (numbers.astype(np.float64) ** 2).reshape(-1, 256).sum(0)
    zeros = np.zeros(256, np.float32)
    result = Program(text).run(numbers, outputs=[zeros])
    assert error(result.outputs[0], wanted) <= 1e-5
    # Without the atomic addition the blocks overwrite each other.
    plain = Program(text.replace("%c1_i32 = arith.constant 1", "%c1_i32 = arith.constant 0"))
    with pytest.raises(RaceError, match="GM %arg1"):
        plain.run(numbers, outputs=[zeros])


@pytest.mark.parametrize("name", ["softmax", "rope", "adam", "attention", "matmul_bias_gelu"])
def test_every_order_gives_the_same_bits(name):
    program = Program(MODULES[name])
    runs = [program.run(*inputs(name), policy="late"), program.run(*inputs(name), policy="program")]
    runs += [program.run(*inputs(name), policy="random", seed=s) for s in range(3)]
    for run in runs[1:]:
        for first, other in zip(runs[0].outputs, run.outputs, strict=True):
            np.testing.assert_array_equal(first, other)


# --- what is wrong is found --------------------------------------------------------------------


def without(text, pattern, which=0):
    """The text without the lines of one match of a pattern; `which` counts the matches."""
    lines = text.splitlines()
    hits = [k for k, line in enumerate(lines) if re.search(pattern, line)]
    del lines[hits[which]]
    return "\n".join(lines)


def unordered(text, source, target):
    """The text without any flag from one pipe to another."""
    return re.sub(rf".*(set|wait)_flag\[<PIPE_{source}>, <PIPE_{target}>,.*\n", "", text)


@pytest.mark.parametrize(
    "name, source, target",
    [
        ("add", "MTE2", "V"),  # computes before the operands are there
        ("add", "V", "MTE3"),  # stores before the sum is there
        ("softmax", "MTE2", "V"),
        ("rms_norm", "V", "MTE3"),
        ("attention", "V", "MTE3"),
        ("matmul", "M", "FIX"),  # reads L0C before the product is there
    ],
)
def test_a_removed_wait_is_reported_and_gives_a_wrong_result(name, source, target):
    program = Program(unordered(MODULES[name], source, target))
    with pytest.raises(RaceError, match="with no wait between them"):
        program.run(*inputs(name))
    result = program.run(*inputs(name), races="report", policy="late")
    assert result.races
    assert worst(name, result) > TOLERANCE[BY_NAME[name].dtype]


def test_a_removed_wait_does_not_show_in_the_order_of_the_program():
    program = Program(unordered(MODULES["add"], "MTE2", "V"))
    result = program.run(*inputs("add"), races="report", policy="program")
    assert worst("add", result) <= 1e-5


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "attention"])
def test_each_removed_barrier_of_the_vector_pipe_is_reported(name):
    text = MODULES[name]
    count = len(re.findall(r"pipe_barrier\[<PIPE_V>\]", text))
    assert count >= 4
    reported = 0
    for which in range(0, count, 3):
        program = Program(without(text, r"pipe_barrier\[<PIPE_V>\]", which))
        reported += bool(program.run(*inputs(name), races="report").races)
    # The compiler puts a barrier where buffers of different rows may meet; nearly all are needed.
    assert reported >= 0.8 * len(range(0, count, 3))


def test_stores_of_the_scalar_unit_need_a_flag():
    races = (
        Program(unordered(MODULES["power"], "S", "V")).run(*inputs("power"), races="report").races
    )
    assert "memref.store" in races[0] and "pipe ST) writes" in races[0]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_no_removed_synchronisation_gives_a_wrong_result_unreported(case):
    lines = MODULES[case.name].splitlines()
    groups: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if re.search(r"pipe_barrier\[<PIPE_(?!ALL)", line):
            groups[f"barrier {number}"] = [number]
        elif found := re.search(r"(?:set|wait)_flag(\[.*\])", line):
            groups.setdefault(found[1], []).append(number)
    for name, numbers in groups.items():
        text = "\n".join(line for k, line in enumerate(lines) if k not in numbers)
        try:
            result = Program(text).run(*arrays(case), blocks=launched(case), races="report")
        except Deadlock:  # the matrix product waits by itself
            continue
        # Some barriers are not needed, and with two buffers one flag; other flags always are.
        assert result.races or name.startswith("barrier") or case.options, name
        assert result.races or worst(case.name, result) <= TOLERANCE[case.dtype], name


def test_a_removed_wait_between_cores_is_reported():
    text = re.sub(r".*sync_block_wait\[<CUBE>.*\n", "", MODULES["attention"])
    text = re.sub(r".*sync_block_set\[<VECTOR>.*\n", "", text)
    program = Program(text)
    with pytest.raises(RaceError, match="workspace"):
        program.run(*inputs("attention"))
    assert worst("attention", program.run(*inputs("attention"), races="report")) > 1e-3


def test_a_flag_that_is_never_waited_for_is_reported():
    text = without(MODULES["add"], r"wait_flag\[<PIPE_V>, <PIPE_MTE3>")
    races = Program(text).run(*inputs("add"), races="report").races
    assert any("times more than it is waited for" in race for race in races)


def test_a_wait_that_nothing_sets_is_a_deadlock():
    text = without(MODULES["add"], r"set_flag\[<PIPE_MTE2>, <PIPE_V>")
    with pytest.raises(Deadlock, match=r"wait_flag\[MTE2, V, 0\] \(line \d+, pipe V\)"):
        Program(text).run(*inputs("add"))


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("constant 65536 :", "constant 196576 :", "overflow: UB has 196608 bytes"),
        ("constant 65536 :", "constant 65540 :", "misaligned: UB address 65540 is no multiple"),
        ('"UB_SIZE", 1572864', '"UB_SIZE", 524288', "overflow: UB has 65536 bytes"),
    ],
)  # fmt: skip
def test_faults_of_memory(old, new, message):
    assert old in MODULES["add"]
    with pytest.raises(MemoryFault, match=rf"line \d+: {message}"):
        Program(MODULES["add"].replace(old, new)).run(*inputs("add"))


@pytest.mark.parametrize(
    "name, old, new, message",
    [
        # Rows behind the end of an array in global memory.
        ("softmax", r"\(s0 \* (\d+)\)>", r"(s0 * 9\1)>",
         "overflow: GM %arg0 bytes .* lie outside of their buffer"),
        # L1 and L0C have sizes and alignment of their own.
        ("matmul", '"L0C_SIZE", 1048576', '"L0C_SIZE", 262144', "overflow: L0C has 32768 bytes"),
        ("matmul", '"L1_SIZE", 4194304', '"L1_SIZE", 131072', "overflow: L1 has 16384 bytes"),
        ("matmul", "constant 16384 : i64", "constant 16392 : i64",
         "misaligned: L1 address 16392 is no multiple of 32"),
        ("add", "core_type<AIV>, hivm.st", "core_type<AIC>, hivm.st",
         "a core of kind AIC has no memory ub"),
        ("add", r"@vadd_1d_float\(%(\w+), %(\w+), %(\w+), ", r"@vadd_1d_float(%\1, %\2, %cast, ",
         "the vector unit reaches UB, not GM %arg0"),
    ],
)  # fmt: skip
def test_faults_of_spaces(name, old, new, message):
    text = re.sub(old, new, MODULES[name])
    assert text != MODULES[name]
    with pytest.raises(MemoryFault, match=message):
        Program(text).run(*inputs(name))


@pytest.mark.parametrize(
    "old, new, kind, message",
    [
        ("hivm.hir.set_mask_norm", "hivm.hir.set_moon", HivmSyntaxError,
         r"line \d+: the operation hivm.hir.set_moon has no known form"),
        ("@vadd_1d_float", "@vmoon_1d_float", SimulationError,
         "the library call vmoon_1d_float is not known"),
        ("@vadd_1d_float", "@warp_speed", SimulationError,
         r"line \d+: the library call warp_speed is not known"),
        ("hacc.entry, ", "", SimulationError, "no entry function"),
        (r"\(%arg0: memref<64x256x", "(%arg0: memref<64x255x", SimulationError,
         r"%arg0 is float32 of shape \(64, 256\), the program has f32 of shape \(64, 255\)"),
        (r".*call @store.*\n", "", SimulationError,
         "writes nothing to its output 0"),
    ],
)  # fmt: skip
def test_faults_of_programs(old, new, kind, message):
    text = re.sub(old, new, MODULES["add"])
    assert text != MODULES["add"]
    with pytest.raises(kind, match=message):
        Program(text).run(*inputs("add"))


@pytest.mark.parametrize(
    "name, kind, message",
    [
        ("cross_entropy", MemoryFault, r"misaligned: UB address \d+ is no multiple of 32"),
        ("gradients", MemoryFault, "reduce_sum_ra_float: the vector unit reaches UB, not GM"),
        ("batch_slices", SimulationError, "writes nothing to its output 0"),
    ],
)
def test_faults_of_the_compiler_are_found(name, kind, message):
    with pytest.raises(kind, match=message):
        Program(MODULES[f"refused_{name}"]).run(*refused.inputs(name))


def test_steps_along_rows_are_lost_by_the_compiler():
    rows = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    found = Program(MODULES["refused_every_other_row"]).run(rows).outputs[0]
    # The lowering refuses such slices: what comes back are the first rows.
    np.testing.assert_array_equal(found, rows[:32])


def test_numbers_of_arrays():
    program = Program(MODULES["add"])
    with pytest.raises(SimulationError, match="no array is left for the argument %arg1"):
        program.run(*inputs("add")[:1])
    with pytest.raises(SimulationError, match="1 arrays more"):
        program.run(*inputs("add"), *inputs("relu"))
    with pytest.raises(ValueError, match="policy is 'fast'"):
        program.run(*inputs("add"), policy="fast")


def test_cycles_follow_the_figures():
    small, large = (Program(MODULES[n]).run(*inputs(n)) for n in ("add", "add_large"))
    # Sixteen times the data; the loads alone are 2 * 512 * 512 * 4 bytes at 32 bytes a cycle.
    assert large.cycles > 10 * small.cycles
    assert large.busy["MTE2"] > 2 * 512 * 512 * 4 / 32
    double, four, strict = (
        Program(MODULES[n]).run(*inputs(n))
        for n in ("add_double_buffer", "softmax_four_cores", "softmax_all_barriers")
    )
    softmax = Program(MODULES["softmax"]).run(*inputs("softmax"))
    assert double.cycles < 0.95 * large.cycles
    assert four.cycles < 0.5 * softmax.cycles < 0.5 * strict.cycles
    product = Program(MODULES["matmul"]).run(*inputs("matmul"))
    assert product.busy["M"] >= 64 // 16 * (128 // 16) * (256 // 16)
    assert product.seconds == product.cycles / 1.8e9
