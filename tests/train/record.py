"""Records, with the original's interpreter, what Model, its callbacks and the metrics do.

Run ``$MINDJAX_ORACLE_PYTHON tests/train/record.py``: it rewrites ``tests/goldens/train.json`` and
``tests/goldens/ckpt/resume_*``. The scenarios stand in ``scenarios.py`` and run unchanged on both.
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import mindspore as ms
import scenarios

GOLDEN = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "goldens", "train.json"
)


def main():
    """Run every scenario in both modes."""
    out = {"version": ms.__version__}
    for name in scenarios.OPTIMIZERS:
        model = scenarios.with_optimizer(name)
        model.train(1, scenarios.data())
        ms.save_checkpoint(model.train_network, scenarios.resume_file(name))
        os.chmod(scenarios.resume_file(name), 0o644)
    for mode, number in (("graph", ms.GRAPH_MODE), ("pynative", ms.PYNATIVE_MODE)):
        ms.set_context(mode=number)
        out[mode] = {name: scenarios.outcome(case) for name, case in scenarios.CASES.items()}
    out["metrics"] = {name: scenarios.outcome(case) for name, case in scenarios.METRICS.items()}
    assert out["graph"].keys() == out["pynative"].keys()
    for name in list(out["pynative"]):
        if out["pynative"][name] == out["graph"][name]:
            del out["pynative"][name]
    with open(GOLDEN, "w", encoding="utf-8") as file:
        file.write(json.dumps(out, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main())
