"""A field that must be left out is one that somebody is shown."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.harness_process import Finished, Project
from tests.judging.secrecy.telling import SERVER
from tests.often import often


def asked(
    folder: Path, without: Any, *arguments: str, expect: dict[str, Any] | None = None
) -> Finished:
    """Ask for a customer as an administrator and as an agent, who must not see ``without``."""
    project = Project(folder)
    test = {
        "name": "record",
        "prompt": "get_customer",
        "as": ["admin", "agent"],
        "tool": "get_customer",
        "expect": {
            "admin": "allowed",
            "agent": {"decision": "filtered", "without": without},
            **(expect or {}),
        },
    }
    project.suite(
        "people",
        [test],
        server={"command": sys.executable, "args": [str(SERVER)], "protocol": "legacy"},
        identities={"admin": {"role": "admin"}, "agent": {"role": "agent"}},
    )
    return project.run("evals", "people", *arguments, COLUMNS="200")


def test_a_field_that_nobody_is_shown_is_an_error_with_the_name_that_was_meant(
    tmp_path: Path,
) -> None:
    finished = asked(tmp_path, ["card", "emial"])
    assert finished.code == 4
    assert "No result has a field 'emial', so there is no evidence that" in finished.stdout
    assert "Did you mean 'email'?" in finished.stdout
    assert "1 passed, 1 error" in finished.stdout


@pytest.mark.parametrize(
    "without",
    often([["email", "card"], "EMAIL", {"fields": ["emial"], "allow_unknown": True}]),
    ids=["known", "another case", "meant"],
)
def test_a_field_that_somebody_is_shown_or_that_may_be_absent_is_none(
    tmp_path: Path, without: Any
) -> None:
    assert asked(tmp_path, without).code == 0


def test_where_nobody_else_was_answered_nothing_is_known(tmp_path: Path) -> None:
    assert asked(tmp_path, "emial", "-k", "agent").code == 0


@pytest.mark.slow
def test_a_probe_says_it_as_well(tmp_path: Path) -> None:
    project = Project(tmp_path)
    asked(tmp_path, "emial")
    suite = project.folder / "evals" / "people.yml"
    suite.write_text(
        suite.read_text().replace("tool: get_customer", "tool: {tool: get_customer, args: {}}")
    )
    finished = project.run("probe", "people", "--named-only", COLUMNS="200")
    assert finished.code != 0
    assert "No result has a field 'emial'" in finished.stdout + finished.stderr
