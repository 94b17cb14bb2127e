"""``harness lint`` as a user and as CI run it."""

from __future__ import annotations

import json
import sys
from typing import Any

from tests.end_to_end.harness_process import PLAIN_SERVER, Finished, Project

CLEAN = {
    "name": "get_order",
    "description": "Show one order by its id. To find an order use search_orders.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "order_id": {"type": "string", "description": "Id of the order, such as ORD_1042."}
        },
    },
    "annotations": {"readOnlyHint": True},
}
POOR = {
    "name": "\x1b[2J\u202eget",
    "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}},
}


def linted(project: Project, tools: list[dict[str, Any]], *arguments: str) -> Finished:
    server = {
        "command": sys.executable,
        "args": [str(PLAIN_SERVER), "broken_tools"],
        "env": {"TOOLS": json.dumps(tools)},
    }
    project.configure(servers={"shop": server})
    return project.run("lint", *arguments)


def test_a_server_with_nothing_but_notes_passes(project: Project) -> None:
    finished = linted(project, [CLEAN], "shop")
    assert finished.code == 0, finished.stdout
    assert "note no-output-schema" in finished.stdout
    assert "shop: 1 tool: 0 errors, 0 warnings, 1 note" in finished.stdout


def test_a_finding_fails_and_says_why_and_what_to_write_instead(project: Project) -> None:
    finished = linted(project, [CLEAN, POOR])
    assert finished.code == 1
    assert "warning no-description" in finished.stdout
    assert "Why: " in finished.stdout
    assert "Evidence: reported: " in finished.stdout
    assert "Instead: " in finished.stdout
    # Nothing that a server says reaches the terminal as a command.
    assert "\x1b" not in finished.stdout
    assert "\u202e" not in finished.stdout


def test_for_programs_there_is_one_json_document(project: Project) -> None:
    finished = linted(project, [CLEAN, POOR], "--json-output")
    assert finished.code == 1
    document = finished.document
    assert (document["status"], document["server"], document["tools"]) == ("ok", "shop", 2)
    assert set(document["findings"][0]) == {
        "tool",
        "parameters",
        "rule",
        "severity",
        "message",
        "why",
        "instead",
        "evidence",
    }
    assert set(document["findings"][0]["evidence"]) == {
        "kind",
        "source",
        "effect",
        "measurements",
    }
    assert document["counts"]["error"] == sum(
        one["severity"] == "error" for one in document["findings"]
    )


def test_findings_can_be_ignored_and_are_counted(project: Project) -> None:
    finished = linted(
        project, [CLEAN, POOR], "--ignore", "no-description", "--ignore", "no-output-schema"
    )
    assert "no-description" not in finished.stdout
    assert " ignored" in finished.stdout.splitlines()[-1]
    assert linted(project, [CLEAN, POOR], "--fail-on", "never", "--json-output").code == 0
    project.configure(
        servers={
            "shop": {
                "command": sys.executable,
                "args": [str(PLAIN_SERVER), "broken_tools"],
                "env": {"TOOLS": json.dumps([CLEAN])},
                "lint_ignore": {"*": ["no-output-schema"]},
            }
        }
    )
    document = project.run("lint", "shop", "--json-output").document
    assert (document["findings"], document["ignored"]) == ([], 1)


def test_a_rule_that_there_is_not_is_told_with_the_nearest(project: Project) -> None:
    finished = linted(project, [CLEAN], "--ignore", "confusible")
    assert finished.code == 3
    assert "no rule 'confusible'" in finished.stderr
    assert "confusable" in finished.stderr


def test_a_server_that_does_not_start_is_told_in_words(project: Project) -> None:
    finished = project.run(
        "lint", "--server", f"{sys.executable} {PLAIN_SERVER} exit_in_handshake", "--json-output"
    )
    assert finished.code == 3
    assert "last words: cannot open the database" in finished.stderr
    assert "Traceback" not in finished.stderr
    assert finished.document["status"] == "error"


def test_the_projects_own_server_is_clean(project: Project) -> None:
    assert project.run("lint", "data_governance").code == 0
