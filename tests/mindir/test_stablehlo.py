"""StableHLO artifacts: exported, run by jax alone, loaded; and inside MindIR files."""

import jax
import jax.export
import numpy as np
import pytest
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

import mindjax as ms
from mindjax import nn, ops
from mindjax.mindir.stablehlo import PAYLOAD, payload
from tests.mindir.networks import NETWORKS, flat, tensors

CASES = ("mlp", "convolutions", "condition", "loop", "several", "functions")


def exported(name, folder, **options):
    ms.set_seed(1)
    network, inputs = NETWORKS[name]()
    path = str(folder / f"{name}.stablehlo")
    ms.export(network, *tensors(inputs), file_name=path, file_format="STABLEHLO", **options)
    ms.set_context(mode=ms.GRAPH_MODE)
    arrays = [a for x in inputs for a in (x if isinstance(x, tuple) else [x])]
    return path, arrays, flat(network(*tensors(inputs)))


@pytest.mark.parametrize("name", CASES)
def test_loaded_and_by_jax_alone(name, tmp_path):
    path, arrays, expected = exported(name, tmp_path)
    found = flat(ms.load_stablehlo(path)(*map(ms.Tensor, arrays)))
    with open(path, "rb") as file:
        alone = jax.export.deserialize(bytearray(file.read())).call(*arrays)
    alone = [np.asarray(a) for a in jax.tree.leaves(alone)]
    for values in (found, alone):
        for value, wanted in zip(values, expected, strict=True):
            np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-5)


def test_gradients(tmp_path, mode):
    path, arrays, _ = exported("mlp", tmp_path, gradients=True)
    ms.set_context(mode=mode)
    network = NETWORKS["mlp"]()[0]
    x = ms.Tensor(arrays[0])
    found = ms.grad(lambda x: ops.ReduceSum()(ms.load_stablehlo(path)(x)))(x)
    assert found.shape == x.shape
    assert np.abs(found.asnumpy()).max() > 0
    assert network is not None


def test_damage(tmp_path):
    path, arrays, _ = exported("mlp", tmp_path)
    with open(path, "rb") as file:
        content = bytearray(file.read())
    for place in range(0, len(content) - 50, 97):
        broken = bytearray(content)
        broken[place] ^= 0x55
        bad = tmp_path / "bad.stablehlo"
        bad.write_bytes(broken)
        with pytest.raises(RuntimeError, match="check sum"):
            ms.load_stablehlo(str(bad))
    for short in (b"", b"text", bytes(content[:100])):
        bad.write_bytes(short)
        with pytest.raises(RuntimeError, match="cannot be read"):
            ms.load_stablehlo(str(bad))
    with pytest.raises(ValueError, match="takes arrays"):
        ms.load_stablehlo(path)(ms.Tensor(arrays[0][:2]))


def test_state_is_refused(tmp_path):
    network, inputs = NETWORKS["counter"]()
    with pytest.raises(NotImplementedError, match="total"):
        ms.export(network, *tensors(inputs), file_name=str(tmp_path / "n"), file_format="STABLEHLO")
    with pytest.raises(TypeError, match="dialect"):
        ms.export(
            nn.ReLU(), *tensors(inputs), file_name=str(tmp_path / "n"), file_format="STABLEHLO",
            dialect=3,
        )  # fmt: skip


def test_inside_a_mindir_file(tmp_path, mode):
    ms.set_seed(1)
    network, inputs = NETWORKS["mlp"]()
    path = str(tmp_path / "mlp.mindir")
    ms.export(network, *tensors(inputs), file_name=path, file_format="MINDIR", stablehlo=True)
    graph = ms.load(path)
    assert payload(graph.model) is not None
    net, expected = nn.GraphCell(graph), network(*tensors(inputs)).asnumpy()
    assert net._artifact is not None
    np.testing.assert_allclose(net(*tensors(inputs)).asnumpy(), expected, atol=1e-6)
    zeros = {name: ops.zeros(a.shape, ms.float32) for name, a in graph.parameters.items()}
    assert not nn.GraphCell(graph, zeros)(*tensors(inputs)).asnumpy().any()
    grads = ms.grad(
        lambda x: ops.ReduceSum()(net(x)), None, ms.ParameterTuple(net.trainable_params())
    )(*tensors(inputs))
    assert all(np.abs(g.asnumpy()).max() > 0 for g in grads)


def test_a_program_that_is_not_the_graph_s_own_is_not_used(tmp_path):
    network, inputs = NETWORKS["mlp"]()
    path = str(tmp_path / "mlp.mindir")

    def other_weights(model):
        model.graph.parameter[0].raw_data = bytes(len(model.graph.parameter[0].raw_data))

    ms.export(
        network, *tensors(inputs), file_name=path, file_format="MINDIR", stablehlo=True,
        custom_func=other_weights,
    )  # fmt: skip
    graph = ms.load(path)
    assert PAYLOAD in graph.model.user_info
    assert payload(graph.model) is None
    assert nn.GraphCell(graph)(*tensors(inputs)).shape == (5, 3)


# -- the bare program --


def bare(name, folder, **options):
    ms.set_seed(1)
    network, inputs = NETWORKS[name]()
    path = str(folder / f"{name}.mlirbc")
    ms.export(network, *tensors(inputs), file_name=path, file_format="STABLEHLO", **options)
    arrays = [a for x in inputs for a in (x if isinstance(x, tuple) else [x])]
    return path, arrays, flat(network(*tensors(inputs)))


@pytest.mark.parametrize("name", CASES)
def test_the_bare_program_takes_the_inputs_alone(name, tmp_path):
    path, arrays, expected = bare(name, tmp_path)
    with open(path, "rb") as file, ir.Context() as context:
        stablehlo.register_dialect(context)
        module = stablehlo.deserialize_portable_artifact(context, file.read())
        entry = next(op for op in module.body if op.name.value == "main")
        inputs, results = entry.type.inputs, entry.type.results
        shapes = [[tuple(ir.RankedTensorType(t).shape) for t in ts] for ts in (inputs, results)]
    assert shapes == [[a.shape for a in arrays], [v.shape for v in expected]]


@pytest.mark.parametrize("name", CASES)
def test_the_bare_program_runs_in_iree(name, tmp_path):
    compiler = pytest.importorskip("iree.compiler")
    runtime = pytest.importorskip("iree.runtime")
    path, arrays, expected = bare(name, tmp_path)
    compiled = compiler.compile_file(path, target_backends=["llvm-cpu"], input_type="stablehlo")
    context = runtime.SystemContext(config=runtime.Config("local-task"))
    context.add_vm_module(runtime.VmModule.copy_buffer(context.instance, compiled))
    (program,) = [m for n, m in context.modules.items() if n != "hal"]
    results = program["main"](*arrays)
    results = results if isinstance(results, tuple) else (results,)
    for value, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(np.asarray(value), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "named"),
    [({"gradients": True}, "'gradients'"), ({"platforms": ("cpu", "cuda")}, "'platforms'")],
)
def test_what_a_bare_program_cannot_hold(options, named, tmp_path):
    with pytest.raises(ValueError, match=named):
        bare("mlp", tmp_path, **options)
    assert not list(tmp_path.iterdir())
