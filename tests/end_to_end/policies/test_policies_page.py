"""The page on policies: its example is run as it stands, sound and with both of its faults."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator

from harness.base.documents.document import read_document
from harness.probing.callers import build_damaged_callers, build_lookalike_callers, name_callers
from harness.reports.findings import Problem
from harness.suites.schema import SCHEMA_FILE
from harness.types import (
    Caller,
    Case,
)
from tests.end_to_end.harness_process import Finished, Project
from tests.end_to_end.policies.recipes import DOCS, files_of
from tests.end_to_end.warm import warm_python

PAGE = (DOCS / "policies.md").read_text(encoding="utf-8")
REFERENCE = (DOCS / "probing.md").read_text(encoding="utf-8")
FILES = files_of("A server with a policy", PAGE)
CALLS = ['get_customer(customer_id="C-17")', 'list_customers(city="Lisbon")']


def instead(name: str) -> str:
    """Return ``desk.py`` with the function ``name`` as the page breaks it."""
    (broken,) = re.findall(
        rf"```python\n((?:@[^\n]*\n)?def {name}\(.*?)^```", PAGE, re.DOTALL | re.MULTILINE
    )
    pattern = rf"(?:^@server[^\n]*\n)?^def {name}\(.*?\n\n\n"
    changed, times = re.subn(
        pattern,
        lambda _: f"{broken}\n\n",
        FILES["desk.py"],
        count=1,
        flags=re.DOTALL | re.MULTILINE,
    )
    assert times == 1
    return changed


def written(folder: Path, server: str) -> Project:
    """Write the files of the page, and ``server`` as ``desk.py``."""
    for name, text in {**FILES, "desk.py": server}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    programs = f"{Path(warm_python()).parent}{os.pathsep}{os.environ['PATH']}"
    return Project(folder, env={"PATH": programs})


def probed(folder: Path, server: str, *arguments: str) -> Finished:
    return written(folder, server).run("probe", "customers", "--json-output", *arguments)


def problems(finished: Finished) -> set[str]:
    return {finding["problem"] for finding in finished.document["findings"]}


@pytest.mark.slow
def test_the_example_is_right_and_each_of_its_faults_is_found(tmp_path: Path) -> None:
    sound = probed(tmp_path, FILES["desk.py"], "--update", "decisions.json")
    assert (sound.code, problems(sound)) == (0, set()), sound.stdout
    for call in CALLS:
        decided: dict[str, Any] = sound.document["decisions"][call]
        assert [decided[who]["access"] for who in ("admin", "agent", "anonymous")] == [
            "allowed",
            "filtered",
            "denied",
        ]
    kept = json.loads((tmp_path / "decisions.json").read_text())["decisions"][CALLS[0]]
    assert '"admin: role has another type": "denied (tool_error)"' in PAGE
    assert kept["admin: role has another type"] == "denied (tool_error)"

    leaking = probed(tmp_path, instead("list_customers"), "--named-only")
    assert (leaking.code, problems(leaking)) == (1, {"leak"})

    open_ = probed(tmp_path, instead("shown"))
    assert (open_.code, problems(open_)) == (1, {"fails_open"})
    assert len({tuple(finding["callers"]) for finding in open_.document["findings"]}) == 5
    assert all(f"✗ {finding['words']}" in PAGE for finding in open_.document["findings"][:1])


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["", "list_customers", "shown"])
def test_the_page_shows_how_many_calls_are_made_on_each_of_its_servers(
    tmp_path: Path, broken: str
) -> None:
    project = written(tmp_path, instead(broken) if broken else FILES["desk.py"])
    printed = project.run("probe", "customers").stdout
    counts = re.findall(r"^\d+ (?:calls|damaged) .*$", printed, re.MULTILINE)
    assert len(counts) == 3, printed
    assert "\n".join(counts) in PAGE


def test_the_suite_on_the_page_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "customers.yml"
    path.write_text(FILES["evals/customers.yml"], encoding="utf-8")
    Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))).validate(
        read_document(path).value
    )


@pytest.mark.parametrize("problem", get_args(Problem))
def test_every_sort_of_finding_is_explained(problem: str) -> None:
    assert f"| `{problem}` |" in REFERENCE


def test_every_damage_stands_on_the_page() -> None:
    everybody = [
        Case(name="c", prompt="p", checks=(), caller=Caller(user_context={"role": role}))
        for role in ("a", "b")
    ]
    own = name_callers(everybody)
    how = (
        re.findall(r"\((.*)\)", caller.damage or "")[0] for caller in build_lookalike_callers(own)
    )
    assert [words for words in how if words not in REFERENCE] == []
    for caller in build_damaged_callers(own):
        assert caller.damage is not None
        words = re.sub(r"^role |, with .*$", "", caller.damage)
        assert re.search(rf"^\|.*\b{words}\b.*\|$", REFERENCE, re.MULTILINE), caller.damage
