"""A writing model's answer: only usable edits are taken, and the rest is reported."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import UsageError
from harness.descriptions.workbench.improving.proposal import ProposerInput
from harness.descriptions.workbench.improving.writer import (
    RecordedAnswer,
    WriterProposals,
    read_proposals,
    recorded_answer,
)
from harness.types import Tool

TOOLS = (
    Tool(
        name="find",
        description="Finds. Quickly.",
        input_schema={
            "type": "object",
            "properties": {"state": {"type": "string", "pattern": "^[a-z]+$"}},
        },
    ),
    Tool(name="weather", input_schema={"type": "object", "properties": {}}),
)


def read(folder: Path, text: str, failed: str | None = None) -> WriterProposals:
    said = RecordedAnswer(model="w", prompt="p", text=text, failed=failed)
    (folder / "proposals-m.json").write_text(json.dumps(asdict(said)))
    found = read_proposals(folder, "m", ProposerInput(tools=TOOLS, failures=()))
    assert found is not None
    return found


def answered(*proposals: Any) -> str:
    return json.dumps({"proposals": list(proposals)})


def test_edits_are_taken_from_json_also_in_a_code_block(tmp_path: Path) -> None:
    edit = {"why": "Shorter.", "tools": {"find": {"without_sentences": [2]}}}
    found = read(tmp_path, f"Here they are:\n```json\n{answered(edit)}\n```")
    [proposal] = found.proposals
    assert proposal.by == "w"
    assert proposal.why == "Shorter."
    assert proposal.tools["find"].description == "Finds."
    assert found.notes == ()


@pytest.mark.parametrize(
    ("tools", "why"),
    [
        ({"search": {"description": "x"}}, "there is no tool 'search'"),
        ({"find": None}, "it removes find"),
        ({"find": {"parameters": {"state": None}}}, "removes state of find"),
        ({"find": {"parameters": {"id": {"description": "x"}}}}, "no parameter 'id'"),
        ({"find": {"parameters": {"state": {"enum": ["A"]}}}}, "'A' is not a valid state"),
        ({"find": {"parameters": {"state": {"type": "integer"}}}}, "type"),
        ({"find": {"name": "weather"}}, "two tools named 'weather'"),
        ({"find": {"description": "Finds. Quickly."}}, "changes nothing"),
        ({"find": "better"}, "expected a mapping"),
        ({"find": {"description": ["x"]}}, "expected text"),
        ("find", "no mapping with 'tools'"),
    ],
)
def test_an_edit_that_cannot_be_tried_is_dropped_with_a_note(
    tmp_path: Path, tools: Any, why: str
) -> None:
    good = {"tools": {"weather": {"description": "Tells the weather."}}}
    found = read(tmp_path, answered({"tools": tools}, good))
    assert [proposal.name for proposal in found.proposals] == ["w 2"]
    [note] = found.notes
    assert note.startswith("Proposal 1 of w was dropped: ")
    assert why in note


def test_a_proposal_with_anything_else_than_words_is_dropped(tmp_path: Path) -> None:
    prompts = {"tools": {"find": {"title": "F"}}, "prompts": {"case": "Use find."}}
    found = read(tmp_path, answered(prompts))
    assert found.proposals == ()
    assert found.notes == ("Proposal 1 of w was dropped: it has prompts",)


@pytest.mark.parametrize("text", ["", "I cannot.", "[1, 2", '{"proposals": 7}', "null"])
def test_an_answer_without_proposals_is_told(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    assert found.proposals == ()
    assert len(found.notes) == 1
    assert "not the JSON asked for" in found.notes[0]


def test_a_failure_of_the_model_is_told(tmp_path: Path) -> None:
    assert read(tmp_path, "", "HTTP 500").notes == ("w was asked for proposals: HTTP 500.",)


def test_a_file_that_no_model_wrote_is_an_error_and_no_silent_skip(tmp_path: Path) -> None:
    (tmp_path / "proposals-m.json").write_text("{}")
    with pytest.raises(UsageError, match="is not a recorded answer"):
        recorded_answer(tmp_path / "proposals-m.json")
