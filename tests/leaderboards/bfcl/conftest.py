"""What these tests need beside the code.

Fetched data, and recorded outputs with official verdicts.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.base.fetching import FetchRequest
from harness.base.fetching.cache import cache_root
from harness.leaderboards.bfcl.data import BFCL_SOURCE, data_folder
from tests.leaderboards.bfcl.outputs import Output, read_outputs

BESIDE = Path(__file__).parents[4] / "shared" / "data"
"""Where recordings may lie beside a checkout."""


@pytest.fixture(scope="session")
def bfcl_data() -> Path:
    """The fetched release; fetched now if it is not there."""
    try:
        BFCL_SOURCE.fetch(FetchRequest(root=cache_root()), lambda *_: None)
    except HarnessError as error:
        pytest.skip(f"BFCL's data cannot be fetched here: {error}")
    return data_folder()


@pytest.fixture(scope="session")
def recorded_file() -> Path:
    """Recorded outputs with official verdicts."""
    folder = Path(os.environ.get("HARNESS_RECORDINGS") or BESIDE)
    path = folder / "bfcl" / "recorded_verdicts.jsonl.gz"
    if not path.is_file():
        pytest.skip(
            f"there are no recorded outputs at {path}: name their folder in $HARNESS_RECORDINGS"
        )
    return path


@pytest.fixture(scope="session")
def outputs(bfcl_data: Path, recorded_file: Path) -> list[Output]:
    """Every recorded output, ready to be judged."""
    return read_outputs(recorded_file)
