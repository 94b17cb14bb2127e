"""Servers that misbehave in a call: the right outcome, in bounded time, and the session goes on."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from harness.base.json_text import digest_json
from harness.sessions import tool_list
from harness.sessions.pool import open_sessions
from harness.sessions.processes import process
from harness.sessions.result_content import TEXT_CHARS
from harness.sessions.session import Session
from harness.sessions.transports import stdio
from harness.types import ToolCall, ToolRequest
from tests.clock import BOUND_S, PATIENT_S, clock_goes_forward
from tests.often import often
from tests.sessions.servers import ServerFactory, alive, call, calls_until_answered

pytestmark = pytest.mark.anyio


@pytest.fixture
async def session(server: ServerFactory) -> AsyncIterator[Session]:
    async with (
        open_sessions() as pool,
        pool.lend_session(server("ok"), None) as opened,
    ):
        yield opened


@pytest.fixture
async def hasty(server: ServerFactory) -> AsyncIterator[Session]:
    """Open a session whose calls are soon given up."""
    async with (
        open_sessions() as pool,
        pool.lend_session(server("ok", call_timeout_s=0.2), None) as opened,
    ):
        yield opened


async def test_a_call_is_recorded_as_sent_and_as_answered(session: Session) -> None:
    epoch = anyio.current_time() - 5
    request = ToolRequest(id="toolu_1", tool="echo", arguments={"n": 1})
    before = anyio.current_time()
    made = await session.call(request, reply=3, epoch=epoch)
    after = anyio.current_time()
    assert (made.tool, made.arguments, made.outcome, made.reply) == ("echo", {"n": 1}, "ok", 3)
    assert (made.request_id, made.text, made.is_error) == ("toolu_1", '{"n": 1}', False)
    assert before <= epoch + made.started_s <= after
    assert 0 < made.duration_s <= after - before
    assert made.result_bytes == len(
        '{"content":[{"type":"text","text":"{\\"n\\": 1}"}],"structuredContent":{"meta":null}}'
    )
    assert made.result_sha256 is None


async def test_a_call_without_answer_times_out_and_the_session_stays_usable(
    hasty: Session,
) -> None:
    made = await call(hasty, "wait")
    assert (made.outcome, made.text) == ("timeout", "no answer within 0.2 s")
    assert made.duration_s > 0.15
    assert await calls_until_answered(hasty)
    assert hasty.loss_reason is None


async def test_a_session_outlives_the_time_it_had_to_start(server: ServerFactory) -> None:
    async with open_sessions() as pool, pool.lend_session(server("ok"), None) as session:
        clock_goes_forward(2 * PATIENT_S)
        await anyio.wait_all_tasks_blocked()
        assert (await call(session, "echo")).outcome == "ok"


async def test_a_call_is_recorded_even_when_the_deadline_of_the_trial_ends_it(
    server: ServerFactory,
) -> None:
    async with open_sessions() as pool, pool.lend_session(server("ok"), None) as session:
        with anyio.fail_after(0.1):
            made = await session.call(ToolRequest(id="1", tool="wait"), reply=1, epoch=0)
    assert made.outcome == "timeout"


async def test_a_crash_answers_all_pending_calls_at_once(session: Session) -> None:
    made: list[ToolCall] = []

    async def one(tool: str) -> None:
        made.append(await call(session, tool))

    with anyio.fail_after(BOUND_S):
        async with anyio.create_task_group() as tasks:
            for _ in range(50):
                tasks.start_soon(one, "wait")
            tasks.start_soon(one, "crash")
    assert {record.outcome for record in made} == {"server_lost"}
    assert len(made) == 51
    assert (
        made[0].text
        == "server 'ok' exited with code 7; its last words: Segmentation fault (not really)"
    )
    assert session.loss_reason == made[0].text
    assert session.stderr_tail() == "Segmentation fault (not really)"
    assert (await call(session, "echo")).outcome == "server_lost"


async def test_a_server_that_closes_its_stdout_is_lost(
    server: ServerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "OBITUARY_S", 0.1)
    async with (
        open_sessions() as pool,
        pool.lend_session(server("ok", call_timeout_s=PATIENT_S), None) as session,
    ):
        made = await call(session, "close_stdout")
    assert (made.outcome, made.text) == (
        "server_lost",
        "server 'ok' closed its stdin or stdout while still running",
    )


async def test_a_server_that_closes_its_stdin_is_lost_with_the_next_call(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "OBITUARY_S", 0.1)
    assert (await call(session, "no_more_input")).outcome == "ok"
    made = await call(session, "echo")
    assert (made.outcome, made.text) == (
        "server_lost",
        "server 'ok' closed its stdin or stdout while still running",
    )
    assert session.loss_reason == made.text


async def test_lines_that_are_not_mcp_are_skipped(session: Session) -> None:
    assert (await call(session, "noise")).outcome == "ok"


@pytest.mark.parametrize(
    ("tool", "outcome", "words"),
    [
        ("lost_in_noise", "timeout", "found 3 rows {"),
        ("noise_and_crash", "server_lost", "Traceback on stdout"),
    ],
)
async def test_what_a_call_without_an_answer_wrote_in_place_of_mcp_is_quoted(
    server: ServerFactory, tool: str, outcome: str, words: str
) -> None:
    spec = server("ok", call_timeout_s=1.0 if outcome == "timeout" else PATIENT_S)
    async with open_sessions() as pool, pool.lend_session(spec, None) as session:
        await call(session, "noise")  # of an earlier call: not this one's fault
        made = await call(session, tool)
    assert made.outcome == outcome
    assert f"; on stdout it wrote text that is not MCP: {words}" in made.text
    assert "Listening" not in made.text


async def test_endless_output_without_a_newline_is_cut_off(
    server: ServerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "MAX_MESSAGE_BYTES", 8_000_000)
    async with (
        open_sessions() as pool,
        pool.lend_session(server("ok", call_timeout_s=PATIENT_S), None) as session,
    ):
        made = await call(session, "flood")
    assert made.outcome == "server_lost"
    assert "wrote more than 8 MB to stdout without a line end" in made.text


async def test_bytes_that_are_not_utf8_cost_only_themselves(session: Session) -> None:
    assert (await call(session, "latin")).text == "caf\ufffd"


async def test_a_lone_surrogate_costs_only_itself(session: Session) -> None:
    assert (await call(session, "surrogate")).text == "a\ufffdb"


async def test_a_number_that_json_does_not_have_becomes_its_name(session: Session) -> None:
    assert (await call(session, "nan")).structured == {"mean": "NaN"}


@pytest.mark.parametrize("levels", [101, 300, 1_000, 100_000])
async def test_a_result_that_nests_too_deeply_is_an_answer_of_which_a_part_is_read(
    session: Session, levels: int
) -> None:
    made = await call(session, "deep", {"levels": levels})
    assert (made.outcome, made.text, made.structured, made.output_errors) == (
        "ok",
        "deep",
        None,
        (),
    )
    assert made.cut == "of structuredContent: it nests deeper than 100 levels"
    assert made.result_sha256 is not None
    assert (await call(session, "echo")).outcome == "ok"


async def test_a_result_of_100_levels_is_kept_whole(session: Session) -> None:
    made = await call(session, "deep", {"levels": 100})
    assert json.dumps(made.structured).count("{") == 100
    assert (made.cut, made.result_sha256) == (None, None)


async def test_what_is_not_read_still_tells_two_results_apart(session: Session) -> None:
    made = [await call(session, "deep", {"levels": levels}) for levels in (300, 300, 301)]
    assert made[0].result_sha256 == made[1].result_sha256 != made[2].result_sha256


async def test_a_text_of_deep_json_is_passed_on_whole_and_marked(session: Session) -> None:
    made = await call(session, "deep_text", {"levels": 1_000})
    assert made.text.count("{") == 1_000
    assert made.cut == "of the text: it is JSON that nests deeper than 100 levels"


async def test_an_integer_beyond_every_float_is_kept_and_one_beyond_python_is_told(
    session: Session,
) -> None:
    made = await call(session, "huge")
    assert made.outcome == "ok"
    assert made.structured is None
    assert made.cut is not None
    assert "a number of 5,001 digits, 10000000000000000000…" in made.cut
    assert str(10**400) in made.text


async def test_a_batch_is_taken_apart(session: Session) -> None:
    assert (await call(session, "batch")).text == "from a batch"


async def test_a_null_result_is_no_result_and_told_at_once(session: Session) -> None:
    made = await call(session, "null")
    assert made.outcome == "invalid_result"
    assert (
        made.text == "the server's answer is not a JSON-RPC 2.0 answer: "
        '{"jsonrpc": "2.0", "result": null}'
    )


async def test_an_answer_under_a_wrong_id_is_no_answer(hasty: Session) -> None:
    assert (await call(hasty, "wrong_id")).outcome == "timeout"
    assert await calls_until_answered(hasty)


async def test_a_result_of_20_mb_is_cut_with_a_notice(server: ServerFactory) -> None:
    async with open_sessions() as pool, pool.lend_session(server("ok"), None) as session:
        with anyio.fail_after(BOUND_S):
            made = await call(session, "big")
    whole = {"content": [{"type": "text", "text": "x" * 20_000_000}]}
    assert made.outcome == "ok"
    assert made.result_bytes == 20_000_000 + len('{"content":[{"type":"text","text":""}]}')
    assert made.result_sha256 == digest_json(whole)
    notice = (
        f"\n[… cut by harness: {made.result_bytes:,} bytes in all, sha256 {made.result_sha256}]"
    )
    assert made.text == "x" * TEXT_CHARS + notice


async def test_large_structured_content_is_dropped_and_hashed(server: ServerFactory) -> None:
    async with open_sessions() as pool, pool.lend_session(server("ok"), None) as session:
        made = await call(session, "rows")
    assert made.structured is None
    assert made.text == "see the rows"
    assert made.result_sha256 is not None
    assert made.output_errors == ()
    assert made.not_validated == ("result not validated: it is larger than 1,000,000 bytes",)


async def test_what_is_not_text_becomes_a_placeholder(session: Session) -> None:
    made = await call(session, "pieces")
    assert made.text.splitlines() == [
        "one",
        "[image image/png, 12 kB]",
        "[resource link a.txt file:///a.txt]",
        "[resource file:///b.txt]",
        "the note",
    ]
    assert (made.outcome, made.output_errors) == ("ok", ())
    assert made.result_sha256 is not None
    assert made.unseen == ("image image/png, 12 kB",)


@pytest.mark.parametrize(
    ("result", "problem"),
    often(
        [
            ({}, "it has no content"),
            ({"content": None}, "its content is not a list: null"),
            ({"content": "not a list"}, 'its content is not a list: "not a list"'),
            (
                {"content": {"type": "text", "text": "x"}},
                'its content is not a list: {"type":"text","text":"x"}',
            ),
            (
                {"content": [{"type": "odd"}]},
                'it contains a content block of an unknown kind: {"type":"odd"}',
            ),
            (
                {"content": [{"type": "text", "text": 5}]},
                "it contains a content block of an unknown kind",
            ),
            ({"content": [5]}, "it contains a content block of an unknown kind: 5"),
            ({"content": [], "isError": "true"}, 'its isError is neither true nor false: "true"'),
            ({"content": [], "isError": 0}, "its isError is neither true nor false: 0"),
            ({"content": [], "resultType": "task"}, 'its resultType is unknown: "task"'),
            (
                {"content": [], "resultType": ["complete"]},
                'its resultType is unknown: ["complete"]',
            ),
            (
                {"content": [], "structuredContent": {"n": 1}, "isError": {}},
                "its isError is neither true nor false: {}",
            ),
        ],
        4,
    ),
)
async def test_what_is_no_result_of_mcp_is_an_outcome_of_its_own(
    session: Session, result: dict[str, Any], problem: str
) -> None:
    made = await call(session, "answer_with", {"result": result})
    assert (made.outcome, made.is_error, made.is_unanswered) == ("invalid_result", True, True)
    assert made.text.startswith(f"the server's answer is not a valid MCP result: {problem}")
    assert made.output_errors[0].startswith(problem)
    assert (await call(session, "echo")).outcome == "ok"


@pytest.mark.parametrize(
    "result",
    [
        {"content": [], "isError": None},
        {"content": [], "structuredContent": None, "resultType": "complete"},
        {"structuredContent": {"n": 1}},
        {
            "content": [{"type": "text", "text": "x", "annotations": {"priority": 1}}],
            "_meta": {"a": 1},
            "more": [],
        },
    ],
)
async def test_what_official_clients_take_for_a_result_is_one(
    session: Session, result: dict[str, Any]
) -> None:
    assert (await call(session, "answer_with", {"result": result})).outcome == "ok"


async def test_an_error_of_the_servers_own_is_never_taken_for_a_missing_answer(
    session: Session,
) -> None:
    made = await call(session, "invalid_request")
    assert (made.outcome, made.error_code, made.is_unanswered) == ("tool_error", -32600, False)


async def test_an_output_that_breaks_its_schema_is_recorded_and_not_raised(
    session: Session,
) -> None:
    made = await call(session, "liar")
    assert (made.outcome, made.structured) == ("ok", {"n": "three"})
    assert made.output_errors == ("at 'n': 'three' is not of type 'integer'",)


async def test_what_a_server_says_of_its_own_result_is_told_from_what_it_says_of_arguments(
    session: Session,
) -> None:
    text = "1 validation error for Echo\n{}\n  Input should be a number [type=float_type]"
    outcomes = []
    for name in ("balance", "result", "below"):
        said = {"content": [{"type": "text", "text": text.format(name)}], "isError": True}
        made = await call(session, "answer_with", {"result": said, "more": [{"below": 1}]})
        outcomes.append(made.outcome)
    assert outcomes == ["tool_error", "invalid_arguments", "invalid_arguments"]


async def test_a_missing_structured_result_is_recorded(session: Session) -> None:
    made = await call(session, "silent_liar")
    assert made.output_errors == (
        "the tool has an outputSchema, but its result has no structuredContent",
    )


async def test_arguments_are_checked_for_the_record_and_sent_all_the_same(session: Session) -> None:
    made = await call(session, "echo", {"n": "one"})
    assert (made.outcome, made.text) == ("ok", '{"n": "one"}')
    assert made.argument_errors == ("at 'n': 'one' is not of type 'integer'",)


async def test_a_missing_tool_is_recorded_as_unknown(session: Session) -> None:
    made = await call(session, "no_such_tool")
    assert (made.outcome, made.error_code, made.text) == (
        "unknown_tool",
        -32602,
        "Unknown tool: no_such_tool",
    )


async def test_a_refusal_in_a_result_is_told_from_one_in_an_error(session: Session) -> None:
    in_result, in_error = await call(session, "deny"), await call(session, "deny_by_code")
    assert (in_result.outcome, in_result.refusal, in_result.error_code) == (
        "denied",
        "tool_error",
        None,
    )
    assert (in_error.outcome, in_error.refusal, in_error.error_code) == (
        "denied",
        "protocol_error",
        -32001,
    )
    assert in_error.text == 'Unauthorized: {"required": "admin"}'


async def test_an_ordinary_error_is_no_refusal(session: Session) -> None:
    made = await call(session, "broken_file")
    assert (made.outcome, made.refusal) == ("tool_error", None)


async def test_a_question_back_is_declined(session: Session) -> None:
    made = await call(session, "ask")
    assert made.outcome == "tool_error"
    assert made.text == "the server asks for more input (age), which harness cannot give"


async def test_malformed_arguments_are_not_sent(session: Session) -> None:
    made = await session.call(
        ToolRequest(id="1", tool="crash", malformed='{"n": '), reply=1, epoch=0
    )
    assert (made.outcome, made.text) == (
        "invalid_arguments",
        'the arguments are not a JSON object: {"n": ',
    )
    assert session.loss_reason is None


async def test_arguments_that_nest_too_deeply_are_not_sent_and_say_why(session: Session) -> None:
    deep = '{"a":' * 300 + "1" + "}" * 300
    of_a_model = await session.call(
        ToolRequest(id="1", tool="crash", malformed=deep), reply=1, epoch=0
    )
    of_a_plugin = await call(session, "crash", json.loads(deep))
    for made in (of_a_model, of_a_plugin):
        assert made.outcome == "invalid_arguments"
        assert made.text.startswith(
            "harness did not send the arguments: it nests deeper than 100 levels"
        )
    assert session.loss_reason is None


@pytest.mark.parametrize("value", ["\ud800", float("nan"), float("inf")])
async def test_arguments_that_json_cannot_carry_are_not_sent(
    session: Session, value: object
) -> None:
    made = await call(session, "crash", {"value": value})
    assert made.outcome == "invalid_arguments"
    assert "cannot be written as JSON" in made.text
    assert session.loss_reason is None


async def test_a_blocked_tool_is_not_called(server: ServerFactory) -> None:
    async with (
        open_sessions() as pool,
        pool.lend_session(server("ok", block=("crash",)), None) as session,
    ):
        made = await call(session, "crash")
        assert (made.outcome, made.duration_s, session.loss_reason) == ("blocked", 0, None)
        assert (
            made.text
            == "harness did not send this call: the tool 'crash' is blocked for this suite"
        )


async def test_read_only_lets_only_marked_tools_through(server: ServerFactory) -> None:
    async with (
        open_sessions() as pool,
        pool.lend_session(server("ok", read_only=True), None) as session,
    ):
        assert (await call(session, "echo")).outcome == "ok"
        assert (await call(session, "crash")).outcome == "blocked"
        assert (await call(session, "no_such_tool")).outcome == "blocked"
        assert session.loss_reason is None


@pytest.mark.slow
async def test_500_calls_at_once_each_get_their_own_answer(server: ServerFactory) -> None:
    made: dict[int, ToolCall] = {}

    async with open_sessions() as pool, pool.lend_session(server("ok"), None) as session:

        async def one(number: int) -> None:
            made[number] = await call(session, "echo", {"n": number})

        async with anyio.create_task_group() as tasks:
            for number in range(500):
                tasks.start_soon(one, number)
    assert all(json.loads(record.text) == {"n": number} for number, record in made.items())
    assert len(made) == 500


async def test_a_server_that_stops_reading_cannot_hold_a_call(server: ServerFactory) -> None:
    async with (
        open_sessions() as pool,
        pool.lend_session(server("deaf", call_timeout_s=0.1), None) as session,
    ):
        for _ in range(2):
            made = await call(session, "echo", {"filler": "x" * 200_000})
            assert made.outcome == "timeout"


async def test_a_chatty_server_neither_blocks_nor_piles_up(session: Session, marker: str) -> None:
    made = await call(session, "chat")
    assert made.outcome == "ok"
    tail = session.stderr_tail()
    assert 8_000 < len(tail) <= 16_384
    assert tail.splitlines()[-1].startswith("line 19999 ")
    assert tail.splitlines()[0].startswith("line ")
    assert len(alive(marker)) == 1


HOSTILE: dict[str, Any] = {
    "references": {
        "$defs": {
            **{f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)},
            "d30": {},
        },
        "$ref": "#/$defs/d0",
    },
    "look-ahead": {"propertyNames": {"pattern": "^(?!x)"}},
    "elsewhere": {"$ref": "http://127.0.0.1:9/schema.json"},
    "itself": {"$ref": "#"},
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_what_a_hostile_schema_keeps_from_being_validated_blames_nobody(
    server: ServerFactory, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(tool_list, "VALUE_STEPS", 20_000)
    schema = {"type": "object", **HOSTILE[name]}
    listed = [
        {"name": "echo", "inputSchema": schema},
        {"name": "liar", "inputSchema": {"type": "object"}, "outputSchema": schema},
        {"name": "broken_file", "inputSchema": {"type": "object", **HOSTILE["look-ahead"]}},
    ]
    spec = server("broken_tools", env={"TOOLS": json.dumps(listed)})
    async with open_sessions() as pool, pool.lend_session(spec, None) as session:
        echoed = await call(session, "echo", {"n": 1})
        lied = await call(session, "liar")
        failed = await call(session, "broken_file", {"n": 1})
    assert (echoed.outcome, echoed.argument_errors) == ("ok", ())
    assert (lied.outcome, lied.output_errors) == ("ok", ())
    assert (
        failed.outcome == "tool_error"
    )  # the arguments are not to blame: nothing is known against them
    assert echoed.not_validated[0].startswith("arguments not validated: ")
    assert lied.not_validated[0].startswith("result not validated: ")


async def test_a_pattern_that_backtracks_for_ever_is_matched_at_once(server: ServerFactory) -> None:
    email = r"^([a-zA-Z0-9_.-])+@(([a-zA-Z0-9-])+\.)+([a-zA-Z0-9]{2,4})+$"
    schema = {
        "type": "object",
        "properties": {"n": {"pattern": email}},
        "patternProperties": {"^(a+)+$": {"type": "integer"}},
    }
    listed = [{"name": "echo", "inputSchema": schema}]
    async with (
        open_sessions() as pool,
        pool.lend_session(
            server("broken_tools", env={"TOOLS": json.dumps(listed)}), None
        ) as session,
    ):
        made = await call(session, "echo", {"n": "a" * 60 + "@" + "a" * 60, "a" * 60 + "!": 1})
    assert [error[:8] for error in made.argument_errors] == ["at 'n': "]
    assert made.not_validated == ()


async def test_a_call_is_recorded_although_its_result_takes_longer_to_validate_than_there_is_time(
    server: ServerFactory,
) -> None:
    schema = {"type": "object", **HOSTILE["references"]}
    listed = [{"name": "liar", "inputSchema": {"type": "object"}, "outputSchema": schema}]
    made = None
    seconds = 0.2
    async with (
        open_sessions() as pool,
        pool.lend_session(
            server("broken_tools", env={"TOOLS": json.dumps(listed)}), None
        ) as session,
    ):
        while made is None or made.outcome == "timeout":  # the machine was too busy for an answer
            seconds *= 2
            with anyio.fail_after(seconds):
                made = await call(session, "liar")
    assert made.outcome == "ok"
    assert made.not_validated == ("result not validated: the trial had no time left for it",)


async def test_what_cannot_be_examined_is_told_and_is_no_fault_of_the_list(
    server: ServerFactory,
) -> None:
    listed = [{"name": "echo", "inputSchema": {"type": "object", "anyOf": [{}] * 30_000}}]
    async with (
        open_sessions() as pool,
        pool.lend_session(
            server("broken_tools", env={"TOOLS": json.dumps(listed)}), None
        ) as session,
    ):
        (problem,) = session.tools.problems
    assert problem.unknown
    assert "could not find out whether its inputSchema is a valid JSON Schema" in problem.problem


async def test_the_configured_words_of_a_server_make_a_refusal_of_its_whole_answer(
    server: ServerFactory,
) -> None:
    spec = server("ok", refusals=(r'\{"n": 1',))
    async with open_sessions() as pool, pool.lend_session(spec, None) as opened:
        assert (
            await call(opened, "echo", {"n": 1})
        ).outcome == "ok"  # a part of data is no refusal
    spec = server("ok", refusals=(r'\{"n": 1\}',))
    async with open_sessions() as pool, pool.lend_session(spec, None) as opened:
        refused = await call(opened, "echo", {"n": 1})
        assert (refused.outcome, refused.refusal) == ("denied", "tool_error")
        assert (await call(opened, "echo", {"n": 2})).outcome == "ok"
