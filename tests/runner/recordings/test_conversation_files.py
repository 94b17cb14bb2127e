"""Conversations of a file are judged as a run of them is, and what cannot be judged is told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]

from harness.base.errors import InvalidInput, NothingToRun, UsageError
from harness.reports.telemetry.export import TelemetryRequest, export_log
from harness.runlog import RunLog
from harness.runner import grade_conversations, read_conversations
from harness.runner.recordings.message_forms import build_transcript
from harness.types import ToolCall
from tests.end_to_end.harness_process import Project
from tests.fake_provider import FakeProvider, Incoming, Step, call, say
from tests.reports.telemetry.collector import collector

RECORD = "get_customer_details"
ADMIN = {"role": "admin", "permissions": ["pii:read"]}
USER: dict[str, Any] = {"role": "user", "permissions": []}
ASKED = {"customer_id": "CUST_00019"}
TESTS: list[dict[str, Any]] = [
    {
        "name": "right",
        "prompt": "In which city does CUST_00019 live?",
        "user_context": ADMIN,
        "assertions": {
            "must_succeed": [{"tool": RECORD, "args": ASKED}],
            "tool_result": [{"tool": RECORD, "path": "customer_id", "value": "CUST_00019"}],
            "answer_contains": ["New York"],
            "max_calls": 1,
        },
    },
    {
        "name": "wrong",
        "prompt": "Where does customer CUST_00019 live?",
        "user_context": ADMIN,
        "assertions": {"must_not_call": [RECORD], "answer_contains": ["Paris"]},
    },
    {
        "name": "denied",
        "prompt": "Show the personal data of CUST_00019.",
        "user_context": USER,
        "assertions": {
            "must_be_denied": [RECORD],
            "tool_result_not_contains": ["@example.com"],
        },
    },
    {
        "name": "not_denied",
        "prompt": "Show all personal data of CUST_00019.",
        "user_context": USER,
        "assertions": {"must_succeed": [RECORD]},
    },
    {
        "name": "talk",
        "user_context": ADMIN,
        "turns": [
            {"prompt": "First CUST_00019.", "assertions": {"must_call": [RECORD]}},
            {"prompt": "And now?", "assertions": {"answer_contains": ["Paris"]}},
        ],
        "assertions": {"max_replies": 3},
    },
]
JUDGED = {"right": "passed", "wrong": "failed", "denied": "passed", "not_denied": "failed"} | {
    "talk": "failed"
}


def answer(request: Incoming) -> Step:
    """Call the tool once a conversation, then say New York."""
    if request.turn:
        return say("They live in New York.")
    pii = {"include_pii": True} if "personal" in request.prompt else {}
    return call(RECORD, {**ASKED, **pii})


class Live(NamedTuple):
    """A run, and what was recorded of it."""

    log: RunLog
    project: Project
    spans: list[dict[str, Any]]
    messages: dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Live:
    project = Project(tmp_path_factory.mktemp("project"), {"KEY": "test-key"})
    with FakeProvider(answer) as provider, collector() as sent:
        usual = {"api_key": "${KEY}", "max_retries": 0}
        models = {
            "gpt": {"type": "openai", "model": "gpt-4o", "base_url": f"{provider.url}/v1"},
            "claude": {"type": "claude", "model": "claude-sonnet-4-5", "base_url": provider.url},
        }
        project.configure(models={"models": {name: one | usual for name, one in models.items()}})
        project.suite("shop", TESTS, server="data_governance", isolation="none")
        finished = project.run("evals", "shop", "--model", "gpt", "--model", "claude")
        assert finished.code == 1, finished.stderr
        log = project.log()
        assert export_log(log, TelemetryRequest(endpoint=sent.url, content=True), 20).sent
        spans = [MessageToDict(request) for request in sent.requests]
        journal = provider.journal
    # The last request of each conversation, and the answer to it.
    last: dict[tuple[str, str], dict[str, Any]] = {}
    for request in journal:
        last[request.api, request.prompt] = request.body
    messages: dict[str, list[dict[str, Any]]] = {}
    for (api, _), body in last.items():
        said = {"role": "assistant", "content": "They live in New York."}
        whole = {"model": body["model"], "messages": [*body["messages"], said]}
        messages.setdefault(api, []).append(whole)
    return Live(log, project, spans, messages)


def write(folder: Path, *lines: Mapping[str, Any]) -> Path:
    path = folder / "talks.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def grade(live: Live, path: Path, monkeypatch: pytest.MonkeyPatch) -> RunLog:
    monkeypatch.chdir(live.project.folder)
    return grade_conversations(path, ["shop"], live.project.folder)


def list_verdicts(log: RunLog, model: str | None = None) -> dict[str, Any]:
    return {
        result.case.name: (
            result.status,
            [(check.kind, check.label, check.verdict, check.severity) for check in result.checks],
        )
        for result in log.results
        if model in (None, result.model)
    }


def test_spans_that_were_exported_have_the_verdicts_of_the_run(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = grade(live, write(tmp_path, *live.spans), monkeypatch)
    assert {result.case.name: result.status for result in live.log.results} == JUDGED
    for then, now in (("gpt", "gpt-4o"), ("claude", "claude-sonnet-4-5")):
        assert list_verdicts(log, now) == list_verdicts(live.log, then)


@pytest.mark.parametrize(("api", "model"), [("chat", "gpt"), ("messages", "claude")])
def test_messages_that_a_provider_got_have_the_verdicts_of_the_run(
    live: Live, api: str, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = grade(live, write(tmp_path, *live.messages[api]), monkeypatch)
    assert list_verdicts(log) == list_verdicts(live.log, model)


# ── Which conversation is of which case ──────────────────────────────────────────────────────


def talk(prompt: str, answer: str = "New York", **facts: Any) -> dict[str, Any]:
    said = [{"role": "user", "content": prompt}, {"role": "assistant", "content": answer}]
    return {"messages": said, **facts}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


def judge(project: Project, *lines: Mapping[str, Any]) -> tuple[dict[str, str], RunLog]:
    """Return the status of each case and trial, and the log."""
    log = grade_conversations(write(project.folder, *lines), ["town"], project.folder)
    return {f"{one.case.name} {one.trial}": one.status for one in log.results}, log


def town(*names: str, prompt: str = "Where?", **assertions: Any) -> list[dict[str, Any]]:
    assertions = assertions or {"answer_contains": ["New York"]}
    return [{"name": name, "prompt": prompt, "assertions": assertions} for name in names]


def test_what_belongs_to_no_case_or_two_is_told_and_a_case_without_one_is_an_error(
    project: Project,
) -> None:
    tests = [*town("one"), *town("two", "three", prompt="When?"), *town("four", prompt="Who?")]
    project.suite("town", tests, server="data_governance")
    found, log = judge(
        project,
        talk("Where?"),
        talk("Where?", "Paris"),
        talk("When?"),
        talk("where?"),
        talk("Where?", case="nowhere"),
        talk("When?", metadata={"case": "town::two"}),
        {"messages": 5},
        talk("Where?", id="chatcmpl-7", user_context={"role": "guest"}),
    )
    assert found == {"one 1": "passed", "one 2": "failed", "two 1": "passed"} | {
        "three 1": "error",
        "four 1": "error",
    }
    assert log.footer is not None
    assert log.footer.told == (
        "line 3 is not judged: it may be of town::two or town::three.",
        "line 4 is not judged: no case has its prompt.",
        "line 5 is not judged: no case is named 'nowhere'.",
        "line 7: it has no list of messages.",
        "line 8 is not judged: no case has its prompt.",
    )
    error = next(one.error for one in log.results if one.case.name == "four")
    assert error is not None
    assert error.message == "talks.jsonl has no conversation of this case"


@pytest.mark.parametrize("by", ["messages", "spans"])
def test_a_check_that_a_file_cannot_show_is_not_judged(project: Project, by: str) -> None:
    tests = [
        *town("slow", max_seconds=9),
        *town("policy", decision=[{"tool": "delete_customer", "is": "hidden"}]),
        *town("nested", any_of=[{"must_not_elicit": True}, {"answer_contains": "Paris"}]),
        *town("warned", answer_contains="York", max_seconds={"limit": 9, "severity": "warn"}),
        *town("costly", max_tokens=9),
    ]
    project.suite("town", tests, server="data_governance")
    lines = [talk("Where?", case=test["name"]) for test in tests]
    if by == "spans":
        lines = [
            spans(str(number), chat(line["messages"][:1], line["messages"][1:], case=line["case"]))
            for number, line in enumerate(lines)
        ]
    found, _ = judge(project, *lines)
    assert found == {
        "slow 1": "error",
        "policy 1": "error",
        "nested 1": "error",
        "warned 1": "passed",
        "costly 1": "error",
    }


def test_a_conversation_that_breaks_off_or_differs_from_its_case_is_not_judged(
    project: Project,
) -> None:
    project.suite("town", town("one", "two", must_not_call=["x"]), server="data_governance")
    asked = {"id": "1", "type": "function", "function": {"name": "y", "arguments": "{}"}}
    open_call = [
        {"role": "user", "content": "Where?"},
        {"role": "assistant", "content": None, "tool_calls": [asked]},
    ]
    lines = ({"case": "one", "messages": open_call}, talk("Whence?", case="two"))
    found, log = judge(project, *lines)
    assert found == {"one 1": "error", "two 1": "skipped"}
    assert "has another prompt" in str(log.results[1].skip_reason)


def test_a_trial_under_a_variant_or_a_fault_is_told_and_is_no_repeat_of_its_case(
    project: Project,
) -> None:
    project.suite("town", town("one"), server="data_governance")
    asked, said = talk("Where?")["messages"]
    plain, varied = chat([asked], [said]), chat([asked], [said])
    varied["attributes"].append({"key": "harness.variant", "value": {"stringValue": "terse"}})
    found, log = judge(project, spans("aa", plain), spans("bb", varied))
    assert found == {"one 1": "passed"}
    assert log.footer is not None
    assert log.footer.told == (
        "trace bb is not judged: it ran under variant 'terse': grade that run itself.",
    )


@pytest.mark.parametrize(
    ("arguments", "result", "outcome"),
    [
        ("{", "not sent", "invalid_arguments"),
        ("[1]", None, "invalid_arguments"),
        ("{}", "Error: access denied", "denied"),
        ("", "errors_of_today: 3", "ok"),
        ("{}", None, "timeout"),
    ],
)
def test_a_call_of_openai_ends_as_its_arguments_and_its_result_say(
    arguments: str, result: str | None, outcome: str, tmp_path: Path
) -> None:
    asked, said = talk("Where?")["messages"]
    requested = {"id": "1", "type": "function", "function": {"name": "y", "arguments": arguments}}
    messages = [asked, {"role": "assistant", "content": None, "tool_calls": [requested]}]
    if result is not None:
        messages.append({"role": "tool", "tool_call_id": "1", "content": result})
    (one,) = read_conversations(write(tmp_path, {"messages": [*messages, said]}))
    assert one.transcript is not None
    assert [made.outcome for made in one.transcript.tool_calls] == [outcome]


def test_a_file_needs_a_suite_and_a_conversation_of_it(project: Project) -> None:
    project.suite("town", town("one"), server="data_governance")
    path = write(project.folder, talk("Why?"))
    with pytest.raises(UsageError, match="names no suite"):
        grade_conversations(path, [], project.folder)
    with pytest.raises(NothingToRun, match="line 1 is not judged: no case has its prompt"):
        grade_conversations(path, ["town"], project.folder)
    path.write_text(path.read_text("utf-8") + "{\n", "utf-8")
    with pytest.raises(InvalidInput, match=r"talks\.jsonl:2"):
        grade_conversations(path, ["town"], project.folder)


def test_the_command_tells_what_it_left_out_and_judges_the_log_again(project: Project) -> None:
    project.suite("town", town("one"), server="data_governance")
    write(project.folder, talk("Where?"), talk("Why?"))
    first = project.run("grade", "talks.jsonl", "town")
    assert first.code == 0, first.stderr
    assert "Warning: line 2 is not judged: no case has its prompt." in first.stderr
    project.suite("town", town("one", answer_contains=["Paris"]), server="data_governance")
    assert project.run("grade", "latest").code == 1


# ── Spans ────────────────────────────────────────────────────────────────────────────────────


def encode(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case str():
            return {"stringValue": value}
        case list():
            return {"arrayValue": {"values": [encode(one) for one in value]}}
    pairs = [{"key": key, "value": encode(one)} for key, one in value.items()]
    return {"kvlistValue": {"values": pairs}}


def span(name: str, at: int, parent: str = "", error: str = "", **facts: Any) -> dict[str, Any]:
    """Return a span from second ``at`` to the next; ``__`` in a fact's name is a dot."""
    pairs = {key.replace("__", "."): value for key, value in facts.items()}
    if error:
        pairs["error.type"] = error
    return {
        "spanId": f"{name} {at}",
        "parentSpanId": parent,
        "name": name,
        "startTimeUnixNano": str(at * 10**9),
        "endTimeUnixNano": str((at + 1) * 10**9),
        "attributes": [{"key": key, "value": encode(one)} for key, one in pairs.items()],
        "status": {"code": 2} if error else {},
    }


