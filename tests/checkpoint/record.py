"""Records, with the original's interpreter, what the checkpoint functions write and do.

Run ``$MINDJAX_ORACLE_PYTHON tests/checkpoint/record.py``: it rewrites ``made_*`` and
``recorded.json`` in ``tests/goldens/ckpt``. The other files there come from the original too, from
larger programs. The scenarios stand in ``scenarios.py``.
"""

import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import mindspore as ms
import scenarios as s


def main():
    """Record everything."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    out = {"version": ms.__version__}
    for name in s.FILES:
        path = os.path.join(s.GOLDENS, name)
        s.save_file(name, path)
        os.chmod(path, 0o644)
    out["load"] = {name: s.load_file(name) for name in s.golden_names()}
    with tempfile.TemporaryDirectory() as folder:
        for group, cases in (("save", s.save_cases(folder)), ("load_case", s.load_cases(folder))):
            out[group] = {}
            for name, case in cases.items():
                out[group][name] = s.outcome(case)
                for file in os.listdir(folder):
                    os.remove(os.path.join(folder, file))
        real = os.path.realpath(folder)
    out["into"] = {name: s.outcome(case) for name, case in s.INTO.items()}
    text = json.dumps(out, indent=1, ensure_ascii=False)
    text = text.replace(real, "FOLDER").replace(s.GOLDENS, "GOLDENS")
    with open(os.path.join(s.GOLDENS, "recorded.json"), "w", encoding="utf-8") as file:
        file.write(text + "\n")


if __name__ == "__main__":
    main()
