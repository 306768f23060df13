"""Arguments without effect: they tune the original's device or its memory, or have no meaning here.

The docstrings of the original say what follows the names. At most `LIMIT` entries.
"""

LIMIT = 60
LOCK = "the update of the Parameter is protected by a lock: programs write in their own order"
ANY_ORDER = "False permits another order of equal elements, and does not ask for one"
DEVICE_TUNING = {
    "AdamWeightDecay.use_locking": LOCK,
    "Adam.use_locking": LOCK,
    "ApplyAdamWithAmsgradV2.use_locking": LOCK,
    "ApplyCenteredRMSProp.use_locking": LOCK,
    "ApplyMomentum.use_locking": LOCK,
    "ApplyRMSProp.use_locking": LOCK,
    "IndexAdd.use_lock": LOCK,
    "index_add.use_lock": LOCK,
    "ScatterAdd.use_locking": LOCK,
    "ScatterSub.use_locking": LOCK,
    "ScatterUpdate.use_locking": LOCK,
    "IndexAdd.check_index_bound": "whether indices are checked: they always are",
    "index_add.check_index_bound": "whether indices are checked: they always are",
    "argsort.stable": ANY_ORDER,
    "sort.stable": ANY_ORDER,
    "topk.sorted": ANY_ORDER,
    "TopK.sorted": ANY_ORDER,
    "unique_sorted.sorted": ANY_ORDER,
    "unique.sorted": ANY_ORDER,
    "astype.copy": "False permits the same Tensor, and True shares its values too",
    "constexpr.check": "whether GRAPH checks that the arguments are constants",
    "constexpr.get_instance": "kept by the original for its old callers",
    "constexpr.name": "name in the original's graph",
    "constexpr.reuse_result": "whether GRAPH computes a constant again",
    "copy_.non_blocking": "whether the host waits; reading a value does",
    "set_data.slice_shape": "whether a slice of a distributed Parameter may be given",
    "init_data.args": "the layout of a distributed Parameter",
    "init_data.kwargs": "the layout of a distributed Parameter",
    "HookBackward.cell_id": "name in the original's log",
}