def chat(asked: Any, said: Any, at: int = 0, case: str = "one") -> dict[str, Any]:
    """Return a request to a model; the messages are in the form of the conventions."""
    parts = [
        [
            {"role": one["role"], "parts": [{"type": "text", "content": one["content"]}]}
            for one in many
        ]
        for many in (asked, said)
    ]
    return span(
        "chat",
        at,
        gen_ai__operation__name="chat",
        gen_ai__input__messages=json.dumps(parts[0]),
        gen_ai__output__messages=parts[1],
        test__case__name=case,
    )


def mcp(tool: str, at: int, parent: str = "", error: str = "", **facts: Any) -> dict[str, Any]:
    names = {"mcp__method__name": "tools/call", "gen_ai__tool__name": tool}
    given = {f"gen_ai__tool__call__{key}": value for key, value in facts.items()}
    return span(f"tools/call {tool}", at, parent, error, **names, **given)


def spans(trace: str, *several: dict[str, Any]) -> dict[str, Any]:
    own = [{"traceId": trace, **one} for one in several]
    return {"resourceSpans": [{"scopeSpans": [{"spans": own}]}]}


def read_calls(folder: Path, *several: dict[str, Any]) -> tuple[ToolCall, ...]:
    asked, said = talk("Where is 7?")["messages"]
    (one,) = read_conversations(write(folder, spans("aa", *several, chat([asked], [said], 90))))
    assert one.transcript is not None
    return one.transcript.tool_calls


