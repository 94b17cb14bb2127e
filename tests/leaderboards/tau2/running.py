"""Runs of recorded simulations, as the command line makes them."""

from __future__ import annotations

import os
from pathlib import Path

from harness.base.fetching.cache import CACHE_VARIABLE
from harness.runlog import RunLog
from tests.leaderboards.replay import replayed


def run_recorded(domain: str, results: Path, folder: Path, *, cache: Path) -> RunLog:
    """Return the log of ``harness evals tau2:DOMAIN --model recorded:RESULTS`` with the data in
    ``cache``.
    """
    before = os.environ.get(CACHE_VARIABLE)
    os.environ[CACHE_VARIABLE] = str(cache)
    try:
        return replayed(f"tau2:{domain}", results, folder, concurrency=1)
    finally:
        if before is None:
            del os.environ[CACHE_VARIABLE]
        else:
            os.environ[CACHE_VARIABLE] = before
