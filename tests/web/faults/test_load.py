from pathlib import Path

import pytest

from benchmarks.web import measure


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads what Linux counts")
def test_runs_and_listeners_at_once_lose_no_event_and_cost_no_memory(tmp_path: Path) -> None:
    finding = measure(runs=2, cases=20, clients=8, latency_ms=5, folder=tmp_path)
    assert finding.faults == []
    assert finding.events == 8 * (2 + 20 * 2 + 1)
    assert finding.growth_mb() < 15
