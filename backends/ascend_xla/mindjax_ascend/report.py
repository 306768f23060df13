"""Says what ran where: per operator of StableHLO, and per program that the delegate ran."""

from __future__ import annotations

from collections import Counter

from mindjax_ascend import library, plugin
from mindjax_ascend.compiler.compile import compiled


def report() -> str:
    """Describe every program that this process compiled for the platform ``ascend``."""
    if not plugin.registered():
        return "mindjax ascend: the platform 'ascend' was not used: nothing asked jax for a device."
    ran = plugin.executions()
    by_steps = [c for c in compiled if not c.delegated]
    left = [c for c in compiled if c.delegated]
    lines = [
        f"mindjax ascend: driver {plugin.settings()['driver']}; {len(compiled)} programs compiled, "
        f"{len(left)} of them for the delegate (XLA:CPU)",
        f"runs: {ran['steps']} by steps, {ran['delegate']} by the delegate",
    ]
    offloaded = [library.library().ascend_offloaded(i) for i in (0, 1)]
    if any(offloaded):
        lines.append(f"steps of the driver acl: {offloaded[0]} by CANN, {offloaded[1]} on the host")
        refused = library.refused()
        if refused:
            lines.append("operators that CANN refused, whose steps the host did:")
            lines += [f"  {line}" for line in refused]
    total: Counter[tuple[str, str]] = Counter()
    for program in by_steps:
        total.update(program.operators)
    if total:
        lines += ["", f"{'operator':<28}{'kernel':<24}{'in programs':>12}"]
        lines += [f"{op:<28}{kernel:<24}{n:>12}" for (op, kernel), n in sorted(total.items())]
    kept = sum((program.left for program in by_steps), Counter[str]())
    if kept:
        lines += ["", "segments for which the vendor's compiler has no kernel, left to the host's:"]
        lines += [
            f"  {why}" + (f" ({n} times)" if n > 1 else "") for why, n in sorted(kept.items())
        ]
    if left:
        lines += ["", "left to the delegate, with the first reason:"]
        reasons = Counter((c.name, c.delegated) for c in left)
        lines += [f"  {name}: {why}" + (f" ({n} times)" if n > 1 else "")
                  for (name, why), n in sorted(reasons.items())]  # fmt: skip
    return "\n".join(lines)
