"""``attach:`` and ``context:``: files and resources that come with the first prompt of a test."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.base import InvalidInput, UsageError
from harness.judging.trial_checks import unseen_warnings
from harness.runner.agent_requirements import refuse_unsupported_cases
from harness.runner.content.given_content import ResultForm, attach_files
from harness.runner.planning.plan import describe_case
from harness.types import AgentSpec, Case, ModelSpec, PromptUse, Suite, Transcript, UserMessage
from tests.suites.files import read as read_text

PNG = b"\x89PNG\r\n\x1a\nabc"


def read(folder: Path, *attached: str) -> Case:
    (folder / "dot.png").write_bytes(PNG)
    (folder / "notes.csv").write_text("a,b\n1,2\n", "utf-8")
    (folder / "program.exe").write_bytes(b"MZ")
    (folder / "large.png").write_bytes(b"\x89PNG" + bytes(3_000_000))
    listed = ", ".join(attached)
    text = f"""
suite: s
server: x
tests:
- name: t
  prompt: What?
  attach: [{listed}]
  assertions: {{must_call: [do_it]}}
"""
    return read_text(folder, text).cases[0]


def test_a_picture_goes_with_the_prompt_and_a_text_into_it(tmp_path: Path) -> None:
    case = read(tmp_path, "dot.png", "notes.csv")
    prompt, (picture,) = attach_files("What?", case.turns[0].attach, ResultForm(takes=["image"]))
    assert prompt == "What?\n\n[file notes.csv, text/csv, 8 bytes]\na,b\n1,2\n"
    assert (picture.mime, picture.given, len(picture.data)) == ("image/png", True, 16)


def test_a_model_that_takes_no_pictures_is_told_of_them_and_a_warning_says_so(
    tmp_path: Path,
) -> None:
    case = read(tmp_path, "dot.png")
    prompt, media = attach_files("What?", case.turns[0].attach, ResultForm())
    assert prompt == "What?\n\n[file dot.png, image/png, 11 bytes; this model is not given it]"
    said = Transcript(messages=(UserMessage(text=prompt, media=media),))
    assert [one.actual for one in unseen_warnings(said)] == [["dot.png, image/png, 11 bytes"]]


def test_another_file_makes_another_trial(tmp_path: Path) -> None:
    one, other = (describe_case(read(tmp_path, name)) for name in ("dot.png", "notes.csv"))
    assert one["turns"] != other["turns"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gone.png", "the file 'gone.png' cannot be read: No such file or directory"),
        ("large.png", "the file 'large.png' is larger than 3,000,000 bytes"),
        ("program.exe", "no model takes 'program.exe'"),
        ("../secret.txt", "the file '../secret.txt' is not in the suite's folder"),
        ("/etc/hosts.txt", "the file '/etc/hosts.txt' is not in the suite's folder"),
    ],
)
def test_a_file_that_no_model_can_be_given_is_an_error_of_its_line(
    tmp_path: Path, name: str, words: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(tmp_path, name)
    assert words in str(caught.value)
    assert ":7:" in str(caught.value)


def read_context(folder: Path, more: str, words: str = "prompt: What?") -> Case:
    text = f"""
suite: s
server: x
tests:
- name: t
  {words}
  context: [{more}]
  assertions: {{must_call: [do_it]}}
"""
    return read_text(folder, text).cases[0]


def test_another_resource_makes_another_trial(tmp_path: Path) -> None:
    one, other = (read_context(tmp_path, uri) for uri in ('"a://b"', '"a://b", "a://c"'))
    assert (one.caller.context, other.caller.context) == (("a://b",), ("a://b", "a://c"))
    assert describe_case(one) != describe_case(other)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("call: {tool: do_it}", "has 'context', but its calls are made without a model"),
        ("ingest: [a]\n  turns: [{prompt: b}]", "has both 'context' and 'ingest'"),
    ],
)
def test_resources_without_a_prompt_of_their_own_are_a_mistake(
    tmp_path: Path, words: str, says: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_context(tmp_path, "a", words)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("given", "use", "prompt"),
    [
        ("review", PromptUse(name="review"), "/review"),
        (
            "{name: review, arguments: {who: Ada}}\n  prompt: Go on.",
            PromptUse(name="review", arguments={"who": "Ada"}),
            "Go on.",
        ),
    ],
)
def test_a_prompt_of_the_server_stands_before_the_users_words_or_in_their_place(
    tmp_path: Path, given: str, use: PromptUse, prompt: str
) -> None:
    case = read_prompt(tmp_path, given)
    assert (case.caller.use_prompt, case.prompt, case.turns) == (use, prompt, ())
    other = replace(case, caller=replace(case.caller, use_prompt=PromptUse(name="other")))
    assert describe_case(case) != describe_case(other)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("review\n  call: {tool: do_it}", "has 'use_prompt', but its calls are made without a"),
        ("review\n  ingest: [a]\n  turns: [{prompt: b}]", "has both 'use_prompt' and 'ingest'"),
        ("{nam: review}", "Did you mean 'name'?"),
        ("{arguments: {who: Ada}}", "'name' is missing"),
        ("{name: review, arguments: {who: 7}}", "expected text, found 7"),
    ],
)
def test_a_prompt_of_the_server_that_cannot_be_meant_is_a_mistake(
    tmp_path: Path, given: str, says: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_prompt(tmp_path, given)
    assert says in str(caught.value)


def read_prompt(folder: Path, given: str) -> Case:
    text = f"""\
suite: s
server: x
tests:
- name: a
  use_prompt: {given}
  assertions: {{must_call: [a]}}
"""
    return read_text(folder, text).cases[0]


@pytest.mark.parametrize("key", ["context", "use_prompt"])
def test_a_test_with_content_of_the_server_is_refused_for_an_agent(
    tmp_path: Path, key: str
) -> None:
    case = read_context(tmp_path, "a") if key == "context" else read_prompt(tmp_path, "a")
    agent = ModelSpec(
        name="own", provider="agent", model_id="", agent=AgentSpec(kind="command", command=("x",))
    )
    with pytest.raises(UsageError) as caught:
        refuse_unsupported_cases([Suite(name="s", cases=(case,))], [agent])
    assert f"it has {key!r}, which only models are given" in str(caught.value)
