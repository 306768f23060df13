"""The images that the examples train on."""

import pytest

from mindjax.cli import demo_data


@pytest.fixture(scope="session")
def digits(tmp_path_factory):
    """Write the 5,000 digits once; the value is their folder."""
    folder = tmp_path_factory.mktemp("digits") / "mnist"
    demo_data.write_folder(folder, demo_data.fill_mnist)
    return folder
