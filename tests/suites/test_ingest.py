"""``ingest`` of a test: the texts that the model gets before the questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.judging.checks import VOCABULARY
from harness.runner.planning.prepare import prepare_plan
from harness.runner.planning.request import RunRequest
from harness.suites.ingest import INGEST_PROMPT
from harness.types import Case, Suite
from tests.suites.files import problems, read

TEST = """\
suite: family
{top}
tests:
  - name: sister
    ingest:
      - My sister Ann lives in Lisbon.
      - [She has a dog., Its name is Rex.]
{more}
    turns:
      - prompt: Where does Ann live?
        assertions: {{remembers: Lisbon}}
      - prompt: And her dog?
        fresh: false
        assertions: {{remembers: [Rex]}}
"""


def suite(folder: Path, *, top: str = "", more: str = "") -> Suite:
    return read(folder, TEST.format(top=top, more=more and f"    {more}"), VOCABULARY)


def case(folder: Path, *, top: str = "", more: str = "") -> Case:
    (only,) = suite(folder, top=top, more=more).cases
    return only


def test_each_text_is_told_in_a_conversation_of_its_own_and_those_of_a_list_in_one(
    tmp_path: Path,
) -> None:
    told = case(tmp_path)
    assert [(turn.fresh, turn.ingest) for turn in told.turns] == [
        (True, True),
        (True, True),
        (False, True),
        (True, False),
        (False, False),
    ]
    assert told.prompts[0] == INGEST_PROMPT.replace("{chunk}", "My sister Ann lives in Lisbon.")
    assert told.prompt == "Where does Ann live?"
    assert (told.conversation_count, [len(turn.checks) for turn in told.turns]) == (
        3,
        [0, 0, 0, 1, 1],
    )


def test_the_words_around_a_text_can_be_chosen(tmp_path: Path) -> None:
    told = case(tmp_path, more="ingest_prompt: 'Note {chunk} {down}'")
    assert told.prompts[1] == "Note She has a dog. {down}"


def test_limits_hold_for_each_turn_unless_somebody_says_otherwise(tmp_path: Path) -> None:
    assert (case(tmp_path).limits.max_replies, case(tmp_path).limits.max_calls) == (100, 500)
    assert case(tmp_path, more="max_replies: 7").limits.max_replies == 7
    assert case(tmp_path, top="max_replies: 8").limits.max_replies == 8
    limits = case(tmp_path, top="defaults: {max_calls: 9}").limits
    assert (limits.max_replies, limits.max_calls) == (100, 9)


def test_a_suite_that_tells_something_starts_each_trial_on_a_fresh_server(tmp_path: Path) -> None:
    assert suite(tmp_path).isolation == "case"
    assert suite(tmp_path, top="isolation: identity").isolation == "identity"


@pytest.mark.parametrize(("top", "seconds"), [("", 180), ("timeout: 5", 5)])
def test_the_usual_time_holds_for_each_conversation(
    tmp_path: Path, top: str, seconds: float
) -> None:
    told = suite(tmp_path, top=top)
    (job,) = prepare_plan(
        RunRequest(models=("lexical",), server="python x.py"), tmp_path, {}, [told]
    ).plan.jobs
    assert job.trial.case.limits.timeout_s == seconds


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("ingest: []", "5:13: ingest: there are no chunks."),
        ("ingest: [x, 5]", "5:17: ingest: expected a text, found 5."),
        ("ingest: [x, [y, ' ']]", "5:21: ingest: this chunk is empty."),
        ("ingest: [[]]", "5:14: ingest: this conversation has no chunks."),
        ("ingest: [x]\n    ingest_prompt: Remember", "6:20: ingest_prompt: it has no {chunk}."),
    ],
)
def test_what_cannot_be_told_is_a_mistake_with_a_place(
    tmp_path: Path, written: str, said: str
) -> None:
    text = (
        f"suite: s\ntests:\n  - name: t\n    turns: [{{prompt: q, assertions: {{remembers: "
        f"a}}}}]\n    {written}\n"
    )
    assert problems(tmp_path, text, VOCABULARY) == [said]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "test 't' has 'ingest' and no 'turns'."),
        ("prompt: q", "test 't' has 'ingest' and 'prompt'."),
    ],
)
def test_what_is_told_has_to_be_asked_about_in_turns(tmp_path: Path, words: str, said: str) -> None:
    text = (
        f"suite: s\ntests:\n  - name: t\n    ingest: [x]\n    assertions: {{remembers: a}}\n  "
        f"  "
        f"{words}\n"
    )
    assert problems(tmp_path, text, VOCABULARY) == [f"4:5: {said}"]


def test_placeholders_are_filled_in(tmp_path: Path) -> None:
    text = (
        "suite: s\ntests:\n  - name: t\n    matrix: {town: [Lisbon, Porto]}\n    ingest: ['Ann: "
        "${{ town }}']\n"
        "    turns: [{prompt: Where?, assertions: {remembers: '${{ town }}'}}]\n"
    )
    first, second = read(tmp_path, text, VOCABULARY).cases
    assert (first.prompts[0][-11:], second.prompts[0][-10:]) == ("Ann: Lisbon", "Ann: Porto")
    assert json.dumps(second.turns[1].checks[0].params["answers"]) == '["Porto"]'
