"""From StableHLO to the steps that the C++ runtime runs."""
