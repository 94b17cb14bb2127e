"""Tasks of mcpchecker as large projects write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import InvalidInput
from harness.suites.readers import translate_suite
from tests.suites.foreign.translated import read_text
from tests.suites.foreign.written import MCPCHECKER


def write_task(folder: Path, **metadata: Any) -> Path:
    task = folder / "task.json"
    task.write_text(json.dumps({**MCPCHECKER, "metadata": {"name": "n", **metadata}}), "utf-8")
    return task


def test_what_describes_a_task_is_noted_and_changes_nothing(tmp_path: Path) -> None:
    plain = translate_suite(write_task(tmp_path))
    described = translate_suite(write_task(tmp_path, description="d", category="c", labels=None))
    assert plain is not None
    assert described is not None
    assert described.content == plain.content
    assert plain.notes == ()
    told = "metadata: the original reads past '{}': it changes no verdict."
    assert sorted(note.partition(": ")[2] for note in described.notes) == [
        told.format("category"),
        told.format("description"),
    ]


def test_a_key_that_looks_misspelt_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="unknown key 'dificulty'") as refused:
        translate_suite(write_task(tmp_path, dificulty="easy"))
    assert "difficulty" in str(refused.value)


@pytest.mark.parametrize("key", ["setup", "cleanup"])
def test_an_empty_list_of_steps_is_no_step(tmp_path: Path, key: str) -> None:
    task = {**MCPCHECKER, "spec": {**MCPCHECKER["spec"], key: None}}
    suite = read_text(tmp_path / "task.json", json.dumps(task))
    assert [case.name for case in suite.cases] == ["n"]
