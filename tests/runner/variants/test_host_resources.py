"""``offer_resources``: a model reads resources by tools of its host, over each transport."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

import harness
from harness.base import InvalidInput, UsageError
from harness.judging import evaluate_checks
from harness.judging.checks.kind import Evidence
from harness.reports.formats.html_report.detail import live_steps
from harness.reports.formats.transcripts import write_transcripts
from harness.reports.writers import WRITERS
from harness.runlog import read_log
from harness.runner.agent_requirements import refuse_clients_habits
from harness.runner.content.given_content import ResultForm
from harness.runner.model_conversation import ModelConversation
from harness.runner.variants.shown_tools import ShownTools
from harness.runner.variants.variant_session import VariantModel, VariantSession
from harness.sessions import open_sessions
from harness.types import (
    LIST_RESOURCES,
    READ_RESOURCE,
    AgentSpec,
    Case,
    ModelSpec,
    Reply,
    ServerSpec,
    Tool,
    ToolList,
    ToolMessage,
    ToolRequest,
    ToolSearch,
    Transcript,
    Variant,
)
from tests.clock import BOUND_S
from tests.runner.content.test_context import SUITE, WAYS, build_spec, checked
from tests.support import ScriptedModel, a_case, says

VARIANT = Variant(name="as_a_host", offer_resources=True)


def read(*uris: Any) -> Reply:
    requests = (
        ToolRequest(id=f"r{n}", tool=READ_RESOURCE, arguments={"uri": uri})
        for n, uri in enumerate(uris)
    )
    return Reply(tool_requests=tuple(requests))


LISTING = Reply(tool_requests=(ToolRequest(id="l", tool=LIST_RESOURCES),))


async def converse(case: Case, spec: ServerSpec, *steps: Reply) -> tuple[Transcript, ScriptedModel]:
    """Return what became of ``case`` as a guest under the variant, and its model."""
    model = ScriptedModel(*steps, says("done"))
    with anyio.fail_after(BOUND_S):
        async with open_sessions() as pool, pool.lend_session(spec, {"role": "guest"}) as session:
            shown = ShownTools(VARIANT, session.tools)
            conversation = ModelConversation(
                case,
                VariantModel(model, [shown]),
                VariantSession(session, shown),
                results=ResultForm(takes=["image"], host_tools=(LIST_RESOURCES, READ_RESOURCE)),
            )
            await conversation.run()
            return conversation.build_transcript(), model


async def judge(case: Case, said: Transcript) -> list[tuple[str, str, str]]:
    shown = ShownTools(VARIANT, ToolList(tools=()))
    evidence = Evidence(
        case=case,
        transcript=said,
        tools=ToolList(tools=()),
        presented=shown.presentation,
    )
    results = await evaluate_checks(evidence)
    return [(one.kind, one.verdict, one.explanation.partition("\n")[0]) for one in results]


@WAYS
@pytest.mark.anyio
async def test_a_model_lists_and_reads_resources_as_the_tests_user(
    over: str, protocol: str
) -> None:
    checks = (
        *checked("must_read", ["hr://handbook", "hr://people/*"]),
        *checked("must_not_read", "hr://salaries"),
        *checked("resource_contains", {"uri": "hr://people/E1", "text": "engineer"}),
    )
    case = a_case(checks=checks)
    uris = ("hr://handbook", "hr://salaries", "hr://logo", "hr://people/E1", 7)
    said, model = await converse(case, build_spec(over, protocol), LISTING, read(*uris))
    assert model.offered[0] == ("lend", LIST_RESOURCES, READ_RESOURCE)
    listed, given = (one.answers for one in said.messages if isinstance(one, ToolMessage))
    assert json.loads(listed[0].text) == {
        "resources": [
            {"uri": "hr://handbook", "name": "handbook", "description": "Rules for all."},
            {"uri": "hr://logo", "name": "logo"},
        ],
        "resourceTemplates": [{"uriTemplate": "hr://people/{id}", "name": "person"}],
    }
    assert [(one.text, one.is_error) for one in given] == [
        ("[resource hr://handbook]\nLeave: 30 days.", False),
        ("Access denied: requires role 'admin' (code -32003)", True),
        ("[resource hr://logo image/png, 12 bytes]", False),
        ("[resource hr://people/E1]\nAda, engineer.", False),
        ("'uri' must be the URI of a resource.", True),
    ]
    assert [one.mime for one in given[2].media] == ["image/png"]
    # They are no calls of the server's tools, and reads by the model's own reply.
    assert (said.tool_calls, len(said.host_calls)) == ((), 6)
    assert [(one.uri, one.outcome, one.reply) for one in said.resource_reads] == [
        ("hr://handbook", "ok", 2),
        ("hr://salaries", "refused", 2),
        ("hr://logo", "ok", 2),
        ("hr://people/E1", "ok", 2),
    ]
    assert {one[1] for one in await judge(case, said)} == {"passed"}


@pytest.mark.anyio
async def test_what_a_model_left_unread_fails_and_a_breakdown_is_no_refusal() -> None:
    checks = (*checked("must_read", "hr://handbook"), *checked("must_not_read", "hr://*"))
    case = a_case(checks=checks)
    idle, _ = await converse(case, build_spec())
    assert await judge(case, idle) == [
        ("must_read", "failed", "Resource was not read: hr://handbook"),
        ("must_not_read", "passed", ""),
    ]
    broken, _ = await converse(case, build_spec(), read("hr://broken"))
    words = "The server gave no answer for hr://broken: Internal server error (code -32603)"
    assert (await judge(case, broken))[1] == ("must_not_read", "not_judged", words)


@pytest.mark.parametrize(
    ("tools", "search"), [((READ_RESOURCE,), None), (("lend",), ToolSearch(name=LIST_RESOURCES))]
)
def test_a_tool_of_that_name_stands_in_the_way(tools: Any, search: ToolSearch | None) -> None:
    listed = ToolList(tools=tuple(Tool(name=name, input_schema={}) for name in tools))
    variant = Variant(name="v", offer_resources=True, tool_search=search)
    with pytest.raises(UsageError, match="and there is a tool named"):
        ShownTools(variant, listed)


def test_an_agent_reads_resources_itself_so_the_variant_is_refused_for_it() -> None:
    spec = AgentSpec(kind="command", command=("x",))
    agent = ModelSpec(name="own", provider="agent", model_id="", agent=spec)
    with pytest.raises(InvalidInput, match="'offer_resources', which is for models"):
        refuse_clients_habits([(agent, VARIANT)])


def test_a_search_hides_the_servers_tools_and_not_the_hosts() -> None:
    listed = ToolList(tools=(Tool(name="lend", input_schema={}),))
    shown = ShownTools(Variant(name="v", offer_resources=True, tool_search=ToolSearch()), listed)
    assert shown.search is not None
    names = [tool.name for tool in shown.search.list_offered(()).tools]
    assert names == ["tool_search", LIST_RESOURCES, READ_RESOURCE]


def read_handbook(messages: Any, tools: Any) -> Any:
    if messages[-1]["role"] == "tool":
        return messages[-1]["content"]
    return {"tool_calls": [{"name": READ_RESOURCE, "arguments": {"uri": "hr://handbook"}}]}


@pytest.mark.slow
def test_reads_by_a_model_stand_in_the_log_and_in_every_report_of_conversations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    checks = {"must_read": "hr://handbook", "answer_contains": "30 days"}
    suite = SUITE | {
        "variants": {"as_a_host": {"offer_resources": True}},
        "tests": [{"name": "leave", "prompt": "How many days?", "assertions": checks}],
    }
    (tmp_path / "library.yml").write_text(yaml.safe_dump(suite, sort_keys=False))
    report = harness.run("library.yml", model=read_handbook, variant="as_a_host")
    (leave,) = report.results
    assert leave.status == "passed"
    (path,) = tmp_path.rglob("log.jsonl")
    log = read_log(path)
    written, debug = StringIO(), StringIO()
    WRITERS.get("json").write(report, log, written)
    write_transcripts(report, log, debug)
    said = log.read_transcript(leave.key)
    assert said is not None
    assert f'call      {READ_RESOURCE}({{"uri": "hr://handbook"}}) → ok' in debug.getvalue()
    assert any(step.get("tool") == READ_RESOURCE for step in live_steps(said))
    details = json.loads(written.getvalue())["result"]["tests"][0]["details"]
    assert [(one["uri"], one["reply"]) for one in details["resource_reads"]] == [
        ("hr://handbook", 1)
    ]
    assert details["tool_calls"] == []
