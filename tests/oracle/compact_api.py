"""Make tests/goldens/api_names.json.gz: the original's names, kinds and signatures.

Run with the oracle's python on the oracle's api.json:

    /path/to/oracle/bin/python tests/oracle/compact_api.py ../shared/oracle/api.json
"""

import gzip
import importlib
import json
import sys
from pathlib import Path

TARGET = Path(__file__).parents[1] / "goldens/api_names.json.gz"


def documented(names):
    """Reduce the recorded entries of one namespace."""
    return {
        name: [
            entry["kind"],
            entry.get("signature"),
            {k: v.get("signature") for k, v in sorted(entry.get("members", {}).items())},
        ]
        for name, entry in sorted(names.items())
        if entry["kind"] != "missing"
    }


def undocumented(namespace, known):
    """List what a namespace shows beyond the recorded names."""
    top, *rest = namespace.split(".")
    module = importlib.import_module(top)
    for depth, part in enumerate(rest, 2):
        if not hasattr(module, part):
            importlib.import_module(".".join([top, *rest][:depth]))
        module = getattr(module, part)
    return sorted(n for n in dir(module) if not n.startswith("_") and n not in known)


def main():
    source = json.loads(Path(sys.argv[1]).read_text())
    modules = {space: documented(names) for space, names in sorted(source["modules"].items())}
    others = {space: undocumented(space, names) for space, names in modules.items()}
    record = {
        "mindspore": source["mindspore_version"],
        "modules": modules,
        "undocumented": {space: names for space, names in others.items() if names},
    }
    TARGET.write_bytes(gzip.compress(json.dumps(record).encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
