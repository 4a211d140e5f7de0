"""What the tests of the module share. tests/cli/python.sh says where the module is (PYTHONPATH)."""

import gc

import pytest

import masu


@pytest.fixture
def nothing_stays():
    """What a test allocates on the module's heap is given back when it ends."""
    gc.collect()
    before = masu.heap_statistics()["live_blocks"]
    yield
    gc.collect()
    assert masu.heap_statistics()["live_blocks"] == before
