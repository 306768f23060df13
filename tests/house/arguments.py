"""Arguments without effect: they tune the original's device or its memory, or have no meaning here.

The docstrings of the original say what follows the names, `function.argument` or a pattern of it.
At most `LIMIT` entries.
"""

from fnmatch import fnmatchcase

LIMIT = 60
LOCK = "the update of the Parameter is protected by a lock: programs write in their own order"
ANY_ORDER = "False permits another order of equal elements, and does not ask for one"
UNREAD = "the original does not read it either"
ALONE = "of another process: without one the op raises"
DEVICE_TUNING = {
    "*.use_locking": LOCK,
    "IndexAdd.use_lock": LOCK,
    "index_add.use_lock": LOCK,
    "IndexAdd.check_index_bound": "whether indices are checked: they always are",
    "index_add.check_index_bound": "whether indices are checked: they always are",
    "argsort.stable": ANY_ORDER,
    "sort.stable": ANY_ORDER,
    "topk.sorted": ANY_ORDER,
    "TopK.sorted": ANY_ORDER,
    "top_k.sorted": ANY_ORDER,
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
    "init_process_group.device_id": UNREAD,
    "init_process_group.pg_options": UNREAD,
    "new_group.group_desc": UNREAD,
    "new_group.timeout": UNREAD,
    "new_group.use_local_synchronization": UNREAD,
    "barrier.device_ids": UNREAD,
    "*_object_list.device": UNREAD,
    "TCPStore.master_listen_fd": UNREAD,
    "TCPStore.multi_tenant": UNREAD,
    "TCPStore.use_libuv": UNREAD,
    "Send.*": ALONE,
    "Receive.*": ALONE,
    "Push.*": ALONE,
    "send.tag": ALONE,
    "isend.tag": ALONE,
    "recv.tag": ALONE,
    "irecv.tag": ALONE,
    "*.inner_precise": "whether float16 is multiplied exactly on the vendor's device",
    "batch_norm_elemt.eps": "of the variance, whose inverse root is given",
    "DynamicRNN.is_training": "whether the vendor's device keeps what the gradient needs",
    "DynamicGRUV2.is_training": "whether the vendor's device keeps what the gradient needs",
    "moe_token_unpermute.restore_shape": "of padded tokens, which the original has not either",
    "moe_distribute_combine.*_send_counts": ALONE,
    "moe_distribute_combine.expand_scales": ALONE,
    "speed_fusion_attention.gen_mask_parallel": UNREAD,
    "speed_fusion_attention.sync": UNREAD,
    "_Grad.merge_forward": "how the original compiles",
    "recompute.early_stop": "whether computing again stops early: XLA drops what is not needed",
    "recompute.output_recompute": "whether an output is computed again: XLA decides",
    "HookBackward.cell_id": "name in the original's log",
}


def is_tuning(name):
    """Tell whether ``function.argument`` is listed."""
    return any(fnmatchcase(name, pattern) for pattern in DEVICE_TUNING)
