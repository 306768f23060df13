"""Records the layout of PJRT's C interface from the tables of the package pypjrt.

`pip install pypjrt==0.1.1`, then `python tests/ascend/record_abi.py` writes ``pjrt_abi.json``.
"""

import ctypes
import json
import pathlib

from pypjrt._abi import pjrt_0_114 as table

HERE = pathlib.Path(__file__).parent
DECLARED = HERE.parents[1] / "backends/ascend_xla/src/pjrt/abi.h"


def structures():
    """Give sizes and the offsets of fields, of each structure that the plugin declares."""
    declared, found = DECLARED.read_text(), {}
    for name, structure in sorted(vars(table).items()):
        # Of the table of functions itself only the order of its slots is kept.
        if name == "PJRT_Api" or f"struct {name} {{" not in declared:
            continue
        if hasattr(structure, "_fields_"):
            fields = {f[0]: getattr(structure, f[0]).offset for f in structure._fields_}
            found[name] = {"size": ctypes.sizeof(structure), "fields": fields}
    return found


def main():
    """Write the file."""
    lines = [f' "version": {json.dumps([table.PJRT_API_MAJOR, table.PJRT_API_MINOR])},']
    lines.append(f' "slots": {json.dumps(list(table.FUNCTIONS))},')
    rows = ",\n".join(f"  {json.dumps(n)}: {json.dumps(s)}" for n, s in structures().items())
    text = "{\n" + "\n".join(lines) + '\n "structures": {\n' + rows + "\n }\n}\n"
    HERE.joinpath("pjrt_abi.json").write_text(text)


if __name__ == "__main__":
    main()
