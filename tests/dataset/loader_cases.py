"""Programs of ``dataset.dataloader`` that run alike under MindSpore and under MindJAX."""

import numpy as np


def run(D, ms):
    """Give what each program gives, in JSON's terms, or the class of its error."""
    tensor = ms.Tensor

    class Rows(D.Dataset):
        def __init__(self, n):
            self.n = n

        def __getitem__(self, i):
            return np.float32(i) * np.ones(2, np.float32), i

        def __len__(self):
            return self.n

    class Stream(D.IterableDataset):
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            worker = D.get_worker_info()
            first, step = (0, 1) if worker is None else (worker.id, worker.num_workers)
            return iter(range(first, self.n, step))

    load, shares = D.DataLoader, D.DistributedSampler
    programs = {
        "plain": lambda: list(load(Rows(5), 2)),
        "drop": lambda: list(load(Rows(5), 2, drop_last=True)),
        "single": lambda: list(load(Rows(3), None)),
        "workers": lambda: list(load(Rows(7), 2, num_workers=2)),
        "sampler": lambda: list(load(Rows(7), 2, sampler=[3, 1, 5])),
        "batch_sampler": lambda: list(load(Rows(7), batch_sampler=[[3, 1], [5]])),
        "collate_fn": lambda: list(load(Rows(4), 2, collate_fn=lambda rows: len(rows))),
        "stream": lambda: list(load(Stream(5), 2)),
        "stream_single": lambda: list(load(Stream(3), None)),
        "stream_drop": lambda: list(load(Stream(5), 2, drop_last=True)),
        "stream_workers": lambda: sorted(show(list(load(Stream(6), 1, num_workers=2)))),
        "tensors": lambda: list(
            load(D.TensorDataset(tensor(np.arange(4.0)), tensor(np.arange(4))), 2)
        ),
        "collate": lambda: D.default_collate(
            [{"a": 1, "b": (1.5, "x")}, {"a": 2, "b": (2.5, "y")}]
        ),
        "collate_numbers": lambda: D.default_collate(
            [[np.int32(1), True, np.float64(1)], [np.int32(2), False, np.float64(3)]]
        ),
        "convert": lambda: D.default_convert({"a": np.float32(1), "b": (np.arange(2), "x", 3)}),
        "lengths": lambda: [
            len(load(Rows(5), 2)),
            len(load(Rows(5), 2, drop_last=True)),
            len(load(Rows(5), None)),
        ],
        "shares": lambda: [list(shares(range(7), 3, r, False)) for r in range(3)],
        "shares_drop": lambda: [
            list(shares(range(7), 3, r, False, drop_last=True)) for r in range(3)
        ],
        "shares_few": lambda: [list(shares(range(2), 5, r, False)) for r in range(5)],
        "shares_shuffled": lambda: [list(shares(range(7), 3, r)) for r in range(3)],
        "batches": lambda: [list(D.BatchSampler(range(5), 2, x)) for x in (True, False)],
        "random": lambda: [
            sorted(D.RandomSampler(range(5))),
            len(list(D.RandomSampler(range(5), num_samples=12))),
            len(list(D.RandomSampler(range(5), True, 7))),
        ],
        "no_batch": lambda: load(Rows(3), 0),
        "batch_text": lambda: load(Rows(3), "a"),
        "no_dataset": lambda: load(3),
        "stream_shuffle": lambda: load(Stream(3), shuffle=True),
        "sampler_shuffle": lambda: load(Rows(3), shuffle=True, sampler=[1]),
        "batch_twice": lambda: load(Rows(3), 2, batch_sampler=[[1]]),
        "workers_negative": lambda: load(Rows(3), num_workers=-1),
        "prefetch_alone": lambda: load(Rows(3), prefetch_factor=2),
        "persistent_alone": lambda: load(Rows(3), persistent_workers=True),
        "generator": lambda: load(Rows(3), generator=3),
        "timeout": lambda: load(Rows(3), timeout=-1),
        "tensors_unequal": lambda: D.TensorDataset(tensor([1, 2]), tensor([1])),
        "batches_none": lambda: D.BatchSampler([1], 0, False),
        "random_none": lambda: D.RandomSampler([1], num_samples=0),
        "random_kind": lambda: D.RandomSampler([1], 1),
        "share_rank": lambda: shares([1], 2, 2),
        "share_none": lambda: shares([1], 0, 0),
        "abstract": lambda: D.Dataset()[0],
        "abstract_stream": lambda: iter(D.IterableDataset()),
        "collate_ragged": lambda: D.default_collate([[1], [1, 2]]),
        "collate_text": lambda: D.default_collate([np.array(["a"])] * 2),
        "collate_object": lambda: D.default_collate([object()]),
    }
    found = {}
    for name, program in programs.items():
        try:
            found[name] = show(program())
        except Exception as error:
            found[name] = type(error).__name__
    return found


def show(value):
    """Bring a result to JSON's terms."""
    if isinstance(value, list | tuple):
        return [show(entry) for entry in value]
    if isinstance(value, dict):
        return {key: show(entry) for key, entry in value.items()}
    if hasattr(value, "asnumpy"):
        return [str(value.dtype), value.asnumpy().tolist()]
    return value if isinstance(value, str) else repr(value)
