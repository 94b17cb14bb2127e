"""Runs under variants, from the command line to the log.

Models over the wire, servers as processes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from harness.types import ToolCall, Transcript, UserMessage
from tests.end_to_end.harness_process import Finished, Project, plain_server, provided
from tests.fake_provider import FakeProvider, Incoming, Step, call, say
from tests.reports.packs import all_of

ECHO = {"name": "echo", "prompt": "Echo 7.", "assertions": {"must_call": [{"tool": "echo"}]}}
RENAMED = {"tools": {"echo": {"name": "repeat", "parameters": {"n": {"name": "number"}}}}}
DECOYS = {"add": {"from": "builtin", "count": 3, "seed": 1}}


def obedient(request: Incoming) -> Step:
    """Call ``repeat`` or ``echo``, whichever is offered, then answer."""
    if request.turn:
        return say("Done.")
    if "repeat" in request.tool_names:
        return call("repeat", {"number": 7})
    return call("echo", {"n": 7})


@pytest.fixture
def provider(project: Project) -> Iterator[FakeProvider]:
    with provided(project, obedient) as server:
        yield server


def run(project: Project, *arguments: str, **variants: Any) -> Finished:
    project.suite("first", [ECHO], server=plain_server(), variants=variants)
    return project.run("evals", "first", *arguments)


def transcripts(project: Project) -> dict[str, Transcript]:
    found = {run.entrant: transcript for run, transcript in project.log()}
    return {entrant: transcript for entrant, transcript in found.items() if transcript is not None}


def only_call(project: Project, entrant: str) -> ToolCall:
    (made,) = transcripts(project)[entrant].tool_calls
    return made


def test_a_renamed_tool_is_seen_by_the_model_alone(
    project: Project, provider: FakeProvider
) -> None:
    finished = run(project, "--variant", "clearer", clearer=RENAMED)
    assert finished.code == 0, finished.stderr
    assert "repeat" in provider.journal[0].tool_names
    assert "echo" not in provider.journal[0].tool_names
    made = only_call(project, "m+clearer")
    assert (made.tool, made.arguments, made.outcome) == ("echo", {"n": 7}, "ok")
    assert "echo" in transcripts(project)["m+clearer"].tools
    # The second request tells the model of its own call in the words that it used.
    assert '"repeat"' in json.dumps(provider.journal[1].body)
    assert '"echo"' not in json.dumps(provider.journal[1].body)


def test_variants_are_an_axis_of_a_run_and_compared_case_by_case(
    project: Project, provider: FakeProvider
) -> None:
    finished = run(project, "--variant", "none", "--variant", "clearer", clearer=RENAMED)
    assert finished.code == 0, finished.stderr
    assert {one.entrant for one in project.log().results} == {"m", "m+clearer"}
    compared = project.run("compare", "latest", "--json-output").document["result"]
    assert [(side["model"], side["variant"]) for side in compared["sides"]] == [
        ("m", None),
        ("m", "clearer"),
    ]
    assert compared["contrasts"][0]["cases"][0]["change"] == "same"


def test_the_log_keeps_the_variant_and_the_list_that_the_model_saw(
    project: Project, provider: FakeProvider
) -> None:
    run(project, "--variant", "none", "--variant", "clearer", clearer=RENAMED)
    log, found = project.log(), transcripts(project)
    variant = log.header.axes["variant"]["clearer"]
    assert variant["edits"]["tools"]["echo"]["name"] == "repeat"
    assert list(log.header.models) == ["m"]
    assert log.header.entrants["m+clearer"] == {"model": "m", "variant": "clearer"}
    shown = log.shown[found["m+clearer"].shown_digest]
    assert shown.variant == "clearer"
    assert shown.tools.get("repeat") is not None
    assert found["m"].shown_digest == ""
    assert log.tools[found["m"].tools_digest].get("echo") is not None


@pytest.mark.slow
def test_the_clean_arm_is_the_run_without_variants(
    project: Project, provider: FakeProvider
) -> None:
    run(project, "--variant", "none", "--variant", "clearer", clearer=RENAMED)
    with_variants = {one.key for one in project.log().results if one.entrant == "m"}
    run(project, clearer=RENAMED)
    assert {one.key for one in project.log().results} == with_variants


def test_a_call_of_a_decoy_is_never_sent_and_satisfies_nothing(
    project: Project, provider: FakeProvider
) -> None:
    def fooled(request: Incoming) -> Step:
        decoys = [name for name in request.tool_names if name not in known]
        return say("Done.") if request.turn else call(decoys[0], {})

    run(project)
    known = set(transcripts(project)["m"].tools)
    with provided(project, fooled) as fooling:
        finished = run(project, "--variant", "longer", longer=DECOYS)
    assert finished.code == 1
    assert len(fooling.journal[-1].tool_names) == len(known) + 3
    made = only_call(project, "m+longer")
    assert made.outcome == "decoy"
    assert made.tool not in known
    assert "decoy" in finished.stdout


def test_a_hidden_tool_that_is_called_by_its_own_name_is_no_call_of_it(
    project: Project,
) -> None:
    with provided(project, [call("echo", {"n": 7}), say("Done.")]):
        finished = run(project, "--variant", "clearer", clearer=RENAMED)
    assert finished.code == 1
    made = only_call(project, "m+clearer")
    assert (made.tool, made.outcome) == ("echo (not shown)", "unknown_tool")


def test_a_run_under_a_variant_is_taken_up_again_and_replayed(
    project: Project, provider: FakeProvider
) -> None:
    run(project, "--variant", "clearer", clearer=RENAMED)
    asked = len(provider.journal)
    assert project.run("evals", "--resume").code == 0
    replayed = project.run("evals", "first", "--model", "replay:latest", "--variant", "clearer")
    assert replayed.code == 0, replayed.stderr
    assert len(provider.journal) == asked
    (result,) = project.log().results
    assert result.status == "passed"


@pytest.mark.slow
def test_a_recorded_run_is_not_asked_about_another_list_than_it_was_shown(
    project: Project, provider: FakeProvider
) -> None:
    run(project)
    runs = len(list((project.folder / ".harness" / "runs").iterdir()))
    refused = run(project, "--model", "replay:latest", "--variant", "clearer", clearer=RENAMED)
    assert refused.code == 3
    assert "repeats what was said to one tool list" in refused.stderr
    assert "'clearer'" in refused.stderr
    assert len(list((project.folder / ".harness" / "runs").iterdir())) == runs


@pytest.mark.slow
def test_a_file_of_variants_stands_for_all_of_its_own(
    project: Project, provider: FakeProvider
) -> None:
    (project.folder / "mine.yml").write_text(json.dumps({"variants": {"a": RENAMED, "b": DECOYS}}))
    finished = run(project, "--variant", "mine.yml", "--list")
    assert finished.code == 0, finished.stderr
    finished = run(project, "--variant", "mine.yml")
    assert {one.entrant for one in project.log().results} == {"m+a", "m+b"}
    run(project, "--variant", "mine.yml:b")
    assert {one.entrant for one in project.log().results} == {"m+b"}


@pytest.mark.slow
def test_the_tools_of_a_configured_server_may_be_decoys(
    project: Project, provider: FakeProvider
) -> None:
    decoys = {"add": {"from": "server:finance", "count": 2}}
    finished = run(project, "--variant", "longer", longer=decoys)
    assert finished.code == 0, finished.stderr
    run(project)
    (alone,) = {len(one.tool_names) for one in provider.journal[-2:]}
    assert len(provider.journal[0].tool_names) == alone + 2


def test_a_server_of_decoys_that_is_not_configured_is_told_before_anything_is_asked(
    project: Project, provider: FakeProvider
) -> None:
    decoys = {"add": {"from": "server:nowhere"}}
    finished = run(project, "--variant", "longer", longer=decoys)
    assert finished.code == 3
    assert "nowhere" in finished.stderr
    assert provider.journal == []


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("clear", "Did you mean 'clearer'?"),
        ("nowhere.yml", "nowhere.yml"),
        ("mine.yml", "unknown key 'tols'"),
    ],
)
def test_a_variant_that_cannot_be_had_is_told_before_anything_is_asked(
    project: Project, provider: FakeProvider, wanted: str, words: str
) -> None:
    (project.folder / "mine.yml").write_text(json.dumps({"variants": {"a": {"tols": {}}}}))
    finished = run(project, "--variant", wanted, clearer=RENAMED)
    assert finished.code == 3
    assert words in finished.stderr
    assert provider.journal == []


def test_a_variant_of_a_tool_that_nobody_is_offered_is_an_error_before_anything_is_asked(
    project: Project, provider: FakeProvider
) -> None:
    finished = run(project, "--variant", "typo", typo={"tools": {"ecko": {"name": "repeat"}}})
    assert finished.code == 3
    assert "ecko" in finished.stderr
    assert "Did you mean 'echo'?" in finished.stderr
    assert provider.journal == []


REWORDED = {"prompts": {"echo": "Say 7 back to me."}}
TALK = {
    "name": "talk",
    "turns": [{"prompt": "Echo 7."}, {"prompt": "Again."}],
    "assertions": {"must_call": [{"tool": "echo"}]},
}


def said(transcript: Transcript) -> list[str]:
    return [one.text for one in transcript.messages if isinstance(one, UserMessage)]


def test_the_model_is_asked_in_the_words_of_the_variant_and_judged_by_the_same_checks(
    project: Project, provider: FakeProvider
) -> None:
    both = {"prompts": {"echo": "Say 7 back to me.", "talk": "First say 7."}}
    project.suite("first", [ECHO, TALK], server=plain_server(), variants={"other": both})
    finished = project.run("evals", "first", "--variant", "none", "--variant", "other")
    assert finished.code == 0, finished.stderr
    log = project.log()
    asked = {
        (run.entrant, run.case.name): said(transcript)
        for run, transcript in log
        if transcript is not None
    }
    assert asked == {
        ("m", "echo"): ["Echo 7."],
        ("m", "talk"): ["Echo 7.", "Again."],
        ("m+other", "echo"): ["Say 7 back to me."],
        ("m+other", "talk"): ["First say 7.", "Again."],
    }
    assert log.header.axes["variant"]["other"]["edits"]["prompts"] == both["prompts"]
    checks = {run.entrant: [check.label for check in run.checks] for run in log.results}
    assert checks["m"] == checks["m+other"]


@pytest.mark.slow
def test_other_words_are_taken_up_again_replayed_and_graded(
    project: Project, provider: FakeProvider
) -> None:
    run(project, "--variant", "other", other=REWORDED)
    asked = len(provider.journal)
    assert project.run("evals", "--resume").code == 0
    graded = project.run("grade", "latest", "first")
    assert graded.code == 0, graded.stderr
    (result,) = project.log().results
    assert result.status == "passed"
    recorded = project.log().header.run_id
    replayed = project.run("evals", "first", "--model", f"replay:{recorded}", "--variant", "other")
    assert replayed.code == 0, replayed.stderr
    assert len(provider.journal) == asked
    (result,) = project.log().results
    assert result.status == "passed"


def test_other_words_for_a_test_that_is_not_there_are_an_error_before_anything_is_asked(
    project: Project, provider: FakeProvider
) -> None:
    finished = run(project, "--variant", "typo", typo={"prompts": {"ecko": "Say 7."}})
    assert finished.code == 3
    assert "first.yml:" in finished.stderr
    assert "rewords the test 'ecko', which no suite here has" in finished.stderr
    assert "Did you mean 'echo'?" in finished.stderr
    assert provider.journal == []


@pytest.mark.slow
def test_a_variant_may_reword_a_test_that_is_not_picked(
    project: Project, provider: FakeProvider
) -> None:
    project.suite("first", [ECHO, TALK], server=plain_server(), variants={"other": REWORDED})
    finished = project.run("evals", "first", "--variant", "other", "-k", "talk")
    assert finished.code == 0, finished.stderr


@pytest.mark.slow
def test_a_copy_of_a_tool_that_is_called_is_a_decoy_like_any_other(project: Project) -> None:
    with provided(project, [call("echo_c", {"n": 7}), say("Done.")]) as server:
        finished = run(
            project, "--variant", "four", four={"add": {"from": "copy:echo", "count": 3}}
        )
    assert finished.code == 1
    assert {"echo", "echo_b", "echo_c", "echo_d"} <= set(server.journal[0].tool_names)
    made = only_call(project, "m+four")
    assert (made.tool, made.outcome) == ("echo_c", "decoy")


def test_a_copy_of_a_tool_that_nobody_is_offered_is_an_error_before_anything_is_asked(
    project: Project, provider: FakeProvider
) -> None:
    finished = run(project, "--variant", "typo", typo={"add": {"from": "copy:ecko"}})
    assert finished.code == 3
    assert "Did you mean 'echo'?" in finished.stderr
    assert provider.journal == []


def test_a_model_sees_names_and_results_as_a_client_makes_them_and_the_record_is_whole(
    project: Project,
) -> None:
    def obeying(request: Incoming) -> Step:
        return say("Done.") if request.turn else call("mcp__plain__big", {"size": 4_000})

    only = {"name": "big", "prompt": "Big.", "assertions": {"only_call": ["big"]}}
    client = {"prefix": "mcp__plain__", "max_result_tokens": 100, **DECOYS}
    project.suite("first", [only], server=plain_server(), variants={"client": client})
    with provided(project, obeying) as server:
        finished = project.run("evals", "first", "--variant", "client", "--report", "html")
    assert finished.code == 0, finished.stdout + finished.stderr
    assert all(name.startswith("mcp__plain__") for name in server.journal[0].tool_names)
    made = only_call(project, "m+client")
    assert (made.tool, made.outcome, made.text) == ("big", "ok", "x" * 4_000)
    words = "[The result was cut here: it takes about 1,000 tokens, and 100 are shown.]"
    heard = json.dumps(server.journal[1].body)
    assert words in heard
    assert "x" * 403 in heard
    assert "x" * 404 not in heard
    ((_, transcript),) = list(project.log())
    assert transcript is not None
    assert words in str(transcript.messages)
    (report,) = project.folder.rglob("*.html")
    assert f"What the model was told: {words}" in all_of(report.read_text("utf-8"))
    edits = project.log().header.axes["variant"]["client"]["edits"]
    assert (edits["prefix"], edits["max_result_tokens"]) == ("mcp__plain__", 100)
