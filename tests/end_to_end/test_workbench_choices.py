"""Studies of wordings, orders and steering, through the wire, with models of known behaviour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.end_to_end.harness_process import Project
from tests.end_to_end.test_workbench import provided, worded
from tests.fake_provider import Incoming, Step, call, say

TOOLS = [
    {
        "name": name,
        "description": f"{name.replace('_', ' ').capitalize()}.",
        "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}},
    }
    for name in ("find_invoices", "find_orders", "find_people")
]


def a_test(name: str, tool: str, **more: Any) -> dict[str, Any]:
    wanted = {"tool": tool, "args": {"id": "C7"}}
    return {"name": name, "assertions": {"must_call": [wanted]}, **more}


def found(project: Project, study: str, *arguments: str) -> Mapping[str, Any]:
    """Run one study, and return what it says of the model."""
    finished = project.run("workbench", "shop", "--json-output", "--studies", study, *arguments)
    assert finished.code == 0, finished.stderr
    says: Mapping[str, Any] = finished.document["result"]["models"][0]["studies"][study]
    return says


# ── Paraphrase ───────────────────────────────────────────────────────────────────────────────

WORDED_TESTS = [
    a_test(
        "invoices",
        "find_invoices",
        prompt="Find invoices of C7.",
        wordings=["Show the invoices of C7.", "What did we bill to C7?"],
    ),
    a_test("orders", "find_orders", prompt="Find orders of C7.", wordings=["Show orders of C7."]),
    a_test("people", "find_people", prompt="Find people of C7."),
]


def by_keyword(request: Incoming) -> Step:
    """Call the tool that is named by a word of the prompt, else the last one."""
    if request.turn:
        return say("Done.")
    words = request.prompt.lower()
    fitting = [name for name in request.tool_names if name.split("_")[1] in words]
    return call((fitting or request.tool_names)[0 if fitting else -1], {"id": "C7"})


def test_paraphrase_names_the_wording_that_a_keyword_model_fails(project: Project) -> None:
    project.suite("shop", WORDED_TESTS, server=worded(project, TOOLS))
    with provided(project, by_keyword) as server:
        says = found(project, "paraphrase")
    # Three prompts, and the three further wordings.
    assert sum(one.turn == 0 for one in server.journal) == 6
    assert says["consistent"] == 0.5
    (hanging,) = [case for case in says["cases"] if case["hangs"]]
    assert (hanging["name"], hanging["failing"]) == ("invoices", ["What did we bill to C7?"])
    assert hanging["phrasings"][2]["called"] == "find_people"
    assert "'What did we bill to C7?' (calls find_people first)" in says["findings"][0]["text"]
    assert any("--trials 3" in note for note in says["notes"])


def test_without_wordings_the_study_says_how_to_write_them(project: Project) -> None:
    project.suite("shop", WORDED_TESTS[2:], server=worded(project, TOOLS))
    with provided(project, by_keyword):
        finished = project.run("workbench", "shop", "--studies", "paraphrase")
    assert finished.code == 0, finished.stderr
    assert "No test of this suite has other wordings." in finished.stdout
    assert "wordings:" in finished.stdout


@pytest.mark.parametrize("other", ["Please find the invoices of C7.", "Any bills of C7?"])
def test_a_file_of_wordings_is_asked_like_those_of_the_suite(project: Project, other: str) -> None:
    project.suite("shop", WORDED_TESTS[:1], server=worded(project, TOOLS))
    mine = project.folder / "mine.yml"
    mine.write_text(f"variants: {{mine: {{prompts: {{invoices: '{other}'}}}}}}")
    with provided(project, by_keyword):
        says = found(project, "paraphrase", "--variant", str(mine))
    words = [one["words"] for one in says["cases"][0]["phrasings"]]
    assert words[-1] == other
    assert len(words) == 4
