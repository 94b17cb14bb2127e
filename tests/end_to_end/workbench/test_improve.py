"""Improving descriptions, over the wire: hints, proposals, the proof on questions held out."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import yaml

import harness
from harness.descriptions.workbench.improving.acceptance import case_names, split_intents
from harness.runlog import read_log
from harness.suites.variants import read_variants_file
from tests.end_to_end.harness_process import Project, finish, provided
from tests.end_to_end.workbench.test_page import data_of
from tests.end_to_end.workbench.test_run import worded
from tests.fake_provider import FakeProvider, Incoming, Step, call, held, say, status

THINGS = "invoices receipts parcels contracts vouchers refunds pallets samples".split()  # noqa: SIM905
PLACES = (
    "north south harbour airport market station museum library garden bridge tower castle".split()  # noqa: SIM905
)
TOOLS = [
    {
        "name": "list_items",
        "description": "Lists items.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "state": {
                    "type": "string",
                    "description": "State of the item: one of open, shipped or closed",
                }
            },
        },
    },
    {
        "name": "weather",
        "description": "Tells the weather.",
        "inputSchema": {"type": "object", "properties": {}},
    },
]
STATES = {"open": "still waiting", "shipped": "already gone", "closed": "finally done"}


def questions(count: int) -> list[dict[str, Any]]:
    """Return so many questions that have hardly a word in common, half of them for each tool."""
    places = [f"{one} {other}" for one in PLACES for other in PLACES if one < other]
    random.Random(4).shuffle(places)
    found = []
    for number in range(count):
        thing, state = THINGS[number % len(THINGS)], list(STATES)[number % 3]
        asked, wanted = f"Any {thing} near {places[number]} {STATES[state]}?", {"state": state}
        item = {"tool": "list_items", "args": wanted}
        dry = {"tool": "weather"}
        if number % 2:
            asked = f"Rain over {places[number]} when {thing} come?"
        found.append(
            {
                "name": f"case_{number}",
                "prompt": asked,
                "assertions": {"must_call": [dry if number % 2 else item]},
            }
        )
    return found


def needs_an_enum(request: Incoming) -> Step:
    """Know the right tool; say a state as the user does unless an enum lists what there is."""
    if request.turn:
        return say("Done.")
    if request.prompt.startswith("Rain"):
        return call("weather", {})
    if "Use the tool list_items" in request.prompt:
        return call("list_items", json.loads(request.prompt.partition(" with ")[2].rstrip(".")))
    schema = request.tools["list_items"].schema["properties"]["state"]
    said = next(state for state, words in STATES.items() if words in request.prompt)
    return call("list_items", {"state": said if "enum" in schema else STATES[said]})


def improve(
    project: Project, script: Callable[[Incoming], Step], tests: list[dict[str, Any]], *more: str
) -> Mapping[str, Any]:
    project.suite("shop", tests, server=worded(project, TOOLS))
    with provided(project, script):
        finished = project.run("workbench", "shop", "--studies", "improve", "--json-output", *more)
    assert finished.code == 0, finished.stderr
    assert "further lists" not in finished.stderr, "a list is told without its study"
    found: Mapping[str, Any] = finished.document["result"]["models"][0]["studies"]["improve"]
    return found


@pytest.mark.slow
def test_words_that_help_are_found_proven_and_handed_back_as_a_file(project: Project) -> None:
    written = ("--write", "better.yml", "--report", "page.html")
    found = improve(project, needs_an_enum, questions(60), *written, "--margin", "20")
    assert found["accepted"] == "choices as enum", found
    [change] = [one for one in found["rewrite"] if one["part"] == "enum"]
    assert json.loads(change["after"]) == ["open", "shipped", "closed"]
    [look] = [one for one in found["looks"] if one["kept"]]
    assert look["on_held_out"]["interval"][0] > 0
    assert {one["cause"] for one in found["failing"]} == {"words"}
    [shown] = data_of(project.folder / "page.html")["models"][0]["studies"]
    [card] = [one for one in shown["widgets"][0]["changes"] if "enum" in one["title"]]
    assert card["texts"] == ["choices as enum, on the questions held out"]
    assert card["effect"]["interval"][1:] == look["on_held_out"]["interval"]
    [variant] = read_variants_file(project.folder / "better.yml")
    assert variant.name == "improved"
    edit = variant.tools["list_items"]
    assert edit is not None
    assert edit.parameters["state"].enum == ("open", "shipped", "closed")  # type: ignore[union-attr]
    with provided(project, needs_an_enum):
        assert project.run("evals", "shop").code == 1
        assert project.run("evals", "shop", "--variant", "better.yml").code == 0


SENTENCE = "Use it for anything that is in stock."


def needs_a_sentence(request: Incoming) -> Step:
    """Know the states, but take the weather tool unless the list says what it is for."""
    if request.turn:
        return say("Done.")
    if request.prompt.startswith("Rain"):
        return call("weather", {})
    told = "Use the tool list_items" in request.prompt
    if not told and SENTENCE not in (request.tools["list_items"].description or ""):
        return call("weather", {})
    return call(
        "list_items",
        {"state": next(state for state, words in STATES.items() if words in request.prompt)},
    )


PROPOSED = {
    "proposals": [
        {"why": "It is for stock.", "tools": {"list_items": {"description": SENTENCE}}},
        {"why": "No such tool.", "tools": {"find_items": {"description": "x"}}},
        {"why": "Takes away.", "tools": {"weather": None}},
        {"tools": {"list_items": {"parameters": {"state": {"enum": [1]}}}}},
    ]
}


def by_writer(answer: Callable[[Incoming], Step]) -> Callable[[Incoming], Step]:
    """Answer as the writing model where it is asked, else as the model under test."""

    def answering(request: Incoming) -> Step:
        if "improve the descriptions of tools" in request.system:
            return answer(request)
        return needs_a_sentence(request)

    return answering


def with_writer(project: Project) -> None:
    """Configure the writing model ``w`` beside ``m``, at the same provider."""
    path = project.folder / "harness.yml"
    settings = yaml.safe_load(path.read_text())
    settings["models"]["models"]["w"] = settings["models"]["models"]["m"]
    path.write_text(yaml.safe_dump(settings))


def written_by(provider: FakeProvider) -> list[Incoming]:
    return [one for one in provider.journal if "improve the descriptions" in one.system]


@pytest.mark.slow
def test_a_model_proposes_from_seen_failures_alone_and_is_asked_once(project: Project) -> None:
    path = project.suite("shop", questions(60), server=worded(project, TOOLS))
    with provided(project, by_writer(lambda _: say(json.dumps(PROPOSED)))) as provider:
        with_writer(project)
        finished = project.run(
            "workbench",
            "shop",
            "--studies",
            "improve",
            "--writer",
            "w",
            "--margin",
            "20",
            "--model",
            "m",
            "--json-output",
        )
        assert finished.code == 0, finished.stderr
        again = project.run("workbench", "--resume", "--json-output")
        assert again.document["result"] == finished.document["result"]
        [asked] = written_by(provider)
    result = finished.document["result"]
    found = result["models"][0]["studies"]["improve"]
    assert found["accepted"] == "w 1", found["looks"]
    dropped = [note for note in found["notes"] if "was dropped" in note]
    assert len(dropped) == 3
    parts = split_intents(harness.load_suite(path).cases, 0)
    failing = {one["case"] for one in found["failing"]}
    assert failing & case_names(parts.held_out)
    for case in harness.load_suite(path).cases:
        told = case.prompt in asked.prompt
        assert told == (case.name in failing & case_names(parts.seen)), case.prompt
    usage = found["writer"]["usage"]
    assert usage["input_tokens"] > 0
    alone = sum(log_tokens(project, path) for path in result["logs"])
    assert (
        result["usage"]["input_tokens"] + result["usage"]["output_tokens"]
        == alone + usage["input_tokens"] + usage["output_tokens"]
    )


def log_tokens(project: Project, path: str) -> int:
    results = read_log(project.folder / path).results
    return sum(one.usage.tokens or 0 for one in results)


@pytest.mark.slow
def test_a_writing_model_that_fails_is_reported_and_the_rules_propose_alone(
    project: Project,
) -> None:
    project.suite("shop", questions(8), server=worded(project, TOOLS))
    with provided(
        project, by_writer(lambda _: status(400, body={"error": {"message": "no such thing"}}))
    ):
        with_writer(project)
        finished = project.run(
            "workbench",
            "shop",
            "--studies",
            "improve",
            "--writer",
            "w",
            "--model",
            "m",
            "--json-output",
        )
    assert finished.code == 0, finished.stderr
    found = finished.document["result"]["models"][0]["studies"]["improve"]
    assert any("w was asked for proposals: " in note for note in found["notes"]), found["notes"]
    assert {one["by"] for one in found["proposals"]} == {"rules"}


def test_an_unknown_writing_model_is_refused_before_anything_is_asked(project: Project) -> None:
    project.suite("shop", questions(4), server=worded(project, TOOLS))
    with provided(project, needs_a_sentence) as provider:
        refused = project.run("workbench", "shop", "--studies", "improve", "--writer", "wx")
        assert refused.code == 3
        assert "wx" in refused.stderr
        assert provider.journal == []


@pytest.mark.slow
def test_a_failure_that_no_hint_mends_is_named_in_place_of_a_rewrite(project: Project) -> None:
    def cannot(request: Incoming) -> Step:
        return say("Done.") if request.turn else call("weather", {})

    found = improve(project, cannot, questions(10), "--write", "better.yml")
    assert {one["cause"] for one in found["failing"]} == {"model"}
    assert len(found["failing"]) == 5
    assert found["proposals"] == []
    assert not (project.folder / "better.yml").exists()
    assert "No failure is due to descriptions" in found["headline"]


@pytest.mark.slow
def test_a_model_for_which_words_change_nothing_is_offered_no_other_words(
    project: Project,
) -> None:
    def at_random(request: Incoming) -> Step:
        if request.turn:
            return say("Done.")
        if "Use the tool" in request.prompt:
            return needs_an_enum(request)
        drawn = random.Random(f"{request.prompt} {request.tools}").random()
        asked = "weather" if request.prompt.startswith("Rain") else "list_items"
        return call(asked if drawn < 0.5 else "none", {"state": "open"})

    found = improve(project, at_random, questions(40))
    assert found["failing"]
    assert found["proposals"]
    assert found["accepted"] is None
    assert "improved" not in found["variants"]


@pytest.mark.slow
def test_ctrl_c_while_a_model_writes_leaves_a_report_and_the_model_is_asked_on_resume(
    project: Project,
) -> None:
    project.suite("shop", questions(8), server=worded(project, TOOLS))
    asked: list[Incoming] = []
    ended = threading.Event()

    def interrupt_once(request: Incoming) -> Step:
        asked.append(request)
        if len(asked) == 1:
            os.kill(process.pid, signal.SIGINT)
            return held(say(json.dumps(PROPOSED)), ended)
        return say(json.dumps(PROPOSED))

    with provided(project, by_writer(interrupt_once)):
        with_writer(project)
        process = project.start(
            *("workbench", "shop", "--studies", "improve", "--writer", "w", "--model", "m")
        )
        finished = finish(process)
        ended.set()
        assert finished.code == 130, finished.stderr
        assert "improve: " in finished.stdout
        assert "ended early: interrupted" in finished.stdout
        again = project.run("workbench", "--resume", "--json-output")
    assert again.code == 0, again.stderr
    found = again.document["result"]["models"][0]["studies"]["improve"]
    assert "w 1" in [one["name"] for one in found["proposals"]]
    assert len(asked) == 2


def test_one_file_of_variants_for_two_models_is_refused_before_anything_is_asked(
    project: Project,
) -> None:
    project.suite("shop", questions(4), server=worded(project, TOOLS))
    with provided(project, needs_a_sentence) as provider:
        with_writer(project)
        refused = project.run("workbench", "shop", "--model", "m", "--model", "w", "--write", "x")
        assert refused.code == 3
        assert "--write" in refused.stderr
        assert provider.journal == []


def test_a_dry_run_says_what_the_writing_model_will_take_or_that_it_is_unknown(
    project: Project,
) -> None:
    project.suite("shop", questions(10), server=worded(project, TOOLS))
    dry = ("workbench", "shop", "--studies", "improve", "--dry-run")
    with provided(project, needs_an_enum) as server:
        unpriced = project.run(*dry, "--writer", "m")
        priced = project.run(
            *dry, "--model", "lexical", "--writer", "claude-4-sonnet", "--json-output"
        )
        alone = project.run(*dry, "--json-output")
    assert "improve also asks m to write: about " in unpriced.stdout, unpriced.stderr
    assert "cost unknown" in unpriced.stdout
    assert unpriced.stdout.rstrip().endswith("unknown.")
    row = priced.document["result"]["studies"][-1]
    used = row["writing"]
    assert row["writer"] == "claude-4-sonnet"
    assert used["input_tokens"] > 500
    assert used["cost_usd"] == pytest.approx(
        3e-6 * used["input_tokens"] + 15e-6 * used["output_tokens"]
    )
    assert alone.document["result"]["studies"][-1]["writing"] is None
    assert server.journal == []
