"""The page about suites in Python is true: its code runs, and its tables name what there is."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

from harness.base.registry import Registry
from harness.reports.writers import WRITERS
from harness.suites.discovery import PYTHON_SUITES
from harness.suites.readers import READERS
from harness.types import Counts, Report, Usage
from tests.end_to_end.warm import warm_python

PAGE = (Path(__file__).parents[3] / "docs" / "python.md").read_text("utf-8")
SUITE, CASE, PROGRAM, FUNCTION = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_program_runs_the_suite_as_written(tmp_path: Path) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "capitals.py").write_text(SUITE)
    (tmp_path / "program.py").write_text(f"{CASE}\n{PROGRAM}")
    finished = subprocess.run(
        [warm_python(), "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
    )
    assert finished.stdout.startswith("capitals 1.0 "), finished.stderr
    assert "France passed" in finished.stdout
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 2


def test_the_function_in_place_of_a_model_answers_as_written(tmp_path: Path) -> None:
    (tmp_path / "function.py").write_text(FUNCTION)
    finished = subprocess.run(
        [warm_python(), "function.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
    )
    assert finished.stdout == "passed\n", finished.stderr


def test_every_number_of_the_summary_is_named() -> None:
    report = Report(
        run_id="r",
        log="log.jsonl",
        started_at="",
        finished_at=None,
        elapsed_s=None,
        reason="complete",
        suites={},
        models={},
        entrants={},
        results=(),
        cases=(),
        counts=Counts(),
        usage=Usage(cost_usd=None),
    )
    assert all(f"`{key}`" in PAGE for key in report.summary)
    unknown = {key for key, value in report.summary.items() if value is None}
    assert unknown == {"pass_rate", "avg_latency_ms", "total_cost_usd"}


def test_every_group_of_entry_points_is_named() -> None:
    from harness.descriptions.linting.findings import FAMILIES
    from harness.judging.checks.registry import KINDS
    from harness.models.model import PROVIDERS
    from harness.sessions.transports import TRANSPORTS

    groups: list[Registry[Any]] = [
        KINDS,
        PROVIDERS,
        READERS,
        PYTHON_SUITES,
        WRITERS,
        TRANSPORTS,
        FAMILIES,
    ]
    for registry in groups:
        assert f"`{registry.group}`" in PAGE
