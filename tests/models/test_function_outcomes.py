"""Whatever a function in place of a model does, a trial with it ends in exactly one status."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

import harness
from harness.base.errors import ModelError
from harness.models import build_function_spec, open_model
from harness.types import Reply, ToolList, ToolRequest, Usage, UserMessage

pytestmark = pytest.mark.anyio


class Speechless:
    """Its texts cannot be had, and its truth neither."""

    def __repr__(self) -> str:
        raise ValueError("no text")

    def __bool__(self) -> bool:
        raise ValueError("no truth")


class Mute(Exception):
    """An error without words."""

    def __str__(self) -> str:
        raise ValueError("no words")


def _nest(depth: int) -> dict[str, Any]:
    return {"a": _nest(depth - 1)} if depth else {}


def _call(name: Any, arguments: Any = None, **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "arguments": arguments or {}, **more}]}


VALUES: dict[str, Any] = {
    "text": "Paris",
    "empty": "",
    "surrogate": "\ud800 Paris",
    "long": "Paris " * 200_000,
    "none": None,
    "number": 7,
    "list": ["Paris"],
    "bytes": b"Paris",
    "speechless": Speechless(),
    "speechless content": {"content": Speechless()},
    "speechless calls": {"tool_calls": Speechless()},
    "other keys": {"text": "Paris"},
    "nothing": {},
    "unknown tool": _call("no_such_tool", {"x": 1}),
    "no name": _call(""),
    "unhashable name": _call(["find"]),
    "odd name": _call("\ud800\n\x00", {"x": 1}),
    "list of arguments": _call("capital_of", [1]),
    "not a number": _call("capital_of", {"country": float("nan")}),
    "nested": _call("capital_of", _nest(150)),
    "nested deeper": _call("capital_of", _nest(900)),
    "half a letter": _call("capital_of", {"country": "\ud800"}),
    "one id": {"tool_calls": [{"name": "capital_of", "id": "a"}] * 3},
    "ids of other types": _call("capital_of", {"country": "France"}, id=7),
    "strange id": _call("capital_of", {}, id=[]),
    "reply": Reply(text="Paris"),
    "reply without text": Reply(text="").__class__(text="", stop="other"),
    "reply of calls": Reply(tool_requests=(ToolRequest(id="", tool="nothing"),), stop="end"),
    "reply of lists": Reply(tool_requests=[{"tool": "capital_of"}]),  # type: ignore[arg-type]
    "reply of numbers": Reply(usage=7, stop="Paris"),  # type: ignore[arg-type]
    "native of nothing": Reply(text="Paris", native=Speechless()),
    "much": Reply(text="Paris", usage=Usage(input_tokens=10**30)),
}
ERRORS: dict[str, BaseException] = {
    type(error).__name__: error
    for error in (
        ValueError("no"),
        Mute(),
        SystemExit(3),
        KeyboardInterrupt(),
        GeneratorExit(),
        StopIteration(1),
        StopAsyncIteration(),
        asyncio.CancelledError(),
        TimeoutError("mine"),
        ExceptionGroup("several", [ValueError("x")]),
        RecursionError(),
        ModelError("mine"),
    )
}


def _hang() -> None:
    time.sleep(20)


async def _wait() -> None:
    await anyio.sleep(20)


async def _wait_stubbornly() -> None:
    while True:
        try:
            await asyncio.sleep(1)
        except asyncio.CancelledError:
            time.sleep(0.1)  # noqa: ASYNC251 - as a user's code may do


ENDLESS: dict[str, Callable[[], Any]] = {"hangs": _hang, "waits": _wait, "stays": _wait_stubbornly}
DEEDS = [*VALUES, *ERRORS]


def act(deed: str) -> Any:
    """Return, raise or wait as ``deed`` says."""
    if deed in ERRORS:
        raise ERRORS[deed]
    return ENDLESS[deed]() if deed in ENDLESS else VALUES[deed]


def plain(messages: list[Any], tools: list[Any]) -> Any:
    """Act at the first request, and answer at the next."""
    tools.clear()  # what a function is given is its own
    said, answered = messages[0].pop("content"), messages[-1]["role"] == "tool"
    return "Paris" if answered else act(said.partition("|")[0])


async def coroutine(messages: list[Any], tools: list[Any]) -> Any:
    """Act in a coroutine; ``act`` may return another."""
    returned = plain(messages, tools)
    return await returned if asyncio.iscoroutine(returned) else returned


def capital_of(country: str = "") -> str:
    """Return the capital of a country."""
    return f"Paris {country}"


class Deeds:
    """A case for everything that a function may do."""

    name = "deeds"
    model = plain

    def default_tools(self) -> list[Any]:
        return [capital_of]

    def cases(self) -> list[Any]:
        limits = {"timeout_ms": 1500}
        return [{"id": deed, "input": f"{deed}|", **limits} for deed in (*DEEDS, *ENDLESS)]

    def check(self, case: Any, run: Any) -> bool:
        del case
        return "Paris" in run.answer


@pytest.mark.slow
@pytest.mark.parametrize("function", [plain, coroutine])
def test_every_trial_ends_in_one_status_and_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    began = time.monotonic()
    report = harness.run(
        Deeds, model=None if function is plain else function, concurrency=16, report_path="r.jsonl"
    )
    assert time.monotonic() - began < 60
    statuses = {case.case: case.status for case in report.cases}
    assert list(statuses) == [*DEEDS, *ENDLESS]
    assert report.counts.planned == len(report.results) == len(statuses)
    ends = {
        status: {name for name in statuses if statuses[name] == status}
        for status in set(statuses.values())
    }
    assert set(ends) == {"passed", "failed", "error"}
    assert ends["error"] >= {*ERRORS, *ENDLESS, "none", "speechless", "other keys", "number"}
    assert ends["passed"] >= {"text", "surrogate", "unknown tool", "one id", "reply"}
    for result in report.results:
        if result.status == "error":
            assert result.error is not None
            assert result.error.kind in {"model", "provider"}, result
            assert "Traceback" not in result.error.message


_WORDS = st.sampled_from(["content", "tool_calls", "id", "name", "arguments", "x"])
_ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.sampled_from([*VALUES]).map(lambda name: VALUES[name]),
    lambda inner: st.lists(inner) | st.dictionaries(_WORDS | st.text(), inner),
    max_leaves=8,
)


@given(returned=_ANYTHING, later=st.booleans())
def test_whatever_is_returned_is_a_valid_reply_or_an_error_of_one_sentence(
    returned: Any, later: bool
) -> None:
    async def answer_later(*_: Any) -> Any:
        return returned

    function = answer_later if later else lambda *_: returned
    model = open_model(build_function_spec(function))
    asked = UserMessage(text="?")
    reply, said = None, ""
    try:
        reply = anyio.run(model.answer, [asked], ToolList(tools=()), None)
    except ModelError as error:
        said = str(error)
    if reply is None:
        assert said.startswith("the function ")
        assert "\n" not in said
    else:
        TypeAdapter(Reply).dump_python(reply, warnings="error")
