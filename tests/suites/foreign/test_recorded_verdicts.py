"""Suites of other tools: each verdict is the one that the original gives for the same conversation.

The verdicts are those of the evaluators of the packages mcpevals 0.1.10 and testmcpy 0.11.22, of
the predicates of ``@mcpjam/sdk``, and of the runner of steviec/mcp-server-tester 1.4.0.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.suites.foreign.translated import passes, read_rows, read_text
from tests.suites.foreign.written import WRITERS

ROWS = [(name, row) for name in WRITERS if (rows := read_rows(f"{name}.jsonl")) for row in rows]


@pytest.mark.parametrize(
    ("name", "row"), ROWS, ids=[f"{name}-{json.dumps(row)[:70]}" for name, row in ROWS]
)
def test_every_verdict_is_that_of_the_original(
    name: str, row: dict[str, Any], tmp_path: Path
) -> None:
    suite = read_text(tmp_path / "suite.json", json.dumps(WRITERS[name](row["assertion"])))
    assert passes(suite.cases[0], row["answer"], row["calls"]) == row["passes"]


def test_there_are_enough_verdicts_of_each_tool_and_some_of_both_kinds() -> None:
    for name in WRITERS:
        verdicts = [row["passes"] for other, row in ROWS if other == name]
        assert len(verdicts) >= 40
        assert 10 < sum(verdicts) < len(verdicts) - 10
