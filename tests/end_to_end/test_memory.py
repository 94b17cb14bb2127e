"""Memory suites as a user runs them.

A model that remembers by tools passes, one that has none fails.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from harness.base.builtin import builtin_suites
from harness.types import UserMessage
from tests.end_to_end.harness_process import PLAIN_SERVER, Project
from tests.fake_provider import FakeProvider
from tests.reports.packs import blocks_of
from tests.servers.memory.memory_model import TELLING, rememberer

OWN = builtin_suites() / "memory.jsonl"


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    with FakeProvider(rememberer) as running:
        yield running


@pytest.fixture
def memory(project: Project, provider: FakeProvider) -> Project:
    settings = {
        "type": "openai",
        "model": "gpt-4o",
        "api_key": "test-key",
        "base_url": f"{provider.url}/v1",
    }
    forgetful = {"command": sys.executable, "args": [str(PLAIN_SERVER), "fine"]}
    project.configure(models={"models": {"fake": settings}}, servers={"forgetful": forgetful})
    return project


def scores(document: Any) -> dict[str, tuple[str, float]]:
    """Return each case's status and the share of its questions that were answered right."""
    return {
        test["name"]: (
            test["status"],
            next(one["score"] for one in test["checks"] if one["kind"] == "turns_passed"),
        )
        for test in document["result"]["tests"]
    }


@pytest.mark.slow
def test_a_model_that_stores_and_looks_up_passes_our_own_set(
    memory: Project, provider: FakeProvider
) -> None:
    before = len(provider.journal)
    finished = memory.run(
        "evals", str(OWN), "--model", "fake", "--server", "memory_vector", "--json-output"
    )
    assert (finished.code, finished.stderr.count("passed")) == (0, 3), finished.stderr
    found = scores(finished.document)
    assert found == {
        "new_flat": ("passed", 1.0),
        "changed_plans": ("passed", 1.0),
        "reading_list": ("passed", 1.0),
    }
    requests = list(provider.journal)[before:]
    assert not [request.rejected for request in requests if request.rejected]
    # Every chunk and every question was a conversation of its own, and each was told and asked
    # once.
    firsts = [request.prompt for request in requests if request.turn == 0]
    assert (
        len(firsts)
        == len(set(firsts))
        == len([text for text in firsts if text.startswith(TELLING)]) + 10
    )
    run = next(run for run in memory.log().results if run.case.name == "new_flat")
    transcript = memory.log().read_transcript(run.key)
    assert transcript is not None
    assert [
        message.fresh for message in transcript.messages if isinstance(message, UserMessage)
    ] == [
        False,
        *[True] * 8,
    ]


def test_without_memory_tools_nothing_is_remembered(memory: Project) -> None:
    finished = memory.run(
        "evals", str(OWN), "--model", "fake", "--server", "forgetful", "--json-output"
    )
    assert finished.code == 1
    assert scores(finished.document) == dict.fromkeys(
        ("new_flat", "changed_plans", "reading_list"), ("failed", 0.0)
    )
    wrong = finished.document["result"]["tests"][0]["failures"]
    assert "Too few turns are right: 0 of 5 (score 0.00, at least 0.80 expected)" in str(wrong)
    assert "question 3: What is the neighbour's cat called?" in str(wrong)


@pytest.mark.slow
def test_each_competency_of_the_dataset_is_in_every_output(memory: Project) -> None:
    known, other = "I do not know.", "Lisbon"
    rows = [
        ("eventqa_full", [known, other], "Accurate Retrieval", "50.00%   2 of 2"),
        ("icl_nlu_8296shot_balance", [other], "Test-Time Learning", "0.00%   1 of 1"),
        ("detective_qa", [known], "Long-Range Understanding", "100.00%   1 of 1"),
        ("factconsolidation_mh_32k", [other] * 3, "Conflict Resolution", "0.00%   3 of 3"),
    ]
    lines = [
        {
            "context": "Ann lives in Lisbon.",
            "questions": [f"Where? ({number})" for number, _ in enumerate(answers)],
            "answers": answers,
            "metadata": {"source": source},
        }
        for source, answers, _, _ in rows
    ]
    path = memory.folder / "evals" / "bench.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    names = ("report.md", "report.xml", "report.html", "report.json")
    reports = [word for name in names for word in ("--report", name)]
    finished = memory.run("evals", str(path), "--model", "fake", "--server", "forgetful", *reports)
    assert finished.code == 1
    markdown, junit, page, document = ((memory.folder / name).read_text() for name in names)
    shown = "\n".join(blocks_of(page)["overview"]["scores"][0]["lines"])
    (table,) = json.loads(document)["result"]["scores"]
    assert [line["name"] for line in table["scores"]] == [name for _, _, name, _ in rows]
    for _, _, name, words in rows:
        shares = rf"{name} +{words} cases"
        for text in (finished.stdout, markdown, shown):
            assert re.search(shares, text), text
        assert f'<property name="score of {name}" value="{words} cases"' in junit


def test_a_memory_lasts_across_conversations_and_not_across_trials(memory: Project) -> None:
    memory.suite(
        "family",
        [
            {
                "name": name,
                "ingest": [f"My sister {sister} lives in {town}."],
                "turns": [
                    {"prompt": "Where does my sister live?", "assertions": {"remembers": town}},
                    {
                        "prompt": "Who else is there?",
                        "assertions": {"answer_not_contains": [other]},
                    },
                ],
            }
            for name, sister, town, other in (
                ("one", "Ann", "Lisbon", "Porto"),
                ("two", "Eva", "Porto", "Lisbon"),
            )
        ],
        server="memory_kv",
    )
    finished = memory.run("evals", "family", "--model", "fake", "--concurrency", "1")
    assert finished.code == 0, finished.stdout
