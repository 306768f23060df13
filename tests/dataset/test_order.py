"""Order and randomness: seeds, epochs, shards, samplers, buffers."""

import collections

import numpy as np
import pytest

import mindjax.dataset as ds
import mindjax.dataset.vision as vision

N = 40


@pytest.fixture(autouse=True)
def unset_seed():
    yield
    ds.config.set_seed(5489)


def numbers(dataset):
    rows = dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)
    return [int(row[0]) for row in rows]


def epochs(make, count=3):
    iterator = make().create_tuple_iterator(output_numpy=True)
    return [[np.asarray(row[0]).tolist() for row in iterator] for _ in range(count)]


def slices(**kwargs):
    return ds.NumpySlicesDataset(np.arange(N), **kwargs)


def plain():
    return slices(shuffle=False)


def rows_of_lists():
    return ds.GeneratorDataset([np.int64(i) for i in range(N)], "x")


def images():
    return ds.NumpySlicesDataset(np.arange(N * 30).reshape(N, 5, 6).astype(np.uint8), shuffle=False)


RANDOM = {
    "source": lambda: slices(),
    "source of objects": rows_of_lists,
    "random sampler": lambda: slices(sampler=ds.RandomSampler()),
    "with replacement": lambda: slices(sampler=ds.RandomSampler(True)),
    "subset": lambda: slices(sampler=ds.SubsetRandomSampler(list(range(N)))),
    "weights": lambda: slices(sampler=ds.WeightedRandomSampler([1.0] * N)),
    "whole buffer": lambda: plain().shuffle(N),
    "small buffer": lambda: plain().shuffle(7),
    "buffer of rows": lambda: rows_of_lists().shuffle(7),
    "of a repetition": lambda: plain().repeat(2).shuffle(9),
    "repeated": lambda: plain().shuffle(N).repeat(2),
    "split": lambda: plain().split([0.5, 0.5])[0].shuffle(N),
    "flip": lambda: images().map(vision.RandomHorizontalFlip(0.5)).batch(3),
    "crop": lambda: images().map(vision.RandomCrop(4, 1)).batch(3),
    "resized crop": lambda: images().map(vision.RandomResizedCrop(3)).batch(3),
    "crop in threads": lambda: images().map(
        [lambda x: x, vision.RandomCrop(4, 1)], num_parallel_workers=2
    ),
    "crop in processes": lambda: images().map(
        [lambda x: x, vision.RandomCrop(4, 1)], num_parallel_workers=2, python_multiprocessing=True
    ),
}


@pytest.mark.parametrize("name", RANDOM)
def test_seed_fixes_the_order_and_epochs_differ(name):
    ds.config.set_seed(3)
    first = epochs(RANDOM[name])
    again = epochs(RANDOM[name])
    assert first == again
    assert first[0] != first[1] and first[1] != first[2]
    ds.config.set_seed(4)
    assert epochs(RANDOM[name])[0] != first[0]


@pytest.mark.parametrize("name", ["source", "small buffer", "crop"])
def test_without_a_seed_every_iterator_differs(name):
    assert epochs(RANDOM[name], 1) != epochs(RANDOM[name], 1)


def test_workers_do_not_change_random_transforms():
    def made(**kwargs):
        ds.config.set_seed(5)
        return epochs(lambda: images().map([lambda x: x, vision.RandomCrop(3)], **kwargs))

    alone = made()
    assert made(num_parallel_workers=2) == alone
    assert made(num_parallel_workers=2, python_multiprocessing=True) == alone


@pytest.mark.parametrize("shuffle", [True, None])
def test_shuffle_of_sources(shuffle):
    order = numbers(slices(shuffle=shuffle))
    assert order != list(range(N)) and sorted(order) == list(range(N))


def test_shuffle_false():
    assert numbers(slices(shuffle=False)) == list(range(N))


@pytest.mark.parametrize("buffer", [2, 7, N - 1, N, 3 * N])
@pytest.mark.parametrize("make", [plain, rows_of_lists])
def test_buffer_keeps_all_rows(make, buffer):
    order = numbers(make().shuffle(buffer))
    assert sorted(order) == list(range(N))


@pytest.mark.parametrize("buffer", [2, 7])
def test_a_row_comes_at_most_a_buffer_early(buffer):
    order = numbers(plain().shuffle(buffer))
    assert all(value - place < buffer for place, value in enumerate(order))


