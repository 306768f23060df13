"""`import mindspore` after `mindjax.install()`, each case in a process of its own."""

import subprocess
import sys
import textwrap

import pytest

from tests.house.source import ROOT

CASES = {
    "the very modules": """
        import mindspore, mindspore.nn as nn, mindspore.common.initializer
        from mindspore import ops
        from mindspore.nn import Dense
        import mindjax
        assert mindspore is mindjax and nn is mindjax.nn and ops is mindjax.ops
        assert Dense is mindjax.nn.Dense
        assert sys.modules["mindspore.nn"] is sys.modules["mindjax.nn"]
    """,
    "already imported parts": """
        import mindjax.version
        import mindspore.version
        assert mindspore.version is mindjax.version
    """,
    "specs stay": """
        import mindspore, mindspore.version
        assert mindspore.__spec__.name == "mindjax"
        assert mindspore.version.__spec__.name == "mindjax.version"
        assert mindspore.version.__spec__.loader.__class__.__name__ == "SourceFileLoader"
    """,
    "reload": """
        import importlib, mindspore.version
        before = mindspore.version
        assert importlib.reload(mindspore.version) is before
        assert sys.modules["mindspore.version"] is sys.modules["mindjax.version"]
    """,
    "find_spec": """
        from importlib.util import find_spec
        assert find_spec("mindspore").name == "mindspore"
        assert find_spec("mindspore.nothing") is None
    """,
    "a function with a module's name": """
        import mindspore
        from mindspore.common.seed import get_seed
        assert mindspore.common.seed.__name__ == "seed" and callable(mindspore.common.seed)
        assert sys.modules["mindspore.common.seed"].get_seed is get_seed
    """,
    "unknown submodule": """
        try:
            import mindspore.nothing
        except ModuleNotFoundError as error:
            assert error.name == "mindspore.nothing", error.name
            assert "mindspore.nothing" in str(error)
        else:
            raise AssertionError("imported")
        assert "mindspore.nothing" not in sys.modules
    """,
    "unknown name": """
        try:
            from mindspore.version import nothing
        except ImportError as error:
            assert "nothing" in str(error)
        else:
            raise AssertionError("imported")
    """,
    "pickle": """
        import pickle, mindspore.nn as nn
        data = pickle.dumps(nn.Dense)
        assert b"mindjax" in data and b"mindspore" not in data
        assert pickle.loads(data) is nn.Dense
        assert pickle.loads(b"cmindspore.nn\\nDense\\n.") is nn.Dense
    """,
    "twice": """
        import mindspore
        length = len(sys.meta_path)
        mindspore.install()
        assert len(sys.meta_path) == length
    """,
    "threads": """
        import threading, importlib
        import mindjax.train  # cold imports from several threads may meet half-made modules
        names = ["nn", "ops", "train", "common.initializer", "version"] * 4
        found, errors = {}, []
        def load(name):
            try:
                found[name] = importlib.import_module("mindspore." + name)
            except Exception as error:
                errors.append(error)
        threads = [threading.Thread(target=load, args=(name,)) for name in names]
        [thread.start() for thread in threads], [thread.join() for thread in threads]
        assert not errors, errors
        assert all(found[n] is importlib.import_module("mindjax." + n) for n in names)
    """,
}


def run(program, *flags):
    """Run a program in a process of its own."""
    command = [sys.executable, *flags, "-c", textwrap.dedent(program)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("case", CASES)
def test_alias(case):
    prelude = "import sys, mindjax\nmindjax.install()\n"
    result = run(prelude + textwrap.dedent(CASES[case]), "-W", "error")
    assert result.returncode == 0, result.stderr


def test_not_installed_by_import_alone():
    result = run("""
        import sys, mindjax, mindjax.nn
        assert not any(name.split(".")[0] == "mindspore" for name in sys.modules)
        from mindjax.alias import installed
        assert not installed()
    """)
    assert result.returncode == 0, result.stderr


def test_another_mindspore_is_refused(tmp_path):
    (tmp_path / "mindspore.py").write_text("__version__ = '2.10.0'")
    result = run(f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        import mindspore, mindjax
        try:
            mindjax.install()
        except ImportError as error:
            assert "must come before" in str(error) and {str(tmp_path)!r} in str(error)
        else:
            raise AssertionError("installed over another mindspore")
    """)
    assert result.returncode == 0, result.stderr
