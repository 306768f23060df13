"""MindSpore's ops: functions and Primitive classes, an explicit list."""

# arithmetic, reduction, comparison, linear algebra

# shape, indexing, creation, sampling, state

# networks