def test_a_buffer_is_uniform():
    """The first of 4 rows out of a full buffer: each equally often, within 5 sigma."""
    data = ds.NumpySlicesDataset([0, 1, 2, 3], shuffle=False).shuffle(4)
    first = collections.Counter(numbers(data)[0] for _ in range(800))
    assert all(abs(first[value] - 200) < 5 * 12.3 for value in range(4))


@pytest.mark.parametrize("kwargs", [{"shuffle": None}, {"shuffle": True}])
def test_shards_are_disjoint_in_every_epoch(kwargs):
    ds.config.set_seed(1)
    shards = [slices(num_shards=4, shard_id=i, **kwargs) for i in range(4)]
    seen = [epochs(lambda shard=shard: shard) for shard in shards]
    orders = []
    for epoch in range(3):
        parts = [shard[epoch] for shard in seen]
        assert sorted(value for part in parts for value in part) == list(range(N))
        orders.append(parts)
    assert orders[0] != orders[1] and orders[1] != orders[2]


def test_parts_of_a_split_stay_disjoint():
    data = slices()
    train, test = data.split([0.75, 0.25])
    for _ in range(2):
        assert sorted(numbers(train) + numbers(test)) == list(range(N))
    assert (len(train), len(test)) == (30, 10)
    assert sorted(numbers(train.shuffle(30)) + numbers(test)) == list(range(N))


def test_weights_are_kept():
    """Rows with weights 1, 2, 5 out of 8: within 5 sigma of 4,000 draws."""
    sampler = ds.WeightedRandomSampler([1, 2, 5], 4000)
    found = collections.Counter(numbers(ds.NumpySlicesDataset([0, 1, 2], sampler=sampler)))
    for value, share in enumerate((1 / 8, 2 / 8, 5 / 8)):
        assert abs(found[value] - 4000 * share) < 5 * (4000 * share * (1 - share)) ** 0.5


def test_weights_without_replacement():
    sampler = ds.WeightedRandomSampler([1, 0, 1, 1], 3, replacement=False)
    assert sorted(numbers(ds.NumpySlicesDataset([0, 1, 2, 3], sampler=sampler))) == [0, 2, 3]


@pytest.mark.parametrize("shuffle", [False, True])
def test_pk_sampler(shuffle):
    labels = np.array([0, 1, 2, 0, 1, 2, 0, 1], np.int32)
    data = ds.NumpySlicesDataset(
        {"x": np.arange(8), "label": labels}, sampler=ds.PKSampler(2, shuffle=shuffle)
    )
    order = numbers(data)
    assert len(data) == 6
    assert all(labels[a] == labels[b] for a, b in zip(order[::2], order[1::2], strict=True))
    assert shuffle or order == [0, 3, 1, 4, 2, 5]
    assert sorted({labels[a] for a in order}) == [0, 1, 2]


def test_user_sampler_beyond_the_rows_warns():
    class Beyond(ds.Sampler):
        def __iter__(self):
            return iter([1, 70, 2, -1])

    with pytest.warns(UserWarning, match=r"Sample ID \(70\) and 1 more are out of bound"):
        assert numbers(slices(sampler=Beyond())) == [1, 2]


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, 2**40 + 7])
def test_global_seed(seed):
    ds.config.seed_from_global(seed)
    assert ds.config.get_seed() == seed % 2**32
    assert numbers(slices()) == numbers(slices())


def test_flips_come_half_of_the_time():
    ds.config.set_seed(1)
    data = ds.NumpySlicesDataset(np.tile(np.arange(2, dtype=np.uint8), (4000, 1, 1)), shuffle=False)
    flipped = sum(
        int(rows[0][:, 0, 0].sum())
        for rows in data.map(vision.RandomHorizontalFlip(0.3))
        .batch(100)
        .create_tuple_iterator(num_epochs=1, output_numpy=True)
    )
    assert abs(flipped - 1200) < 5 * (4000 * 0.3 * 0.7) ** 0.5


def test_crops_reach_every_place():
    image = np.arange(16, dtype=np.uint8).reshape(4, 4)
    crop = vision.RandomCrop(3)
    corners = {int(crop(image)[0, 0]) for _ in range(200)}
    assert corners == {0, 1, 4, 5}
