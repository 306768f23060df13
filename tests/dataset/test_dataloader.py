"""``dataset.dataloader`` against what the original gave (golden of record_dataloader.py)."""

import json
import pathlib

import numpy as np
import pytest

import mindjax
from mindjax.dataset import dataloader
from tests.dataset import loader_cases

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "goldens" / "dataset" / "dataloader.json"


def test_programs():
    wanted = json.loads(GOLDEN.read_text())["results"]
    found = loader_cases.run(dataloader, mindjax)
    assert set(found) == set(wanted)
    wrong = {name: (found[name], wanted[name]) for name in wanted if found[name] != wanted[name]}
    assert not wrong


class Squares(dataloader.Dataset):
    def __getitem__(self, index):
        if index == 7:
            raise KeyError("seven")
        return np.array([index**2])

    def __len__(self):
        return 9


def test_workers_begin_end_and_raise():
    begun = []
    loader = dataloader.DataLoader(
        Squares(),
        2,
        sampler=range(6),
        num_workers=2,
        worker_init_fn=begun.append,
        persistent_workers=True,
    )
    for _ in range(2):
        assert [batch.asnumpy().ravel().tolist() for batch in loader] == [[0, 1], [4, 9], [16, 25]]
    assert sorted(begun) == [0, 1]
    with pytest.raises(KeyError, match="seven"):
        list(dataloader.DataLoader(Squares(), 3, num_workers=2))


def test_seeds_and_order():
    def order(**keywords):
        loader = dataloader.DataLoader(
            Squares(),
            None,
            shuffle=True,
            collate_fn=int,
            generator=np.random.default_rng(3),
            **keywords,
        )
        return [number for number, _ in zip(iter(loader.sampler), range(9), strict=True)]

    assert order() == order() and sorted(order()) == list(range(9))
    loader = dataloader.DataLoader(
        Squares(),
        1,
        sampler=range(6),
        num_workers=3,
        in_order=False,
        collate_fn=lambda r: int(r[0][0]),
    )
    assert sorted(loader) == [0, 1, 4, 9, 16, 25]


@pytest.mark.parametrize("keywords", [{"pin_memory": True}, {"multiprocessing_context": "fork"}])
def test_what_is_not_there(keywords):
    with pytest.raises(NotImplementedError, match="threads"):
        dataloader.DataLoader(Squares(), num_workers=1, **keywords)
