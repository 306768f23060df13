"""mint's names of the numeric family: counting, searching, divisors, batch statistics."""

from __future__ import annotations

from mindjax.ops.activation import gelu
from mindjax.ops.numeric.batch_statistics import batch_norm_elemt as batch_norm_elemt
from mindjax.ops.numeric.batch_statistics import (
    batch_norm_gather_stats_with_counts as batch_norm_gather_stats_with_counts,
)
from mindjax.ops.numeric.batch_statistics import batch_norm_stats as batch_norm_stats
from mindjax.ops.numeric.complexes import polar as polar
from mindjax.ops.numeric.counting import bincount_ext, histc_ext
from mindjax.ops.numeric.distinct import unique_consecutive as unique_consecutive
from mindjax.ops.numeric.elements import bitwise_not as bitwise_not
from mindjax.ops.numeric.elements import gcd as gcd
from mindjax.ops.numeric.running import diff_ext
from mindjax.ops.numeric.searching import kthvalue as kthvalue
from mindjax.ops.numeric.searching import searchsorted as searchsorted

# The original's ops have functions of these names with other defaults or dtypes.
bincount = bincount_ext
diff = diff_ext
histc = histc_ext
npu_gelu = gelu
