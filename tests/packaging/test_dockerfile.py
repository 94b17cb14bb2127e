"""The image: built from what a release is built from, run by nobody in particular."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from harness.cli import cli
from tests.packaging.conftest import ROOT, Release, build

TEXT = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text("utf-8"))
STEPS = [
    (line.split()[0], line.partition(" ")[2])
    for line in TEXT.splitlines()
    if line and not line.startswith("#")
]


def last(keyword: str) -> str:
    return [value for name, value in STEPS if name == keyword][-1]


def copied() -> list[str]:
    """Return what is copied from the checkout."""
    return [
        path
        for name, value in STEPS
        if name == "COPY" and not value.startswith("--from")
        for path in value.split()[:-1]
    ]


@pytest.mark.slow
def test_what_is_copied_is_enough_to_build_the_same_wheel(release: Release, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in copied():
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy(ROOT / name, source / name)
    assert build(source, tmp_path / "built").wheel.read_bytes() == release.wheel.read_bytes()


def test_nothing_else_is_sent_to_the_builder() -> None:
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    rules = [line for line in lines if not line.startswith("#")]
    assert rules[0] == "*"
    assert {rule.removeprefix("!") for rule in rules if rule.startswith("!")} == set(copied())


def test_every_stage_names_the_version_that_it_starts_from() -> None:
    bases = [value.split()[0] for name, value in STEPS if name == "FROM"]
    assert bases
    assert [base for base in bases if not re.fullmatch(r"python:3\.\d+-slim", base)] == []


def test_it_runs_as_nobody_who_owns_anything_but_the_project() -> None:
    user, group = last("USER").split(":")
    assert int(user) >= 10_000
    assert int(group) >= 10_000
    assert last("WORKDIR") == last("VOLUME") == "/work"


def test_it_starts_the_page_where_a_token_is_asked_for() -> None:
    started: list[str] = json.loads(last("ENTRYPOINT")) + json.loads(last("CMD"))
    name, arguments = started[1], started[2:]
    command = cli.get_command(None, name)  # type: ignore[arg-type]  # it asks nothing of the context
    assert command is not None
    settings = command.make_context(name, arguments).params
    assert name == "serve"
    assert settings["host"] == "0.0.0.0"
    assert str(settings["port"]) == last("EXPOSE")


@pytest.mark.parametrize("secret", ["TOKEN", "KEY", "SECRET", "PASSWORD"])
def test_no_secret_is_part_of_it(secret: str) -> None:
    given = [value for name, value in STEPS if name in {"ENV", "ARG"}]
    assert [value for value in given if secret in value] == []
