"""One event is judged in one way, by whichever way and API it comes: over HTTP into real trials."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.models.failure_events import MEANINGS, Event, find_ending_event, find_event
from harness.runner.planning.plan import Job, make_plan
from harness.runner.preflight.preflight import Preflight
from harness.runner.run_context import RunContext
from harness.runner.trial import run_trial
from harness.types import Check, Limits, ServerSpec, Suite, TrialResult
from tests.clock import BOUND_S
from tests.fake_provider import FakeProvider, Step, call, malformed, raw, say, status
from tests.models.support import APIS, Api, opened, spec_for
from tests.support import MemoryPool, a_case

SECRET = "sk-proj-very-secret-0123456789"


@dataclass(frozen=True)
class Case:
    """An event as providers word it."""

    event: Event
    code: int
    error: Mapping[str, Any]
    ending: str | None = None


CASES = [
    Case("malformed_call", 400, {"message": "Failed to call a function. Please adjust your "
         "prompt.", "type": "invalid_request_error", "code": "tool_use_failed",
         "failed_generation": "<function=look{]</function>"}),
    Case("malformed_call", 500, {"message": "error parsing tool call: raw='{\"a\":', err=unexpected"
         " end of JSON input", "type": "api_error", "code": None}),
    Case("malformed_call", 500, {"code": 500, "message": "Failed to parse input at pos 12: "
         "</tool_call>", "type": "server_error"}),
    Case("malformed_call", 400, {"message": "x", "code": "tool_use_failed"},
         "MALFORMED_FUNCTION_CALL"),
    Case("malformed_call", 400, {"message": "x", "code": "tool_use_failed"},
         "function_call_filter: MALFORMED_FUNCTION_CALL"),
    Case("refusal", 400, {"message": "The response was filtered.", "code": "content_filter",
         "innererror": {"code": "ResponsibleAIPolicyViolation"}}, "content_filter"),
    Case("refusal", 400, {"type": "invalid_request_error",
         "message": "Output blocked by content filtering policy"}, "SAFETY"),
    Case("max_tokens", 400, {"message": "Could not finish the message because max_tokens or model "
         "output limit was reached.", "type": "invalid_request_error"}, "max_tokens"),
    Case("context", 400, {"message": "This model's maximum context length is 8 tokens.",
         "type": "invalid_request_error", "code": "context_length_exceeded"},
         "model_context_window_exceeded"),
    Case("context", 400, {"message": "prompt is too long: 201 tokens > 200 maximum",
         "type": "invalid_request_error"}, "model_length"),
    Case("context", 400, {"code": 400, "type": "exceed_context_size_error", "message": "the request"
         " exceeds the available context size. try increasing it"}),
    Case("rate_limit", 429, {"message": "Slow down.", "type": "rate_limit_error"}),
    Case("rate_limit", 429, {"code": 429, "message": "Resource exhausted.",
         "status": "RESOURCE_EXHAUSTED"}),
    Case("rate_limit", 429, {"message": "Later.", "code": 429}),
    Case("no_credit", 429, {"message": "Over.", "type": "insufficient_quota",
         "code": "insufficient_quota"}),
    Case("no_credit", 400, {"message": "Your credit balance is too low to access the API.",
         "type": "invalid_request_error"}),
    Case("overloaded", 529, {"message": "Overloaded", "type": "overloaded_error"}),
    Case("auth", 401, {"message": "Incorrect API key provided.", "code": "invalid_api_key",
         "type": "invalid_request_error"}),
    Case("unknown_model", 404, {"message": "The model `x` does not exist", "code":
         "model_not_found", "type": "invalid_request_error"}),
    Case("bad_request", 400, {"message": "Unsupported parameter: 'top_k'", "code":
         "unsupported_parameter", "type": "invalid_request_error"}),
    Case("server_error", 500, {"message": "It broke.", "type": "server_error"}),
]  # fmt: skip


def arrivals(api: Api, case: Case) -> dict[str, Step]:
    """Return the ways in which an event arrives, each as what the provider answers."""
    error = {**case.error, "message": f"{case.error['message']} {SECRET}"}
    kind = {"type": "error"} if api == "messages" else {}
    numeric = {"message": "Provider returned error", "code": case.code}
    within = {**numeric, "metadata": {"raw": json.dumps({"error": error}), "provider_name": "P"}}
    event = json.dumps({"type": "error", "error": error})
    ways: dict[str, Step] = {
        "status": status(case.code, body={**kind, "error": error}),
        "status, behind a gateway": status(case.code, body={"error": within}),
        "status, as a list": status(case.code, body=[{"error": error}]),
        "status, in a text": status(case.code, body={"error": error["message"]})
        if case.event == "malformed_call" and "code" not in case.error
        else status(case.code, body={"error": error}),
        "status, as a stream": status(case.code, body=f"event: error\ndata: {event}\n\n"),
        "200": raw({**kind, "error": error}),
        "200, behind a gateway": raw({"error": within}),
        "200, as a stream": malformed(f": keep alive\n\nevent: error\ndata: {event}\n\n"),
        "200, itself": raw({"object": "error", **error}),
    }
    if api == "chat":
        choice = {"finish_reason": "error", "message": {"content": ""}}
        ways["choice"] = raw({"choices": [{**choice, "error": error}]})
        ways["choice, behind a gateway"] = raw({"choices": [{**choice, "error": within}]})
    if api == "responses":
        ways["failed"] = raw({"status": "failed", "error": error, "output": []})
        failed = json.dumps({"type": "response.failed", "response": {"error": error}})
        ways["failed, as a stream"] = malformed(f"event: response.failed\ndata: {failed}\n\n")
    if case.ending is not None:
        ways["ending"] = raw(with_ending(api, case.ending))
    return ways


def with_ending(api: Api, word: str) -> dict[str, Any]:
    if api == "messages":
        return {"type": "message", "role": "assistant", "content": [], "stop_reason": word}
    if api == "chat":
        return {"choices": [{"finish_reason": word, "message": {"role": "assistant"}}]}
    return {"output": [], "status": "incomplete", "incomplete_details": {"reason": word}}


def a_job() -> Job:
    check = Check(kind="must_not_call", params={"tool": "delete_everything", "args": {}})
    case = a_case(checks=(check,), limits=Limits(max_replies=3, timeout_s=BOUND_S))
    plan = make_plan(
        [Suite(name="s", cases=(case,))],
        models_of=lambda _: [spec_for("chat", "http://127.0.0.1:9")],
        server_of=lambda _: ServerSpec(name="srv"),
    )
    return plan.jobs[0]


def judged(api: Api, step: Step, *, after_result: bool) -> tuple[TrialResult, int]:
    """Run a trial whose first reply, or whose reply to a result, is ``step``; count requests."""

    async def trial() -> tuple[TrialResult, int]:
        script = [call("look", {}), step] if after_result else [step, say("Hm.")]
        pool: Any = MemoryPool()
        with FakeProvider(script) as provider:
            async with opened(api, provider.url, max_retries=1) as model:
                job = a_job()
                context = RunContext(pool=pool, models={job.model.name: model})
                ran = await run_trial(job, context, Preflight.from_trial(job), anyio.CancelScope())
            return ran.line.run, len(provider.journal) - after_result

    return anyio.run(trial)


def expected(event: Event, *, after_result: bool) -> tuple[str, str | None, str | None, int]:
    """Return status, ending, party of the error, and requests that an event comes to."""
    meaning = MEANINGS[event]
    requests = 2 if meaning.passing else 1
    if meaning.stop is None or (event == "context" and not after_result):
        return ("error", "error", meaning.party, requests)
    return ("passed" if event == "refusal" else "failed", meaning.stop, None, 1)


@given(
    api=st.sampled_from(APIS),
    case=st.sampled_from(CASES),
    after_result=st.booleans(),
    data=st.data(),
)
def test_one_event_is_judged_in_one_way_however_it_arrives(
    api: Api, case: Case, after_result: bool, data: st.DataObject
) -> None:
    ways = arrivals(api, case)
    hold(api, case, ways[data.draw(st.sampled_from(sorted(ways)))], after_result=after_result)


@pytest.mark.slow
@pytest.mark.parametrize("after_result", [False, True])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.event}-{case.code}")
@pytest.mark.parametrize("api", APIS)
def test_every_event_is_judged_in_one_way_however_it_arrives(
    api: Api, case: Case, after_result: bool
) -> None:
    for step in arrivals(api, case).values():
        hold(api, case, step, after_result=after_result)


def hold(api: Api, case: Case, step: Step, *, after_result: bool) -> None:
    run, requests = judged(api, step, after_result=after_result)
    kind = run.error.kind if run.error else None
    wanted = expected(case.event, after_result=after_result)
    assert (run.status, run.stop, kind, requests) == wanted, (step, run.error, run.checks)
    said = f"{run.error} {run.checks}"
    assert SECRET not in said
    assert len(said) < 3_000
    if run.status == "failed" and run.stop in ("malformed_call", "context_limit"):
        assert any("the-model: " in check.explanation for check in run.checks)


@pytest.mark.parametrize("api", APIS)
def test_a_models_failure_shows_the_providers_own_words(api: Api) -> None:
    run, _ = judged(api, arrivals(api, CASES[0])["status"], after_result=False)
    check = run.checks[0]
    assert check.label == "a call that can be read"
    assert "Failed to call a function. Please adjust your prompt." in check.explanation
    assert "<function=look{]</function>" in check.explanation


def test_a_gateway_that_hides_a_malformed_call_behind_a_plain_ending_is_read() -> None:
    body = with_ending("chat", "stop")
    body["choices"][0] |= {
        "native_finish_reason": "MALFORMED_FUNCTION_CALL",
        "message": {"role": "assistant", "content": ""},
    }
    run, _ = judged("chat", raw(body), after_result=False)
    assert (run.status, run.stop) == ("failed", "malformed_call")


@pytest.mark.parametrize("api", APIS)
def test_a_context_that_is_full_cuts_a_reply_that_has_begun(api: Api) -> None:
    word = "model_context_window_exceeded"
    if api == "messages":
        body = {**with_ending(api, word), "content": [{"type": "text", "text": "Well,"}]}
    elif api == "chat":
        body = with_ending(api, word)
        body["choices"][0]["message"]["content"] = "Well,"
    else:
        parts = [{"type": "output_text", "text": "Well,"}]
        body = {**with_ending(api, word), "output": [{"type": "message", "content": parts}]}
    run, _ = judged(api, raw(body), after_result=False)
    assert (run.status, run.stop) == ("failed", "max_tokens")


@pytest.mark.parametrize(
    "code", ["tool_use_failed", "TOOL-USE-FAILED", "ToolUseFailed", "Tool Use Failed"]
)
def test_a_code_is_known_in_any_spelling(code: str) -> None:
    assert find_event([code], "", 500) == "malformed_call"
    assert find_ending_event(code) == "malformed_call"


@given(st.text(), st.one_of(st.none(), st.integers(400, 599)))
def test_words_that_nobody_knows_are_never_the_models(text: str, code: int | None) -> None:
    event = find_event([], text, code)
    assert code == 413 or MEANINGS[event].stop is None


@pytest.mark.parametrize("code", [401, 429, 529])
def test_words_on_lengths_beside_a_limit_of_rates_speak_of_rates(code: int) -> None:
    assert MEANINGS[
        find_event([], "Too many tokens: reduce the length of the input", code)
    ].stop is (None)
