"""Make tests/goldens/api_names.json.gz from the oracle's api.json: names, kinds and signatures.

python tests/oracle/compact_api.py ../shared/oracle/api.json
"""

import gzip
import json
import sys
from pathlib import Path

TARGET = Path(__file__).parents[1] / "goldens/api_names.json.gz"


def main():
    source = json.loads(Path(sys.argv[1]).read_text())
    modules = {
        module: {
            name: [
                entry["kind"],
                entry.get("signature"),
                {k: v.get("signature") for k, v in sorted(entry.get("members", {}).items())},
            ]
            for name, entry in sorted(names.items())
            if entry["kind"] != "missing"
        }
        for module, names in sorted(source["modules"].items())
    }
    text = json.dumps({"mindspore": source["mindspore_version"], "modules": modules})
    TARGET.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
