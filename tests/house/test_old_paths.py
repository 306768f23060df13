"""Old and private import paths give the names that real programs import from them."""

import subprocess
import sys

from tests.house.old_paths import PATHS
from tests.house.source import ROOT

PROGRAM = """
import mindjax
mindjax.install()
wrong = []
for path, names in {paths!r}.items():
    for name in names.split():
        try:
            exec(f"from {{path}} import {{name}}", {{}})
        except Exception as error:
            wrong.append(f"from {{path}} import {{name}}: {{error}}")
print("\\n".join(wrong), end="")
"""


def test_names_can_be_imported():
    program = PROGRAM.format(paths=PATHS)
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert not done.stdout, done.stdout


def test_a_forwarded_path_is_no_second_module():
    program = """
import mindjax; mindjax.install()
import mindspore.ops.operations.nn_ops as nn_ops
import mindspore.ops.function.math_func as math_func
from mindspore import ops
assert nn_ops.ReLU is ops.ReLU and math_func.add is ops.add
assert ops.operations.__spec__.name == "mindjax.ops.operations"
try:
    import mindspore.ops.operations.nothing
except ModuleNotFoundError:
    pass
else:
    raise AssertionError("a path that the original does not have was imported")
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


def test_overloads_take_both_faces_arguments():
    from mindjax import Tensor
    from mindjax.ops import functional_overload

    x = Tensor([[True, False], [False, False]])
    for named in ({"dim": 1}, {"axis": 1}):
        assert functional_overload.any(x, **named).asnumpy().tolist() == [True, False]
