"""Comparison of what a scenario gives with what the original gave."""

import json
import math
import re

FLOAT = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")
PHRASE = 34


def close(found, expected, rel=2e-5):
    """Tell whether JSON values are equal, numbers (in texts too) within ``rel``."""
    if isinstance(expected, bool) or expected is None:
        return found is expected
    if isinstance(expected, int | float):
        return isinstance(found, int | float) and (
            found == expected or math.isclose(found, expected, rel_tol=rel, abs_tol=1e-6)
        )
    if isinstance(expected, str):
        if not isinstance(found, str) or FLOAT.sub("#", found) != FLOAT.sub("#", expected):
            return False
        pairs = zip(FLOAT.findall(found), FLOAT.findall(expected), strict=True)
        return all(close(float(f), float(e), rel) for f, e in pairs)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(close, found, expected))
    return found.keys() == expected.keys() and all(close(found[k], expected[k]) for k in expected)


def squeeze(text):
    """Bring a message to what must be equal: no spaces, quotes or place."""
    return re.sub(r"[\s'\"]", "", re.sub(r"\[[^ ]*:\d+\]", "", text))


def key_phrase(message):
    """Give the beginning of what the original says; its subject may be named better by us."""
    return squeeze(re.sub(r"^The (type of )?(input value )?", "", message))[:PHRASE]


def check(found, expected, changed=None, place=True):
    """Compare outcomes: results whole, errors by class, a phrase and, with ``place``, a place."""
    found = json.loads(json.dumps(found))
    if "ok" in expected:
        assert "ok" in found, found
        assert close(found["ok"], expected["ok"]), f"{found}\n{expected}"
        return
    assert found.get("error") == expected["error"], found
    assert re.search(r"\[.*:\d+\]['\"]?$", found["message"]) or not place, found
    phrase = changed or key_phrase(expected["message"])
    assert squeeze(phrase) in squeeze(found["message"]), f"{found}\n{expected}"
