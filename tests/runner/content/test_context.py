"""``context:``: resources of a server in the first message, over each transport and in each era."""

from __future__ import annotations

import json
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

import harness
from harness.judging import evaluate_checks
from harness.judging.checks import VOCABULARY
from harness.judging.checks.kind import Evidence
from harness.judging.log_judging import build_view
from harness.judging.policy.leaks import find_leaks
from harness.judging.policy.views import View
from harness.judging.trial_checks import unseen_warnings
from harness.reports.formats.html_report.detail import live_steps
from harness.reports.formats.transcripts import write_transcripts
from harness.reports.writers import WRITERS
from harness.runlog import read_log
from harness.runner.content.given_content import ResultForm
from harness.runner.model_conversation import ModelConversation
from harness.sessions import open_sessions
from harness.types import (
    AgentFacts,
    Caller,
    Case,
    CaseFacts,
    JsonObject,
    Limits,
    ResourceRead,
    ServerSpec,
    ToolCall,
    ToolList,
    Transcript,
    TransportSpec,
    TrialResult,
    UserMessage,
)
from tests.clock import BOUND_S
from tests.support import ScriptedModel, a_case, says

SERVER = str(Path(__file__).with_name("library_server.py"))
PLACES = {"http": "http://127.0.0.1:{port}/mcp", "sse": "http://127.0.0.1:{port}/sse"}
ALL = ("hr://handbook", "hr://salaries", "hr://logo", "hr://archive")
WAYS = pytest.mark.parametrize(
    ("over", "protocol"),
    [
        ("stdio", "auto"),
        pytest.param("stdio", "legacy", marks=pytest.mark.slow),
        pytest.param("http", "auto", marks=pytest.mark.slow),
        pytest.param("http", "legacy", marks=pytest.mark.slow),
        pytest.param("sse", "legacy", marks=pytest.mark.slow),
    ],
)


def build_spec(over: str = "stdio", protocol: Any = "auto") -> ServerSpec:
    place: dict[str, Any] = {} if over == "stdio" else {"kind": over, "url": PLACES[over]}
    env = {} if over == "stdio" else {"PORT": "{port}", "OVER": over}
    start = TransportSpec(
        command=sys.executable, args=(SERVER,), env=env, protocol=protocol, **place
    )
    return ServerSpec(name="library", transport=start, call_timeout_s=10)


def checked(kind: str, value: Any) -> Any:
    return [check for _, check in VOCABULARY.parse(kind, value)]


async def converse(
    cases: list[tuple[Case, str]], spec: ServerSpec, takes: Any = ("image",)
) -> list[tuple[Transcript, ScriptedModel]]:
    """Return what became of each case as a user of that role, and its model."""
    done = []
    with anyio.fail_after(BOUND_S):
        async with open_sessions() as pool:
            for case, role in cases:
                async with pool.lend_session(spec, {"role": role}) as session:
                    model = ScriptedModel(says("done"))
                    conversation = ModelConversation(
                        case, model, session, results=ResultForm(takes=takes)
                    )
                    await conversation.run()
                    done.append((conversation.build_transcript(), model))
    return done


async def judge(case: Case, said: Transcript) -> list[tuple[str, str, str]]:
    results = await evaluate_checks(Evidence(case=case, transcript=said, tools=ToolList(tools=())))
    return [(one.kind, one.verdict, one.explanation.partition("\n")[0]) for one in results]


def reading(*uris: str) -> Caller:
    """Return a caller for whom these resources are read."""
    return Caller(context=uris)


@WAYS
@pytest.mark.anyio
async def test_the_resources_of_a_test_are_read_as_its_user_and_judged(
    over: str, protocol: str
) -> None:
    checks = [
        *checked("must_read", ["hr://handbook", "hr://lo*"]),
        *checked("must_not_read", "hr://sal*"),
        *checked("resource_contains", [{"uri": "hr://hand*", "text": "30 days"}, "123456"]),
    ]
    case = a_case(caller=reading(*ALL), checks=tuple(checks))
    plain = a_case(caller=reading("hr://handbook", "hr://salaries"))
    (guest, model), (admin, _), (unasked, silent) = await converse(
        [(case, "guest"), (case, "admin"), (plain, "guest")], build_spec(over, protocol)
    )
    # What the model read, and what the record keeps apart from the user's own words.
    (first,) = (one for one in model.asked[0] if isinstance(one, UserMessage))
    assert first.text == (
        f"{case.prompt}\n\n[resource hr://handbook]\nLeave: 30 days.\n\n"
        "[resource hr://salaries could not be read: Access denied: requires role 'admin' "
        "(code -32003)]\n\n[resource hr://logo image/png, 12 bytes]\n\n"
        "[resource hr://archive application/zip, 12 bytes]"
    )
    assert [(one.mime, one.given) for one in first.media] == [
        ("image/png", True),
        ("application/zip", False),
    ]
    (kept_apart,) = (one for one in guest.messages if isinstance(one, UserMessage))
    assert kept_apart.text == case.prompt
    assert [read.outcome for read in guest.resource_reads] == ["ok", "refused", "ok", "ok"]
    assert not guest.tool_calls
    assert len([*unseen_warnings(guest)]) == 1
    assert await judge(case, guest) == [
        ("must_read", "passed", ""),
        ("must_read", "passed", ""),
        ("must_not_read", "passed", ""),
        ("resource_contains", "passed", ""),
        ("resource_contains", "not_judged", "Only a part of hr://logo was kept as text"),
    ]
    found = {kind: (verdict, why) for kind, verdict, why in await judge(case, admin)}
    assert found["must_not_read"] == ("failed", "Resource was read that must not be: hr://sal*")
    assert found["resource_contains"] == ("passed", "")
    # Without a check that asks for the refusal, it is the server's error, and no model is asked.
    assert unasked.error is not None
    assert (unasked.stop, unasked.error.kind, silent.asked) == ("error", "server", [])
    assert "hr://salaries could not be read: Access denied" in unasked.error.message
    assert [read.outcome for read in unasked.resource_reads] == ["ok", "refused"]