def test_calls_known_from_mcp_spans_alone_are_those_of_the_conversation(tmp_path: Path) -> None:
    result = {"content": [{"type": "text", "text": "no 7"}], "isError": True}
    first, second, third, fourth = read_calls(
        tmp_path,
        mcp("find", 1, arguments='{"id": 7}', result="found"),
        mcp("mcp__shop__get", 2, arguments={"id": 7, "deep": [True]}, result=result),
        mcp("put", 3, error="tool_error", arguments={}, result="Access denied: admins only"),
        mcp("wait", 4, arguments={}),
        span("tools/list", 5, mcp__method__name="tools/list"),
    )
    assert (first.tool, first.arguments, first.outcome, first.text) == (
        "find",
        {"id": 7},
        "ok",
        "found",
    )
    assert (second.tool, second.arguments) == ("get", {"id": 7, "deep": [True]})
    assert (second.outcome, second.text) == ("tool_error", "no 7")
    assert third.outcome == "denied"
    # Nobody knows what came of it, so a trial with it has no verdict.
    assert fourth.is_unanswered


def test_the_spans_of_one_call_are_one_call_and_two_calls_are_two(tmp_path: Path) -> None:
    outer = span(
        "execute_tool find", 1, gen_ai__operation__name="execute_tool", gen_ai__tool__name="find"
    )
    calls = read_calls(
        tmp_path,
        outer,
        mcp("find", 2, outer["spanId"], arguments={"id": 7}),
        mcp("find", 3, "tools/call find 2", error="-32603"),
        mcp("find", 5, arguments={"id": 7}, result="a"),
        mcp("find", 6, "tools/call find 5", arguments={"id": 8}, result="b"),
    )
    assert [(one.arguments["id"], one.outcome) for one in calls] == [
        (7, "tool_error"),
        (7, "ok"),
        (8, "ok"),
    ]


