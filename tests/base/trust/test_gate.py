"""Which question comes before a foreign command runs, and which answers are remembered."""

from __future__ import annotations

import os
import pty
import select
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import UsageError
from harness.base.redaction import KNOWN
from harness.base.trust import Gate, RequestedAction
from harness.types import ModelSpec
from tests.base.trust.test_folders import CLONED, COMMITTED, cloned
from tests.end_to_end.harness_process import HARNESS, PLAIN_SERVER, TIMEOUT_S, Project
from tests.pytest_plugin.sessions import run as run_pytest


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate({"HOME": str(tmp_path / "home")})


def test_what_stands_in_ones_own_folder_is_done_without_a_question(
    tmp_path: Path, gate: Gate
) -> None:
    gate.require_trust([RequestedAction(cloned(tmp_path, COMMITTED), "start python server.py")])


def test_where_nobody_can_be_asked_it_is_an_error_that_says_what_and_how(
    tmp_path: Path, gate: Gate
) -> None:
    with pytest.raises(UsageError) as caught:
        gate.require_trust(
            [RequestedAction(cloned(tmp_path), "start python server.py --token ${TOKEN}")]
        )
    assert "this folder is not your own" in str(caught.value)
    assert "start python server.py --token ${TOKEN}" in str(caught.value)
    assert "--trust" in str(caught.value)
    assert "HARNESS_TRUST=1" in str(caught.value)


def test_a_yes_is_remembered_for_this_folder_and_this_command(tmp_path: Path, gate: Gate) -> None:
    suite, other = cloned(tmp_path / "a"), cloned(tmp_path / "b")
    asked: list[str] = []
    gate.ask = lambda text: not asked.append(text)  # type: ignore[func-returns-value]
    gate.require_trust([RequestedAction(suite, "start one"), RequestedAction(suite, "start two")])
    assert len(asked) == 1
    later = Gate(gate.environ)
    later.require_trust([RequestedAction(suite, "start two"), RequestedAction(suite, "start one")])
    for deed in (
        RequestedAction(suite, "start three"),
        RequestedAction(other, "start one"),
        RequestedAction(suite, "start one", "changed"),
    ):
        with pytest.raises(UsageError):
            later.require_trust([deed])
    place = tmp_path / "home" / ".local" / "state" / "harness" / "trust.json"
    assert place.stat().st_mode & 0o777 == 0o600


def test_a_no_is_not_remembered_and_starts_nothing(tmp_path: Path, gate: Gate) -> None:
    gate.ask = lambda _: False
    for _ in range(2):
        with pytest.raises(UsageError, match="nothing was started"):
            gate.require_trust(
                [
                    RequestedAction(
                        cloned(tmp_path)
                        if not (tmp_path / "evals").exists()
                        else tmp_path / "evals/shop.yml",
                        "start x",
                    )
                ]
            )


@pytest.mark.parametrize("how", ["option", "variable"])
def test_trust_that_is_given_is_remembered(tmp_path: Path, how: str) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path / "state")}
    gate = Gate({**environ, **({"HARNESS_TRUST": "1"} if how == "variable" else {})})
    gate.trusting = how == "option"
    deed = RequestedAction(cloned(tmp_path / "a"), "start one")
    gate.require_trust([deed])
    Gate(environ).require_trust([deed])


def test_a_question_shows_neither_secrets_nor_what_steers_a_terminal(
    tmp_path: Path, gate: Gate
) -> None:
    KNOWN.add_secret("hunter2-and-more")
    asked: list[str] = []
    gate.ask = lambda text: not asked.append(text)  # type: ignore[func-returns-value]
    gate.require_trust(
        [
            RequestedAction(
                cloned(tmp_path), "start x --token hunter2-and-more \x1b[2J\u202e\nMay they? y"
            )
        ]
    )
    assert "[redacted] \\x1b[2J\\u202e May they? y" in asked[0]


def test_a_key_that_would_go_to_a_strangers_url_is_asked_about(tmp_path: Path, gate: Gate) -> None:
    suite = cloned(tmp_path)
    model = ModelSpec(
        name="m", provider="openai", model_id="m", base_url="https://evil.example/v1",
        api_key_variable="OPENAI_API_KEY", sources={"base_url": f"{suite}:3"},
    )  # fmt: skip
    with pytest.raises(UsageError, match=r"https://evil.example/v1 with \$OPENAI_API_KEY"):
        gate.require_plan((), [model])


def test_a_damaged_memory_is_none(tmp_path: Path, gate: Gate) -> None:
    place = tmp_path / "home" / ".local" / "state" / "harness" / "trust.json"
    place.parent.mkdir(parents=True)
    deed = RequestedAction(cloned(tmp_path), "start one")
    for content in ("", "[]", '{"folders": {"a": 1}}', '{"folders": []}', "\xff"):
        place.write_text(content)
        with pytest.raises(UsageError):
            Gate(gate.environ).require_trust([deed])


# ── As a user meets it ───────────────────────────────────────────────────────────────────────


