"""Record what the vendor's compiler makes of the cases: `python -m tests.ascend.hivm.record`.

It needs ascendnpu-ir; the simulator's tests then run without it.
"""

from __future__ import annotations

import gzip
import json

from mindjax_ascend.hivm import compiler, programs

from tests.ascend.hivm import refused
from tests.ascend.hivm.cases import CASES
from tests.ascend.hivm.kernels import GOLDEN, lowered


def main() -> None:
    """Compile all cases and write the golden file."""
    sources = {case.name: lowered(case) for case in CASES}
    sources |= {f"hand_{name}": programs.source(name) for name in programs.names()}
    sources |= {f"refused_{name}": text for name, text in refused.sources().items()}
    modules, version = {}, ""
    extra = {case.name: case.options for case in CASES}
    for name, source in sources.items():
        made = compiler.compile(source, extra=extra.get(name, ()))
        modules[name], version = made.hivm, made.version
        print(name, len(made.hivm), *made.options)
    content = {"compiler": f"ascendnpu-ir {version}", "target": compiler.TARGET, "modules": modules}
    GOLDEN.parent.mkdir(parents=True, exist_ok=True)
    packed = gzip.compress(json.dumps(content, indent=0).encode(), 9, mtime=0)
    GOLDEN.write_bytes(packed)
    print(GOLDEN, len(packed), "bytes")


if __name__ == "__main__":
    main()
