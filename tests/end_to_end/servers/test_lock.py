"""``harness lock``: what a server offers, in a file, and what a change of it breaks."""

from __future__ import annotations

import json
import shlex
import sys

import pytest

from tests.end_to_end.harness_process import PLAIN_SERVER, Project

COMMAND = shlex.join([sys.executable, "-I", "-S", str(PLAIN_SERVER), "good"])


@pytest.mark.slow
def test_a_change_of_the_server_is_told_in_every_form_and_fails_if_one_asked_for_its_kind(
    project: Project,
) -> None:
    absent = project.run("lock", "--server", COMMAND, "--check")
    assert (absent.code, "there is no such file" in absent.stderr) == (3, True)
    assert project.run("lock", "--server", COMMAND).code == 0
    same = project.run("lock", "--server", COMMAND, "--check")
    assert (same.code, "nothing has changed" in same.stdout) == (0, True)
    path = project.folder / "harness.lock.json"
    locked = json.loads(path.read_text())
    # As if the server had lost a tool, and told another one in other words.
    tools = locked["identities"]["anonymous"]["tools"]
    tools["lost"] = {"inputSchema": {"type": "object"}}
    tools["echo"]["description"] = "Other words."
    path.write_text(json.dumps(locked, indent=2, sort_keys=True))
    broken = project.run("lock", "--server", COMMAND, "--check")
    assert broken.code == 1
    assert "breaking    anonymous: tool lost: was removed" in broken.stdout
    assert "wording     anonymous: tool echo: description changed" in broken.stdout
    as_json = project.run("lock", "--server", COMMAND, "--check", "--format", "json")
    assert json.loads(as_json.stdout)["counts"] == {"breaking": 1, "compatible": 0, "wording": 1}
    sarif = project.run("lock", "--server", COMMAND, "--check", "--format", "sarif")
    results = json.loads(sarif.stdout)["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["wording", "breaking"]
    told = project.run("lock", "--server", COMMAND, "--check", "--format", "github")
    assert "::error file=harness.lock.json,line=" in told.stdout
    del tools["lost"]
    path.write_text(json.dumps(locked, indent=2, sort_keys=True))
    assert project.run("lock", "--server", COMMAND, "--check").code == 0
    asked = project.run("lock", "--server", COMMAND, "--check", "--fail-on", "wording")
    assert asked.code == 1
