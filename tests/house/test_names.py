"""Our public namespaces show the original's names, with the original's signatures."""

import ast
import enum
import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

from mindjax.core.families import Families
from tests.house.source import ROOT, api, module_name, package_files, tree, undocumented

# Operators that the original shows in ``ops.auto_generate`` only, which forwards to `ops` here.
GENERATED = {
    "FusedAddTopKDiv",
    "GroupedMatmul",
    "GroupedMatmulV4",
    "MultiScaleDeformableAttn",
    "RingAttentionUpdate",
    "fused_add_topk_div",
    "grouped_matmul",
    "grouped_matmul_v4",
    "AddLayerNormV2",
    "AddRmsNorm",
    "DynamicQuantExt",
    "FlashAttentionScore",
    "FusedInferAttentionScore",
    "IncreFlashAttention",
    "KVCacheScatterUpdate",
    "MoeComputeExpertTokens",
    "MoeFinalizeRouting",
    "MoeGatingTopKSoftmax",
    "MoeInitRouting",
    "MoeInitRoutingV2",
    "MoeTokenPermute",
    "MoeTokenUnpermute",
    "PromptFlashAttention",
    "QuantBatchMatmul",
    "QuantV2",
    "RotaryPositionEmbedding",
    "Swiglu",
    "WeightQuantBatchMatmul",
    "apply_rotary_pos_emb_",
    "group_topk",
    "kv_cache_scatter_update",
    "moe_compute_expert_tokens",
    "moe_finalize_routing",
    "moe_init_routing",
    "quant_batch_matmul",
    "reshape_and_cache",
    "weight_quant_batch_matmul",
}
# Names of ours that the original does not have.
OURS = {
    "mindspore": {"install", "interop", "eager", "load_stablehlo"},
    "mindspore.version": {"mindjax"},
    "mindspore.ops": GENERATED,
    "mindspore.onnx": {"load", "OnnxCell", "OnnxError", "package"},
    # The original's `graph` registers passes, ours is the layer of GRAPH mode.
    "mindspore.graph": {
        "jit",
        "jit_class",
        "row_wise",
        "JitFunction",
        "ms_memory_recycle",
        "JitConfig",
        "Symbol",
        "enable_dynamic",
        "lazy_inline",
        "mutable",
        "no_inline",
        "set_recursion_limit",
    },
}
# Signatures that differ on purpose: name -> reason.
DIFFERENT = {
    "mindspore.ops.Primitive": "the base of records: a subclass's fields are its arguments",
}


def namespaces():
    """List the original's namespaces that MindJAX has as modules of its own."""
    ours = {module_name(path) for path in package_files()}
    return [name for name in sorted(api()) if "mindjax" + name[len("mindspore") :] in ours]


def module_of(namespace):
    """Import our module for one of the original's namespaces."""
    return importlib.import_module("mindjax" + namespace[len("mindspore") :])


def public_names(module):
    """List a namespace's own names: its ``__all__``, else what it defines or re-exports ``as``."""
    names = set(getattr(module, "__all__", ()))
    for node in () if names else tree(Path(module.__file__)).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))
        elif isinstance(node, ast.ImportFrom):
            names.update(name.asname for name in node.names if name.asname)
    if "families" in vars(module):
        names.update(module.families.index())
    inner = (ModuleType, Families)
    return {
        name
        for name, value in ((n, getattr(module, n, None)) for n in names if not n.startswith("_"))
        if not isinstance(value, inner) and value is not Families
    }


def shape(signature):
    """Reduce a signature to names, kinds and defaults."""
    return [
        (p.name, p.kind.name, None if required(p) else plain(repr(p.default)))
        for p in signature.parameters.values()
    ]


def required(parameter):
    """Tell whether a parameter must be given; `missing` marks those that `Model` binds later."""
    return parameter.default is parameter.empty or plain(repr(parameter.default)) == "missing"


