"""What is said where the package has no results."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.agents.conformance.package import explain_absence, find_package
from harness.agents.program import FinishedProgram
from harness.base import AgentError, UsageError

UNKNOWN = """Validation error:
  scenario: Unknown scenario 'tool-list'

Available server scenarios:
  - server-initialize
  - tools-list
"""
SKIPPED = (
    "SKIPPED: scenario 'ping' is not applicable at spec version 2026-07-28 (introduced in "
    "2025-06-18, removed in 2026-07-28). Use --force to run it anyway."
)


@pytest.mark.parametrize(
    ("stderr", "kind", "told"),
    [
        (UNKNOWN, UsageError, "no scenario 'ping' for servers\n  It has: server-initialize, tools"),
        (SKIPPED, UsageError, "not one of revision 2026-07-28 (introduced in 2025-06-18"),
        ("npm error code E404", AgentError, "wrote no results; it said: npm error code E404"),
    ],
)
def test_a_run_without_results_is_explained(stderr: str, kind: type[Exception], told: str) -> None:
    done = FinishedProgram(name="the conformance package", code=1, out="", stderr=stderr)
    error = explain_absence(done, ("--scenario", "ping", "--spec-version", "2026-07-28"))
    assert isinstance(error, kind)
    assert told in str(error)


@pytest.mark.parametrize("below", ["", "node_modules/@modelcontextprotocol/conformance"])
def test_a_package_brings_its_version_and_perhaps_its_node(tmp_path: Path, below: str) -> None:
    place, node = tmp_path / below, tmp_path / "node_modules" / ".bin" / "node"
    (place / "dist").mkdir(parents=True)
    (place / "dist" / "index.js").touch()
    (place / "package.json").write_text('{"version": "9.9"}')
    node.parent.mkdir(parents=True, exist_ok=True)
    node.write_text("#!/bin/sh\necho v22.1.0\n")
    node.chmod(0o755)
    found = find_package(tmp_path)
    assert found.version == "9.9"
    assert found.command == (str(node), str(place / "dist" / "index.js"))
