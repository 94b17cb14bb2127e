"""The memory cases live: what went before is told, the questions are asked, and each counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.leaderboards.bfcl.catalog import CATEGORIES
from harness.leaderboards.bfcl.data import load_entries
from harness.leaderboards.bfcl.suite import build_memory_cases
from harness.types import RECALLED, UserMessage
from tests.end_to_end.harness_process import Project
from tests.fake_provider import FakeProvider, Incoming, Step, call, say
from tests.leaderboards.bfcl.small_release import write_release

MEMORIES = ["memory_kv", "memory_vector", "memory_rec_sum"]


class Keeper:
    """A model that stores what it is told, as each store has it, and answers from what it is shown
    or finds.
    """

    def __init__(self) -> None:
        self.systems: list[str] = []

    def __call__(self, request: Incoming) -> Step:
        if request.turn == 0:
            self.systems.append(request.system)
        asked = "Answer in the form" in request.last_text
        if request.tool_results:
            return say(request.tool_results[0].text if asked else "Noted.")
        if "archival_memory_update" in request.tools:
            if asked:
                return call("archival_memory_retrieve", {"query": request.last_text})
            return call("archival_memory_add", {"text": request.last_text})
        if asked:
            return say(request.system)
        if "memory_append" in request.tools:
            return call("memory_append", {"text": f"{request.last_text}\n"})
        return call(
            "core_memory_add",
            {
                "key": f"told_{request.last_text.split()[-1].strip(chr(46)).lower()}",
                "value": request.last_text,
            },
        )


@pytest.mark.slow
def test_what_was_told_in_one_conversation_is_asked_in_another(tmp_path: Path) -> None:
    write_release(tmp_path / "cache", MEMORIES)
    project = Project(tmp_path, {"HARNESS_CACHE": str(tmp_path / "cache")})
    keeper = Keeper()
    with FakeProvider(keeper) as provider:
        settings: dict[str, Any] = {"type": "openai", "model": "gpt-4o", "api_key": "test-key"}
        project.configure(
            models={"models": {"fake": {**settings, "base_url": f"{provider.url}/v1"}}}
        )
        finished = project.run(
            "evals", "bfcl", "--model", "fake", "--json-output", "--concurrency", "1"
        )
        assert not [request.rejected for request in provider.journal if request.rejected]
    assert finished.code == 0, finished.stderr
    result = finished.document["result"]
    assert {test["name"]: test["status"] for test in result["tests"]} == {
        f"{name}-customer": "passed" for name in MEMORIES
    }
    (table,) = result["scores"]
    scores = {
        line["name"]: (line["score"], line["judged"], line["cases"]) for line in table["scores"]
    }
    assert [scores[name] for name in MEMORIES] == [(1.0, 2, 155)] * 3
    # What is always in sight is read anew for each of the two conversations and two questions.
    key_value = [system for system in keeper.systems if '{"entries": ' in system]
    assert key_value[0].startswith("You support customers. Core memory: ")
    assert ["Michael" in system for system in key_value] == [False, True, True, True]
    assert ["Seattle" in system for system in key_value] == [False, False, True, True]
    log = project.log()
    transcript = log.read_transcript(
        next(run.key for run in log.results if run.case.name == "memory_kv-customer")
    )
    assert transcript is not None
    recalled = [
        message.recalled for message in transcript.messages if isinstance(message, UserMessage)
    ]
    assert [bool(text) for text in recalled] == [True, False, True, True, True]
    assert sorted(json.loads(recalled[-1])["entries"].values()) == [
        "Hello, I am Michael.",
        "I like espresso.",
        "I moved to Seattle.",
    ]


@pytest.mark.slow
def test_a_memory_that_is_never_written_answers_nothing(tmp_path: Path) -> None:
    write_release(tmp_path / "cache", ["memory_kv"])
    project = Project(tmp_path, {"HARNESS_CACHE": str(tmp_path / "cache")})
    with FakeProvider(lambda _: say("I do not know.")) as provider:
        settings: dict[str, Any] = {"type": "openai", "model": "gpt-4o", "api_key": "test-key"}
        project.configure(
            models={"models": {"fake": {**settings, "base_url": f"{provider.url}/v1"}}}
        )
        finished = project.run("evals", "bfcl:memory_kv", "--model", "fake")
    assert finished.code == 1
    assert "Too few turns are right: 0 of 2" in finished.stdout
    assert "question 2: Where do I live?" in finished.stdout
    assert (
        "agentic:answer_not_found: the last message contains none of ['Seattle']" in finished.stdout
    )
    assert "memory_kv" in finished.stdout.partition("scores of bfcl")[2]


@pytest.mark.slow
@pytest.mark.parametrize("category", MEMORIES)
def test_the_real_data_makes_five_scenarios_of_all_questions(
    bfcl_data: Path, category: str
) -> None:
    entries = load_entries(category, bfcl_data)
    cases = {case.name: case for case in build_memory_cases(CATEGORIES[category], entries)}
    assert sorted(cases) == [
        f"{category}-{name}"
        for name in ("customer", "finance", "healthcare", "notetaker", "student")
    ]
    asked = [turn for case in cases.values() for turn in case.turns if turn.checks]
    assert len(asked) == 155
    assert all(turn.fresh and not turn.ingest for turn in asked)
    told = [turn for turn in cases[f"{category}-customer"].turns if turn.ingest]
    assert (len(told), sum(turn.fresh for turn in told)) == (109, 10)
    for case in cases.values():
        assert case.leaderboard.system_prompt is not None
        assert RECALLED in case.leaderboard.system_prompt
        assert case.server is not None
        assert case.server.isolation == "case"
        assert case.limits.max_replies == 20 * len(case.turns)