def plain(text):
    """Write a default the same way on both sides: addresses and our package's name apart."""
    text = re.sub(r" at 0x[0-9a-f]+", "", text).replace("mindjax", "mindspore")
    text = text.replace("[]", "()").replace("= ", "=")
    return re.split(r"[. ]", text.strip("<>"))[-1].strip("'<>") if text.startswith("<") else text


def recorded(text):
    """Read a recorded signature; None when the original hides it behind ``*args, **kwargs``."""
    if text is None or "*args, **kwargs" in text or text.startswith("(*args)"):
        return None
    # Defaults that are no expressions, as <class 'int'>, become strings for the parser.
    text = (text.rpartition(" -> ")[0] or text).replace("<lambda>", "lambda")
    text = re.sub(r"<[^<>]*>", lambda match: repr(match[0]), text)
    args = ast.parse(f"def face{text}: pass").body[0].args
    positional = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(positional) - len(args.defaults)) + args.defaults
    rows = [
        (arg, "POSITIONAL_ONLY" if arg in args.posonlyargs else "POSITIONAL_OR_KEYWORD", default)
        for arg, default in zip(positional, defaults, strict=True)
    ]
    rows += [(args.vararg, "VAR_POSITIONAL", None)] if args.vararg else []
    rows += [(a, "KEYWORD_ONLY", d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    rows += [(args.kwarg, "VAR_KEYWORD", None)] if args.kwarg else []
    return [(arg.arg, kind, default and written(default)) for arg, kind, default in rows]


def written(default):
    """Write a default of a recorded signature as ``plain`` writes ours."""
    if isinstance(default, ast.Constant) and isinstance(default.value, str):
        return plain(default.value) if default.value.startswith("<") else repr(default.value)
    return plain(ast.unparse(default))


@pytest.mark.parametrize("namespace", namespaces())
def test_names_exist_in_the_original(namespace):
    extra = public_names(module_of(namespace)) - set(api()[namespace]) - undocumented(namespace)
    assert sorted(extra - OURS.get(namespace, set())) == []


def signature_differences(namespace):
    """Describe each public name whose signature is not the original's."""
    module, wrong = module_of(namespace), []
    for name in sorted(public_names(module) & set(api()[namespace])):
        full = f"{namespace}.{name}"
        kind, text, _ = api()[namespace][name]
        expected = recorded(text)
        if expected is None or full in DIFFERENT:
            continue
        face = getattr(module, name)
        if isinstance(face, type) and issubclass(face, enum.Enum):
            continue  # the constructor is Python's own, and differs between its versions
        try:
            actual = shape(inspect.signature(face))
        except ValueError:
            continue
        if kind == "primitive":
            # A value that the original reads from a constant input may be an attribute of ours.
            actual = [p for p in actual if p in expected or p[1] != "KEYWORD_ONLY"]
        if actual != expected:
            wrong.append(f"{full}\n  ours     {actual}\n  original {expected}")
    return wrong


@pytest.mark.parametrize("namespace", namespaces())
def test_signatures_are_the_originals(namespace):
    wrong = signature_differences(namespace)
    assert not wrong, "\n".join(wrong)


ALL_NAMES = "takes the names of several forms"
# Methods whose arguments differ on purpose: name -> reason.
METHODS_DIFFERENT = {
    "Parameter.init_data": "the layout of a distributed Parameter is not read",
    "Parameter.register_hook": "its argument is called as Tensor's, hook",
    "Tensor.addmm_": ALL_NAMES,
    "Tensor.assign_value": "a second argument, of the tape",
    "Tensor.clamp_": ALL_NAMES,
    "Tensor.erfinv_": ALL_NAMES,
    "Tensor.flip": "axes as integers too",
    "Tensor.floor_": ALL_NAMES,
    "Tensor.index_add_": ALL_NAMES,
    "Tensor.index_put_": ALL_NAMES,
    "Tensor.init_data": "the layout of a distributed Tensor is not read",
    "Tensor.item": "an index too, as numpy",
    "Tensor.sign_": ALL_NAMES,
    "Tensor.softmax": "the axis may be left out",
    "Tensor.tanh_": ALL_NAMES,
    "Tensor.top_k": "the arguments of topk too",
}


@pytest.mark.parametrize("name", ["Tensor", "Parameter"])
def test_methods_have_the_originals_arguments(name):
    """The first argument has a name of its own where the method is an op."""
    owner, wrong = getattr(module_of("mindspore"), name), []
    for method, text in api()["mindspore"][name][2].items():
        expected = recorded(text)
        if expected is None or method.startswith("_") or f"{name}.{method}" in METHODS_DIFFERENT:
            continue
        face = getattr(owner, method, None)
        if face is None:
            continue
        actual = shape(inspect.signature(face))
        if actual[1:] != expected[1:]:
            wrong.append(f"{method}: ours {actual[1:]}, the original's {expected[1:]}")
    assert not wrong, "\n".join(wrong)


def test_recorded_signatures_can_be_read():
    unreadable = []
    for namespace, names in api().items():
        for name, (_, text, _) in names.items():
            try:
                recorded(text)
            except SyntaxError:
                unreadable.append(f"{namespace}.{name}{text}")
    assert not unreadable


def test_goldens_are_the_targets_version():
    from mindjax.version import __version__

    assert (ROOT / "tests/goldens/api_names.json.gz").exists()
    assert __version__ == "2.10.0"


# Namespaces that are whole, and what of the original's they leave out: name -> reason.
WHOLE = (
    "mindspore.ops",
    "mindspore.ops.function",
    "mindspore.ops.functional",
    "mindspore.ops.operations",
    "mindspore.ops.composite",
    "mindspore.ops.communication",
    "mindspore.communication",
    "mindspore.mint",
    "mindspore.mint.nn",
    "mindspore.mint.nn.functional",
    "mindspore.mint.linalg",
    "mindspore.mint.special",
    "mindspore.mint.distributed",
    "mindspore.numpy",
    "mindspore.numpy.fft",
    "mindspore.scipy.linalg",
    "mindspore.scipy.fft",
    "mindspore.scipy.ops",
    "mindspore.scipy.optimize",
)
LEFT_OUT = {
    "mindspore.ops.arg_dtype_cast": "a module of the original's argument parser",
    "mindspore.ops.arg_handler": "a module of the original's argument parser",
}
INNER = "a switch of the original's C++ Tensor"
LEFT_OUT_MEMBERS = {
    "getitem_index_info": INNER,
    "index_of_parent_": INNER,
    "remove_hook": "handles of `register_hook` remove themselves",
    "requires_grad_": "Parameters carry `requires_grad`, Tensors carry no such flag",
    "set_cast_dtype": INNER,
    "set_device_address": INNER,
    "set_param_info": INNER,
    "setitem_index_info": INNER,
}


@pytest.mark.parametrize("namespace", WHOLE)
def test_every_public_name_resolves(namespace):
    module = module_of(namespace)
    missing = [
        name
        for name, (kind, _, _) in api()[namespace].items()
        if kind != "missing" and not name.startswith("_") and not hasattr(module, name)
    ]
    assert [n for n in missing if f"{namespace}.{n}" not in LEFT_OUT] == []


@pytest.mark.parametrize("name", ["Tensor", "Parameter", "COOTensor", "CSRTensor"])
def test_every_member_resolves(name):
    ours = getattr(importlib.import_module("mindjax"), name)
    missing = {m for m in api()["mindspore"][name][2] if not hasattr(ours, m)}
    assert missing <= set(LEFT_OUT_MEMBERS)


def test_a_name_of_ops_is_listed_once():
    listed = [
        name.asname
        for path in (ROOT / "mindjax/ops").rglob("__init__.py")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom)
        for name in node.names
        if name.asname
    ]
    assert sorted({n for n in listed if listed.count(n) > 1}) == []