@pytest.mark.anyio
async def test_a_breakdown_is_no_refusal_and_a_late_answer_is_the_servers() -> None:
    checks = tuple(checked("must_not_read", "*"))
    broken = a_case(caller=reading("hr://broken"), checks=checks)
    slow = a_case(caller=reading("hr://slow"), checks=checks, limits=Limits(timeout_s=0.3))
    (one, _), (late, _) = await converse([(broken, "guest"), (slow, "guest")], build_spec())
    assert one.error is not None
    assert (one.error.kind, one.resource_reads[0].outcome) == ("server", "failed")
    assert late.error is not None
    assert (late.error.kind, late.error.message) == (
        "server",
        "the server did not give the resource hr://slow within the case's 0.3 s",
    )


def build_view_of(role: str, seen: JsonObject, *reads: ResourceRead) -> View:
    call = ToolCall(
        tool="get_pay", arguments={"id": "E1"}, outcome="ok", reply=1, text="", structured=seen
    )
    said = Transcript(messages=(UserMessage(text="Hi", reads=reads),), tool_calls=(call,))
    facts = CaseFacts(name="c", identity=role, group="c", user_context={"role": role})
    result = TrialResult(key=role, suite="s", case=facts, model="m", trial=1, status="passed")
    return build_view(result, said, {}, {})


def test_a_withheld_value_that_a_resource_gives_away_is_a_leak() -> None:
    address = "ada.lovelace@corp.example"
    read = ResourceRead(uri="hr://pay", text=f"[resource hr://pay]\nWrite to {address}.")
    admin = build_view_of("admin", {"id": "E1", "email": address})
    (leak,) = find_leaks([admin, build_view_of("guest", {"id": "E1"}, read)])
    assert (leak.identity, leak.place) == ("guest", "the resource hr://pay")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (Transcript(), "Nothing reads resources in this test"),
        (Transcript(agent=AgentFacts()), "What an agent reads is not recorded"),
    ],
)
def test_what_was_not_read_or_not_recorded_is_not_judged(said: Transcript, why: str) -> None:
    checks = (*checked("must_read", "a:b"), *checked("must_not_read", "a:b"))
    assert anyio.run(judge, a_case(checks=checks), said) == [
        ("must_read", "not_judged", why),
        ("must_not_read", "not_judged", why),
    ]


def test_a_resource_that_the_test_does_not_name_was_not_read() -> None:
    said = Transcript(messages=(UserMessage(text="Hi", reads=(ResourceRead(uri="a:b"),)),))
    case = a_case(checks=tuple(checked("must_read", ["a:c", "a:*"])))
    assert anyio.run(judge, case, said) == [
        ("must_read", "failed", "Resource was not read: a:c"),
        ("must_read", "passed", ""),
    ]


SUITE = {
    "suite": "library",
    "server": {"command": sys.executable, "args": [SERVER]},
    "tests": [
        {
            "name": "leave",
            "prompt": "How many days of leave are there?",
            "context": ["hr://handbook", "hr://salaries", "hr://logo"],
            "user_context": {"role": "guest"},
            "assertions": {"must_read": "hr://handbook", "must_not_read": "hr://salaries"},
        },
        {
            "name": "gone",
            "prompt": "What is in it?",
            "context": ["hr://gone"],
            "assertions": {"must_read": "hr://gone"},
        },
    ],
}


@pytest.mark.slow
def test_reads_stand_in_the_log_and_in_every_report_of_conversations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "library.yml").write_text(yaml.safe_dump(SUITE, sort_keys=False))
    report = harness.run("library.yml", model="lexical")
    leave, gone = report.results
    assert (leave.status, gone.status) == ("passed", "error")
    assert gone.error is not None
    assert "hr://gone could not be read: there is no hr://gone" in gone.error.message
    (path,) = tmp_path.rglob("log.jsonl")
    log = read_log(path)
    written, debug = StringIO(), StringIO()
    WRITERS.get("json").write(report, log, written)
    write_transcripts(report, log, debug)
    said = log.read_transcript(leave.key)
    assert said is not None
    line = "hr://salaries for the test → refused"
    assert f"resource  {line}\n    Access denied" in debug.getvalue()
    assert any(
        f"The resource {line}" in step["text"] for step in live_steps(said) if "text" in step
    )
    reads = json.loads(written.getvalue())["result"]["tests"][0]["details"]["resource_reads"]
    assert [(one["uri"], one["outcome"]) for one in reads][:2] == [
        ("hr://handbook", "ok"),
        ("hr://salaries", "refused"),
    ]
