"""Strategy and group files; the first content was serialized by the original's own classes."""

import random

import pytest

import mindjax as ms

CONTENT = (
    b"\x08\x01\x12\r\n\x01n\x12\x08\x08\x00\x12\x04\x08\x01\x08\x02\x1a$\n\x01w\x12\x1f\n\x04\x08"
    b'\x02\x08\x02\x12\r\x08\x01\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x1a\x00"\x00(\x000'
    b"\x008\x00"
)


def test_a_layout_is_read(tmp_path):
    path = tmp_path / "strategy.ckpt"
    path.write_bytes(CONTENT)
    found = ms.build_searched_strategy(str(path))
    assert list(found) == ["w"]
    layout = found["w"]
    assert layout.dev_matrix[0].dim == (2, 2) and layout.tensor_map[0].dim == (1, -1)
    assert layout.param_split_shape[0].dim == () and layout.opt_weight_shard_size == 0


def test_ranks_are_read(tmp_path):
    path = tmp_path / "group.pb"
    path.write_bytes(b"\x12\x04\x08\x00\x08\x03")
    assert ms.restore_group_info_list(str(path)) == [0, 3]
    path.write_bytes(b"\n\x00")
    with pytest.raises(ValueError, match="has no restore rank list"):
        ms.restore_group_info_list(str(path))


@pytest.mark.parametrize("function", [ms.build_searched_strategy, ms.restore_group_info_list])
def test_wrong_files(tmp_path, function):
    path = tmp_path / "x.ckpt"
    with pytest.raises(TypeError, match="should be string"):
        function(3)
    with pytest.raises(ValueError, match="no such"):
        function(str(path))
    path.write_bytes(b"")
    with pytest.raises(ValueError, match="should not be empty"):
        function(str(path))
    seed = random.Random(0)
    for _ in range(500):
        damaged = bytearray(CONTENT)
        damaged[seed.randrange(len(damaged))] = seed.randrange(256)
        path.write_bytes(bytes(damaged[: seed.randrange(1, len(damaged))]))
        try:
            function(str(path))
        except (TypeError, ValueError) as error:
            assert "x.ckpt" in str(error) or "no restore rank list" in str(error)