def test_a_call_of_the_messages_is_not_counted_again_for_its_span(tmp_path: Path) -> None:
    requested = {"type": "tool_call", "id": "c1", "name": "find", "arguments": {"id": 7}}
    asked = [
        {"role": "user", "parts": [{"type": "text", "content": "Where is 7?"}]},
        {"role": "assistant", "parts": [requested]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "gone"}]},
    ]
    said = [{"role": "assistant", "parts": [{"type": "text", "content": "Gone."}]}]
    texts: dict[str, Any] = {"gen_ai__input__messages": asked, "gen_ai__output__messages": said}
    lines = spans(
        "aa",
        mcp("find", 1, error="tool_error"),
        span("chat", 2, gen_ai__operation__name="chat", **texts),
        mcp("other", 3),
    )
    (one,) = read_conversations(write(tmp_path, lines))
    assert one.transcript is not None
    assert [(made.tool, made.outcome) for made in one.transcript.tool_calls] == [
        ("find", "tool_error"),
        ("other", "timeout"),
    ]
    # What the other call was given is not known: no check of arguments could be judged.
    assert one.transcript.error is not None
    assert "the arguments of other" in one.transcript.error.message


def test_calls_without_words_and_other_conversations_of_a_trace_are_told(tmp_path: Path) -> None:
    asked, said = talk("Where?")["messages"]
    helper, done = talk("Summarise.")["messages"]
    path = write(
        tmp_path,
        spans("aa", mcp("find", 1, arguments={}, result="a")),
        spans("bb", chat([asked, said, asked], [said]), chat([helper], [done], 3)),
    )
    assert [(one.place, one.problem) for one in read_conversations(path)] == [
        ("trace aa", "its spans have 1 call, and not what was said"),
        ("trace bb", "without 1 request of another conversation in its trace"),
    ]


