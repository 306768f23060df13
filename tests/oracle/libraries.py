"""Run libraries written for MindSpore under the original and under MindJAX, and compare.

``pip install --no-deps --target FOLDER mindcv tqdm pyyaml`` gives a library and what it imports.
Each command is run twice, with the original's python first: what that finds goes to a file, which
the project's python, with ``PYTHONPATH=.:parallel``, compares with.

``PYTHON tests/oracle/libraries.py names FOLDER FILE`` looks up every name of ``mindspore`` that the
sources mention; ``modules`` imports every module; ``networks FOLDER FILE NETWORK...`` compares
outputs and gradients of mindcv's networks on one image, with the original's Parameters.
"""

import argparse
import ast
import importlib
import importlib.util
import json
import pathlib
import pickle
import sys
import warnings


def mentioned(path):
    """List the dotted names below ``mindspore`` that a source mentions."""
    try:
        tree = ast.parse(path.read_text(encoding="utf8", errors="ignore"))
    except SyntaxError:
        return set()
    found, bound = set(), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                if name.name.split(".")[0] == "mindspore":
                    found.add(name.name)
                    bound[name.asname or "mindspore"] = name.name if name.asname else "mindspore"
        elif isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("mindspore."):
            for name in node.names:
                whole = node.module if name.name == "*" else f"{node.module}.{name.name}"
                found.add(whole)
                bound[name.asname or name.name] = whole
    for node in ast.walk(tree):
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if parts and isinstance(node, ast.Name) and node.id in bound:
            found.add(".".join([bound[node.id], *reversed(parts)]))
    return found


def exists(name):
    """Tell whether a dotted name is there."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:count]))
        except Exception:
            continue
        for part in parts[count:]:
            value = getattr(value, part, None)
            if value is None:
                return False
        return True
    return False


def names(folder):
    """Tell of each name that the sources mention whether it is there."""
    every = set().union(*(mentioned(path) for path in folder.rglob("*.py")))
    return {name: exists(name) for name in sorted(every)}


def modules(folder):
    """Import every module; the error's class and words for those that do not."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        if path.name == "__main__.py":
            continue
        parts = path.relative_to(folder).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        try:
            importlib.import_module(name)
            found[name] = True
        except BaseException as error:
            found[name] = f"{type(error).__name__}: {error}"[:200]
    return found


def networks(wanted, given=None):
    """Give outputs, loss and sums of gradients of networks, and their Parameters in order."""
    import mindspore as ms
    import numpy as np
    from mindcv.models import create_model
    from mindspore import ops

    found = {}
    for name in wanted:
        net = create_model(name, num_classes=10)
        net.set_train(False)
        if given is None:
            values = [p.asnumpy() for p in net.get_parameters()]
        else:
            values = given[name]["parameters"]
            for parameter, value in zip(net.get_parameters(), values, strict=True):
                parameter.set_data(ms.Tensor(value))
        image = np.random.RandomState(0).randn(1, 3, 224, 224).astype(np.float32)

        def forward(x, label, net=net):
            out = net(x)
            out = out[0] if isinstance(out, tuple) else out
            return ops.cross_entropy(out, label), out

        step = ms.value_and_grad(forward, None, net.trainable_params(), has_aux=True)
        (loss, out), gradients = step(ms.Tensor(image), ms.Tensor([3], ms.int32))
        sums = [float(np.abs(g.asnumpy()).sum()) for g in gradients]
        found[name] = {"out": out.asnumpy(), "gradients": np.array(sums), "parameters": values}
        print(name, float(loss.asnumpy()), flush=True)
    return found


def differences(command, theirs, ours):
    """Say what differs, a line each."""
    if command == "programs":
        from library_programs import differences as of_programs

        return of_programs(theirs["found"], ours["found"])
    if command != "networks":
        return [f"{k}: {v}" for k, v in ours.items() if theirs.get(k) is True and v is not True]
    lines = []
    for name, one in ours.items():
        for what in ("out", "gradients"):
            a, b = one[what], theirs[name][what]
            off = float(abs(a - b).max() / (abs(b).max() + 1e-30))
            lines.append(f"{name}: {what} differ by {off:.1e} of the largest")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("command", choices=("names", "modules", "networks", "programs"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--graph", action="store_true", help="GRAPH_MODE, else PYNATIVE_MODE")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(asked.folder))
    ours = importlib.util.find_spec("mindspore") is None
    if ours:
        import mindjax

        mindjax.install()
    import mindspore as ms

    ms.set_context(mode=ms.GRAPH_MODE if asked.graph else ms.PYNATIVE_MODE)
    theirs = pickle.loads(asked.file.read_bytes()) if ours else None
    if asked.command == "networks":
        found = networks(asked.networks, theirs)
    elif asked.command == "programs":
        from library_programs import PROGRAMS, Kept, run

        kept = Kept(theirs["kept"] if ours else None)
        found = {"found": run(asked.networks or PROGRAMS, kept), "kept": kept.values}
    else:
        found = {"names": names, "modules": modules}[asked.command](asked.folder)
        print(json.dumps({"all": len(found), "there": sum(v is True for v in found.values())}))
    if ours:
        print("\n".join(differences(asked.command, theirs, found)))
    else:
        asked.file.write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main()
