"""The page on CI.

Its documents are well formed, and the steps of its workflow run, in a folder of their own.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cli import cli
from harness.reports.writers import ReportRequest
from harness.runlog import Header, LogWriter, read_log
from tests.end_to_end.harness_process import plain_server
from tests.end_to_end.warm import warm_python

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text("utf-8")
DOCUMENTS = [
    yaml.safe_load(block)
    for block in re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
]
ACTION, SCANNING, COMPONENT, GITLAB, HOOKS, LOCAL_HOOK = DOCUMENTS
WORKFLOW_FILE = (ROOT / "docs" / "examples" / "ci" / "evals.yml").read_text("utf-8")
WORKFLOW = yaml.safe_load(WORKFLOW_FILE)
MANIFEST = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
STEPS: dict[str, Any] = {
    step["name"]: step
    for step in (*WORKFLOW["jobs"]["evals"]["steps"], *SCANNING)
    if "name" in step
}
COMMANDS = re.findall(
    r"(?<![\w.-])harness (?:evals|compare|merge|lint|view|grade)\b[^\n`]*",
    re.sub(r"\\\n\s*", " ", PAGE + WORKFLOW_FILE),
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose suite passes, and a server without anything to complain of."""
    tests = [
        {
            "name": "first",
            "tags": ["smoke"],
            "prompt": "Echo 'hello'.",
            "assertions": {"must_call": ["echo"]},
        },
        {"name": "second", "prompt": "Echo 'hello'.", "assertions": {"must_not_call": ["echo"]}},
    ]
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "shop.yml").write_text(
        yaml.safe_dump({"suite": "shop", "server": plain_server(), "tests": tests})
    )
    (tmp_path / "server.py").write_text(
        f"import runpy, sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        "runpy.run_module('servers.data_governance', run_name='__main__')\n"
    )
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "harness").write_text(f'#!/bin/sh\nexec {warm_python()} -m harness.cli "$@"\n')
    (commands / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    for command in commands.iterdir():
        command.chmod(0o755)
    return tmp_path


def step(project: Path, name: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a step as the runner does: its text in a file, by ``bash -e``."""
    script = project / "step.sh"
    script.write_text(STEPS[name]["run"])
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        cwd=project,
        env={
            "PATH": f"{project / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HOME": str(project),
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_STEP_SUMMARY": str(project / "summary.md"),
            **env,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
def test_the_steps_of_the_workflow_run_and_the_gate_needs_evidence(project: Path) -> None:
    smoke = step(project, "Tools and suites, without a model")
    assert smoke.returncode == 0, smoke.stdout + smoke.stderr
    assert "`shop`" in (project / "summary.md").read_text()
    branch = step(project, "The same on a real model", MODEL="lexical", GITHUB_REF="refs/pull/7")
    assert branch.returncode == 1  # no baseline yet, and one case fails
    main = {"MODEL": "lexical", "GITHUB_REF": "refs/heads/main"}
    first = step(project, "The same on a real model", **main)
    assert first.returncode == 0, first.stdout + first.stderr  # it becomes the baseline
    assert "::warning::There was no baseline" in first.stdout
    assert "::error file=evals/shop.yml,line=" in first.stderr
    assert (project / "evals.xml").read_text().count("<testcase ") == 2
    assert step(project, "Keep this run as the next baseline").returncode == 0
    kept = read_log(project / "evals-baseline" / "log.jsonl")
    assert len(kept.results) == 6  # the whole suite, three times: not the run of the step before
    again = step(project, "The same on a real model", **main)
    assert again.returncode == 0, again.stdout + again.stderr  # as bad as ever is no regression
    assert "gate: no evidence of a regression" in again.stdout


def test_a_first_run_that_was_not_wholly_judged_is_no_baseline(project: Path) -> None:
    absent = {"command": "sh", "args": ["-c", "exit 1"]}
    test = {"name": "lost", "prompt": "Hello.", "assertions": {"must_call": ["echo"]}}
    (project / "evals" / "lost.yml").write_text(
        yaml.safe_dump({"suite": "lost", "server": absent, "tests": [test]})
    )
    main = {"MODEL": "lexical", "GITHUB_REF": "refs/heads/main"}
    first = step(project, "The same on a real model", **main)
    assert first.returncode == 1
    assert "::warning::There was no baseline" not in first.stdout


@pytest.mark.slow
def test_the_step_for_code_scanning_writes_the_file_that_is_uploaded(project: Path) -> None:
    finished = step(project, "Lint for code scanning")
    assert finished.returncode == 0, finished.stderr
    document = json.loads((project / SCANNING[1]["with"]["sarif_file"]).read_text())
    assert document["version"] == "2.1.0"


def test_the_page_gives_the_action_and_the_component_inputs_that_they_have() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["inputs"]
    spec, _ = yaml.safe_load_all((ROOT / "templates" / "evals.yml").read_text("utf-8"))
    (used,) = [step for step in ACTION["jobs"]["evals"]["steps"] if "harness@" in step["uses"]]
    assert set(used["with"]) <= set(action)
    assert set(COMPONENT["include"][0]["inputs"]) <= set(spec["spec"]["inputs"])
    table = PAGE.partition("| input |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines()[2:]]
    assert set(re.findall(r"`([\w-]+)`", " ".join(rows))) == set(action)
    others = {"working-directory", "name", "comment", "token"}
    assert set(spec["spec"]["inputs"]) == set(action) - others | {"job", "stage", "image"}


def test_what_the_workflow_keeps_is_what_its_steps_write() -> None:
    by_action = {
        step["uses"].partition("@")[0]: step
        for step in WORKFLOW["jobs"]["evals"]["steps"]
        if "uses" in step
    }
    paths = by_action["actions/upload-artifact"]["with"]["path"].split()
    text = STEPS["The same on a real model"]["run"]
    assert all(path == ".harness/runs" or path in text for path in paths)
    assert by_action["actions/upload-artifact"]["with"]["include-hidden-files"] is True
    assert (
        by_action["actions/cache/restore"]["with"]["path"]
        == by_action["actions/cache/save"]["with"]["path"]
    )


def test_every_command_of_the_page_is_one_that_harness_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for place in ("evals-baseline/log.jsonl", "path/to/log.jsonl", "shards/a/log.jsonl"):
        with LogWriter(tmp_path / place) as log:
            log.append(Header(run_id="r", started_at="", harness_version="0", planned=0))
    scripts = [
        *(command for command in COMMANDS if len(command.split()) > 2),  # a bare name is prose
        GITLAB["evals"]["script"][1],
        *(hook["entry"] for hook in (*MANIFEST, *LOCAL_HOOK["repos"][0]["hooks"])),
    ]
    assert len(scripts) > 10
    for script in scripts:
        text = script.replace('"${gate[@]}"', "--baseline evals-baseline/log.jsonl --gate 5%")
        text = text.partition(" > ")[0]
        _, name, *arguments = shlex.split(text, comments=True)
        command = cli.get_command(None, name)  # type: ignore[arg-type]  # it asks nothing of the context
        assert command is not None
        command.make_context(name, arguments)  # raises for whatever is misspelt


def test_the_hooks_of_the_page_are_those_that_the_repository_offers() -> None:
    offered = {hook["id"] for hook in MANIFEST}
    assert {hook["id"] for hook in HOOKS["repos"][0]["hooks"]} == offered
    assert LOCAL_HOOK["repos"][0]["hooks"][0]["entry"] == next(
        hook["entry"] for hook in MANIFEST if hook["id"] == "harness-evals"
    )
    pattern = re.compile(MANIFEST[0]["files"])
    for name, expected in (
        ("evals/shop.yml", True),
        ("sub/evals/deep/data.csv", True),
        ("harness.yml", True),
        ("docs/shop.yml", False),
        ("evals/readme.md", False),
    ):
        assert bool(pattern.search(name)) is expected, name


def test_the_formats_that_the_page_asks_for_exist() -> None:
    for wanted in re.findall(r"--report ([\w:.-]+)", PAGE + WORKFLOW_FILE):
        assert ReportRequest.parse(wanted).format