@pytest.mark.parametrize("key", ["stringValue", "arrayValue", "kvlistValue", "intValue", "other"])
@pytest.mark.parametrize("value", ["x", "9" * 5_000, [], {}, {"values": [5]}, None, 1e999])
def test_no_value_of_an_attribute_is_a_traceback(key: str, value: Any, tmp_path: Path) -> None:
    odd: Any = {key: value}
    for _ in range(200):
        odd = {"arrayValue": {"values": [odd]}}
    names = ("gen_ai.input.messages", "gen_ai.tool.name", "mcp.method.name", "gen_ai.tool.call.id")
    attributes = [{"key": name, "value": one} for name in names for one in (odd, {key: value})]
    one = {"traceId": 5, "spanId": [], "attributes": attributes, "startTimeUnixNano": value}
    call = mcp("find", 1, arguments=[], result=[])
    call["attributes"] += attributes
    asked, said = talk("Where?")["messages"]
    path = write(tmp_path, spans("aa", one, call, chat([asked], [said])))
    text = path.read_text("utf-8").replace("Infinity", "9e99")
    path.write_text(text, "utf-8")
    assert read_conversations(path)


@pytest.mark.parametrize("given", ['{"a": 1e999}', '{"a": NaN}', '{"a": "\\ud800"}'])
def test_recorded_arguments_that_json_cannot_hold_are_bounded_as_everywhere(given: str) -> None:
    asked = {"id": "1", "function": {"name": "find", "arguments": given}}
    (made,) = build_transcript([{"role": "assistant", "tool_calls": [asked]}]).tool_calls
    written = json.dumps(dict(made.arguments), allow_nan=False, ensure_ascii=False)
    assert written.encode().startswith(b'{"a": ')