@pytest.fixture
def stranger(tmp_path: Path) -> Project:
    """A project that was cloned, whose server leaves a mark when it is started."""
    project = Project(tmp_path)
    (tmp_path / ".git" / "logs").mkdir(parents=True)
    (tmp_path / ".git" / "logs" / "HEAD").write_text(CLONED)
    server = started(project)
    project.configure(servers={"shop": server})
    tests: list[dict[str, Any]] = [
        {
            "name": "a",
            "prompt": "Echo with n = 7.",
            "assertions": {"must_call": [{"tool": "echo", "args": {"n": 7}}]},
        }
    ]
    tests[0]["user_context"] = {"role": "clerk"}
    project.suite("shop", tests, server="shop")
    (tmp_path / "bench.py").write_text("open('started', 'w')\nclass Suite: ...\n")
    return project


def started(project: Project, *more: str) -> dict[str, Any]:
    python = HARNESS[0]
    return {
        "command": "sh",
        "args": ["-c", f"touch started; exec {python} {PLAIN_SERVER} good", "sh", *more],
    }


@pytest.mark.parametrize(
    "arguments",
    [
        "evals",
        "evals shop",
        "probe shop",
        "lint",
        "tools shop",
        "init shop --name new",
        "evals bench.py:Suite",
    ],
)
def test_no_command_starts_anything_of_a_strangers_folder_unasked(
    stranger: Project, arguments: str
) -> None:
    refused = stranger.run(*arguments.split())
    assert (refused.code, refused.stdout) == (3, "")
    assert "this folder is not your own" in refused.stderr
    assert "--trust" in refused.stderr
    assert not (stranger.folder / "started").exists()


def test_what_starts_nothing_needs_no_trust(stranger: Project) -> None:
    assert stranger.run("evals", "shop", "--dry-run").code == 0
    assert stranger.run("models").code == 0


def test_trust_is_given_once_and_a_changed_command_needs_it_again(stranger: Project) -> None:
    assert stranger.run("tools", "shop", "--trust").code == 0
    assert (stranger.folder / "started").exists()
    assert stranger.run("tools", "shop").code == 0
    assert stranger.run("evals", "shop").code == 0
    stranger.configure(servers={"shop": started(stranger, "changed")})
    assert stranger.run("tools", "shop").code == 3
    assert stranger.run("tools", "shop", HARNESS_TRUST="1").code == 0


@pytest.mark.slow
def test_a_server_that_is_typed_is_the_users_own_word_and_so_is_what_init_writes_of_it(
    stranger: Project,
) -> None:
    command = f"{HARNESS[0]} {PLAIN_SERVER} good"
    assert stranger.run("tools", "--server", command).code == 0
    assert stranger.run("init", "--server", command, "--name", "mine").code == 0
    assert stranger.run("evals", "mine").code != 3
    assert stranger.run("evals", "shop").code == 3


@pytest.mark.slow
def test_another_server_to_compare_with_needs_trust_like_any(stranger: Project) -> None:
    typed = f"{HARNESS[0]} {PLAIN_SERVER} good"
    compare = ("workbench", "shop", "--studies", "ab", "--server", typed, "--model", "lexical")
    for more in ((), ("--dry-run",)):
        refused = stranger.run(*compare, "--against", "shop", *more)
        assert refused.code == 3
        assert "this folder is not your own" in refused.stderr
    assert not (stranger.folder / "started").exists()
    assert stranger.run(*compare, "--against", f"{typed} b").code == 0


def test_pytest_starts_nothing_of_a_strangers_folder_either(stranger: Project) -> None:
    finished = run_pytest(stranger.folder, "evals/shop.yml")
    assert finished.code == 1
    assert "HARNESS_TRUST=1" in finished.stdout
    assert not (stranger.folder / "started").exists()


@pytest.mark.slow
def test_on_a_terminal_it_is_asked(stranger: Project) -> None:
    assert "May they, now and from now on? [y/N]" in on_a_terminal(stranger, b"n\n", 3)
    assert not (stranger.folder / "started").exists()
    assert "May they" in on_a_terminal(stranger, b"y\n", 0)
    assert (stranger.folder / "started").exists()
    assert "May they" not in on_a_terminal(stranger, b"", 0)


@pytest.mark.slow
def test_in_ci_nobody_is_asked_on_a_terminal_either(stranger: Project) -> None:
    assert "May they" not in on_a_terminal(stranger, b"", 3, CI="true")


def on_a_terminal(project: Project, typed: bytes, code: int, **env: str) -> str:
    """Run ``harness tools shop`` on a terminal where ``typed`` is typed at the question.

    Return what it shows.
    """
    ours, theirs = pty.openpty()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(project.folder / "home"),
        "LANG": "C.UTF-8",
        **env,
    }
    process = subprocess.Popen(
        [*HARNESS, "tools", "shop"],
        cwd=project.folder,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    while select.select([ours], [], [], TIMEOUT_S)[0]:
        try:
            data = os.read(ours, 65536)
        except OSError:
            break
        shown += data
        if typed and b"[y/N]" in shown:
            os.write(ours, typed)
            typed = b""
        if not data:
            break
    os.close(ours)
    assert process.wait(TIMEOUT_S) == code, shown.decode()
    return shown.decode()
