"""Another server as the second side of an A/B: real servers, a model over the wire."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.harness_process import Project, finish
from tests.fake_provider import FakeProvider, Incoming, Step, call, say
from tests.reports.packs import all_of

WORDED = Path(__file__).parents[1] / "servers" / "worded_server.py"
ID = {"type": "object", "properties": {"id": {"type": "string"}}}


def a_tool(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "description": description, "inputSchema": ID}


OLD = [
    a_tool("find_invoices", "Finds things."),
    a_tool("find_orders", "Finds orders."),
    a_tool("legacy_lookup", "Looks things up."),
]
NEW = [
    a_tool("find_invoices", "Find invoices of a customer by the number of the invoice."),
    a_tool("find_orders", "Finds orders."),
    a_tool("find_people", "Finds people."),
]
CASES = [
    *(
        {
            "name": f"{kind}_{number}",
            "prompt": f"Find {kind} number {number}.",
            "assertions": {"must_call": [{"tool": f"find_{kind}", "args": {"id": "C7"}}]},
        }
        for kind in ("invoices", "orders")
        for number in range(8)
    ),
    {
        "name": "by_legacy",
        "prompt": "Look up orders.",
        "assertions": {"must_call": [{"tool": "legacy_lookup"}]},
    },
]


def by_description(request: Incoming) -> Step:
    """Call the tool whose description speaks of what is asked for, else the last one."""
    if request.turn:
        return say("Done.")
    kind = "invoices" if "invoices" in request.prompt else "orders"
    fitting = [name for name, tool in request.tools.items() if kind in (tool.description or "")]
    return call((fitting or request.tool_names)[0 if fitting else -1], {"id": "C7"})


def entry(project: Project, name: str, tools: list[dict[str, Any]]) -> dict[str, Any]:
    path = project.folder / f"{name}.json"
    path.write_text(json.dumps(tools))
    return {"command": sys.executable, "args": [str(WORDED), str(path)]}


@pytest.fixture
def provider(project: Project) -> Iterator[FakeProvider]:
    with FakeProvider(by_description) as server:
        configure(project, server)
        yield server


def configure(project: Project, server: FakeProvider, **more: Any) -> None:
    model = {"type": "openai", "model": "m", "api_key": "test-key", "base_url": f"{server.url}/v1"}
    project.configure(
        models={"default": "m", "models": {"m": model}},
        servers={
            "old": entry(project, "old", OLD),
            "new": entry(project, "new", NEW),
            "bare": entry(project, "bare", [a_tool("ping", "Pings.")]),
            **more,
        },
    )
    project.suite("shop", CASES, server="old")


AB = ("workbench", "shop", "--studies", "ab", "--against", "new")


def study(finished: Any) -> Mapping[str, Any]:
    assert finished.code == 0, finished.stderr
    says: Mapping[str, Any] = finished.document["result"]["models"][0]["studies"]["ab"]
    return says


@pytest.mark.slow
def test_another_server_is_compared_case_by_case_and_tool_by_tool(
    project: Project, provider: FakeProvider
) -> None:
    finished = project.run(*AB, "--json-output", "--report", "html:page.html")
    says = study(finished)
    assert says["headline"] == "new: better"
    against = says["against"]
    assert (against["server"], against["cases"], against["verdict"]) == ("new", 16, "better")
    assert (against["before"], against["after"]) == (0.5, 1.0)
    tools = {one["tool"]: one for one in against["tools"]}
    assert tools["find_invoices"]["changed"] == ["description"]
    assert (tools["find_invoices"]["before"], tools["find_invoices"]["after"]) == (0.0, 1.0)
    assert tools["find_orders"]["changed"] == []
    assert tools["legacy_lookup"]["tokens"][1] is None
    assert tools["find_people"]["tokens"][0] is None
    cases = {one["case"]: one for one in against["cases_on_both"]}
    assert cases["invoices_0"]["called"] == ["legacy_lookup", "find_invoices"]
    assert cases["orders_0"]["moved"] == 0
    assert None not in against["tokens_of_a_trial"]
    # The clean arm asks 17 cases; one of them cannot be asked of the other server.
    assert sum(one.turn == 0 for one in provider.journal) == 17 + 16
    assert against["not_asked"] == [
        {"case": "by_legacy", "why": "names the tool legacy_lookup, which is not there"}
    ]
    assert any("1 case cannot be asked of new" in note for note in says["notes"])
    assert "Not asked of new: by_legacy" in finished.stderr
    assert "[ab 1/1] the list of new: 100 % passed (16 of 16 cases)" in finished.stderr
    page = all_of((project.folder / "page.html").read_text("utf-8"))
    assert "cannot be asked of new" in page
    # Its part is a run like any other: evals on that server has the same verdicts.
    run_id = finished.document["result"]["run_id"]
    part = project.log(f"{run_id}-b")
    assert list(part.header.servers) == ["new"]
    assert {one.status for one in part.results} == {"passed"}
    again = project.run("workbench", "--from", f"{run_id}-b", "--json-output")
    assert again.document["result"] == finished.document["result"]
    assert project.run("evals", "shop", "--server", "new", "-k", "s_").code == 0
    plain = project.log()
    assert list(plain.header.servers) == ["new"]
    assert {(one.key, one.status) for one in plain.results} == {
        (one.key, one.status) for one in part.results
    }


def test_a_dry_run_prices_both_servers_and_asks_no_model(
    project: Project, provider: FakeProvider
) -> None:
    finished = project.run(*AB, "--dry-run", "--json-output")
    assert finished.code == 0, finished.stderr
    rows = {row["study"]: row for row in finished.document["result"]["studies"]}
    assert rows["clean"]["trials"] == 17
    assert (rows["ab"]["arms"], rows["ab"]["trials"]) == (1, 16)
    assert rows["ab"]["input_tokens"] == 16 * 6000
    assert "Not asked of new: by_legacy" in finished.stderr
    assert provider.journal == []


@pytest.mark.slow
def test_what_was_interrupted_on_the_other_server_goes_on_and_repeats_no_trial(
    project: Project,
) -> None:
    asked: list[str] = []

    def interrupt_then_answer(request: Incoming) -> Step:
        if not request.turn:
            asked.append(request.prompt + str(request.tool_names))
            if len(asked) == 20:
                os.kill(process.pid, signal.SIGINT)
        return by_description(request)

    with FakeProvider(interrupt_then_answer) as server:
        configure(project, server)
        process = project.start(*AB, "--concurrency", "1")
        stopped = finish(process)
        assert stopped.code == 130, stopped.stderr
        assert 20 <= len(asked) < 33
        assert "ended early: interrupted" in stopped.stdout
        assert "its list takes about" in stopped.stdout
        finished = project.run("workbench", "--resume", "--json-output")
    assert study(finished)["against"]["cases"] == 16
    assert len(asked) == len(set(asked)) == 33


@pytest.mark.slow
def test_a_budget_that_the_first_server_used_up_leaves_none_for_the_other(
    project: Project, provider: FakeProvider
) -> None:
    finished = project.run(*AB, "--max-tokens", "1", "--concurrency", "1")
    assert finished.code == 4
    assert "ended early: budget" in finished.stdout
    assert "new has not been tried yet" in finished.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--studies", "ab", "--against", "bare"), "no case of suite 'shop' can be asked of bare"),
        (("--studies", "ab", "--against", "nwe"), "Did you mean 'new'?"),
        (("--studies", "order", "--against", "new"), "--against is for the study ab"),
        (("--from", "latest", "--against", "new"), "cannot be added to a workbench that was begun"),
        (("--studies", "ab", "--against", "broken"), "broken"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_a_model_is_asked(
    project: Project, provider: FakeProvider, arguments: tuple[str, ...], words: str
) -> None:
    configure(project, provider, broken={"command": sys.executable, "args": ["-c", "0"]})
    refused = project.run("workbench", "shop", *arguments)
    assert refused.code not in (0, 1)
    assert words in refused.stderr
    assert "Traceback" not in refused.stderr
    assert provider.journal == []


@pytest.mark.slow
def test_a_blocked_tool_that_the_other_server_lacks_keeps_nothing_from_being_compared(
    project: Project, provider: FakeProvider
) -> None:
    finished = project.run(*AB, "--block", "legacy_lookup", "-k", "orders", "--json-output")
    assert study(finished)["against"]["cases"] == 8
