"""What an upload may ask for, short of starting a process for it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import HarnessError
from harness.runner.planning.options import options_of
from harness.runner.planning.prepare import PreparedPlan
from harness.web import worker
from tests.fake_provider import FakeProvider
from tests.web.support import a_project, dataset

Read = Callable[..., PreparedPlan]
CHOICES = {option.key for option in options_of("page")}
YAML = "suite: s\n{head}\ntests:\n  - {{name: a, prompt: q, {more}assertions: {{{check}}}}}\n"


@pytest.fixture
def read(tmp_path: Path, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Reads an upload in a project, as the process of its run would."""
    a_project(tmp_path, provider)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEY", "test-key-0123456789")
    monkeypatch.setenv("OPENAI_API_KEY", "test-key-0123456789")
    monkeypatch.setenv("HOME", str(tmp_path))

    def read(text: str, name: str = "tests.csv", **changes: Any) -> PreparedPlan:
        path = tmp_path / f"suite{Path(name).suffix}"
        path.write_text(text)
        choice = {key: changes.pop(key) for key in list(changes) if key in CHOICES}
        order = {
            "name": name,
            "called": Path(name).stem,
            "choice": choice,
            "max_cases": 100,
            "case_timeout_s": 60.0,
        }
        try:
            return worker.read_order({**order, **changes}, path)
        except HarnessError as error:
            problem = worker.encode_problems(error, path, name)[0]
            raise Told(problem["line"], problem["message"], problem["meant"]) from error

    return read


class Told(Exception):
    """What the page would say: line, message, what was meant."""


@pytest.mark.parametrize(
    ("head", "check", "line", "message"),
    [
        (
            "server: {command: touch, args: [pwned]}",
            "answer_contains: [x]",
            2,
            "cannot start a server",
        ),
        (
            "server: {url: 'http://127.0.0.1:1/mcp'}",
            "answer_contains: [x]",
            2,
            "cannot start a server",
        ),
        ("server: sh -c 'touch pwned'", "answer_contains: [x]", None, "there is no server named"),
        (
            "server: plain\nmodel: 'openai:gpt-4o'",
            "answer_contains: [x]",
            1,
            "there is no model named",
        ),
        (
            "server: plain\nmodel: 'replay:/etc/passwd'",
            "answer_contains: [x]",
            1,
            "there is no model named",
        ),
        (
            "server: plain\njudge_model: 'openai:gpt-4o'",
            "answer_contains: [x]",
            1,
            "there is no model named",
        ),
        (
            "server: plain",
            "graded: {expected: [], model: 'openai:gpt-4o'}",
            None,
            "there is no model named",
        ),
        ("server: plain", "python: {code: 'import os'}", 4, "'python'"),
        ("description: none", "answer_contains: [x]", 2, "'shop' names no server"),
    ],
)
def test_an_upload_names_only_what_is_configured(
    read: Read, head: str, check: str, line: int | None, message: str
) -> None:
    if "names no server" in message:
        Path("harness.yml").unlink()
        with pytest.raises(Told) as told:
            read(
                YAML.format(head=head, check=check, more="").replace("suite: s", "suite: shop"),
                "suite.yml",
            )
        assert told.value.args[2].startswith("Choose one: ")
    else:
        with pytest.raises(Told) as told:
            read(YAML.format(head=head, check=check, more=""), "suite.yml")
        assert told.value.args[0] == line
    assert message in told.value.args[1]


@pytest.mark.parametrize(
    "choice",
    [{"server": "python evil.py"}, {"server": "sh"}, {"model": "openai:gpt-4o"},
     {"model": "replay:/x"},
     {"judge_model": "openai:gpt-4o"}, {"user_model": "openai:gpt-4o"},
     {"server": ["plain", "sh"]}],
)  # fmt: skip
def test_a_choice_is_a_name_that_is_configured(read: Read, choice: dict[str, Any]) -> None:
    with pytest.raises(Told, match=r"there is no (server|model|judge) named"):
        read(dataset(["q"]), **choice)


def test_the_limits_hold_however_tests_are_multiplied(read: Read) -> None:
    assert len(read(dataset(["q"] * 100), server="plain").plan.jobs) == 100
    with pytest.raises(Told, match="at most 100"):
        read(dataset(["q"] * 101), server="plain")
    for more in ("trials: 101, ", "matrix: {x: [" + ",".join(map(str, range(101))) + "]}, "):
        suite = YAML.format(head="server: plain", check="answer_contains: [x]", more=more)
        with pytest.raises(Told, match="at most 100"):
            read(
                suite.replace(
                    "prompt: q", "prompt: 'q ${{ x }}'" if "matrix" in more else "prompt: q"
                ),
                "many.yml",
            )


def test_no_case_may_take_longer_than_the_page_allows(read: Read) -> None:
    for more, expected in (("timeout: 5000, ", 60.0), ("timeout: 5, ", 5.0), ("", 60.0)):
        suite = YAML.format(head="server: plain", check="answer_contains: [x]", more=more)
        assert read(suite, "slow.yml").plan.jobs[0].trial.case.limits.timeout_s == expected
    suite = YAML.format(head="server: plain", check="answer_contains: [x]", more="")
    assert (
        read(suite, "slow.yml", case_timeout_s=3.0).plan.jobs[0].trial.case.limits.timeout_s == 3.0
    )


def test_a_dataset_is_called_like_the_file_that_was_sent_and_meets_the_only_server(
    read: Read,
) -> None:
    plan = read(dataset(["q"]), "my tests.csv").plan
    assert (plan.suites[0].name, plan.servers[0].name) == ("my tests", "plain")


def test_without_any_configuration_a_dataset_meets_the_built_in_server_and_baseline(
    read: Read,
) -> None:
    Path("harness.yml").unlink()
    prepared = read(dataset(["What?"]), "my_tests.csv")
    assert [server.name for server in prepared.plan.servers] == ["finance"]
    assert [model.name for model in prepared.plan.models] == ["lexical"]
    assert "the built-in 'finance' answers" in prepared.notes[0]
    assert "It is not an LLM" in prepared.notes[1]
    assert not any("--" in note for note in prepared.notes)
