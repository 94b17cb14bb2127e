"""Which calls a fault hits, what the model is shown of them, and what the record says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import anyio
import pytest

from harness.sessions import FaultInjector, FaultySession, ForwardedRequest
from harness.types import (
    FAILING,
    UNASKED,
    FaultKind,
    FaultRule,
    FaultSet,
    Outcome,
    ToolCall,
    ToolRequest,
)
from tests.support import MemorySession

pytestmark = pytest.mark.anyio
KINDS: tuple[FaultKind, ...] = get_args(FaultKind)
ROWS = '[{"id": 1}, {"id": 2}]'


async def answer(request: ToolRequest) -> tuple[Outcome, str]:
    return "ok", ROWS if request.id == "now" else f'{{"of": "{request.id}"}}'


class Trial:
    """A trial with faults, and a server in memory."""

    def __init__(self, *faults: FaultRule, case: str = "c", limit_s: float = 30.0) -> None:
        self.server = MemorySession(answer)
        self.injector = FaultInjector(FaultSet(name="f", faults=faults), case, limit_s)
        self.session = FaultySession(self.server, self.injector)
        self.replies = 0

    async def call(self, tool: str = "look", name: str = "now", **arguments: Any) -> ToolCall:
        self.replies += 1
        request = ToolRequest(id=name, tool=tool, arguments=arguments)
        return await self.session.call(request, reply=self.replies, epoch=0.0)

    async def hits(self, tools: Sequence[str]) -> list[bool]:
        return [(await self.call(tool)).injected is not None for tool in tools]


@pytest.mark.parametrize("kind", KINDS)
async def test_the_record_has_what_the_server_did_and_what_the_model_saw(kind: FaultKind) -> None:
    trial = Trial(FaultRule(do=kind, on="look", nth=2, seed=1))
    first, second = await trial.call(name="before"), await trial.call()
    assert first.injected is None
    assert second.injected is not None
    assert second.injected.rule == f"look#2: {kind}"
    assert second.told_as_error == (kind in FAILING)
    assert len(trial.server.sent) == (1 if kind in UNASKED else 2)
    if kind in UNASKED:
        assert second.outcome == "injected"
    else:
        assert (second.outcome, second.text) == ("ok", ROWS)
        assert second.told_text != ROWS or kind == "slow"


@pytest.mark.parametrize(
    ("fault", "hit"),
    [
        (FaultRule(do="error"), [True, True, True, True]),
        (FaultRule(do="error", nth=2), [False, True, False, False]),
        (FaultRule(do="error", on="write", nth=2), [False, False, False, True]),
        (FaultRule(do="error", on="wr*"), [False, True, False, True]),
        (FaultRule(do="gone", on="look"), [True, False, True, False]),
    ],
)
async def test_a_fault_hits_the_calls_that_it_names(fault: FaultRule, hit: list[bool]) -> None:
    assert await Trial(fault).hits(["look", "write", "look", "write"]) == hit


async def test_a_rate_is_keyed_on_seed_case_tool_and_number() -> None:
    tools = ["look", "write"] * 100

    async def hits(seed: int, case: str = "c") -> list[bool]:
        return await Trial(FaultRule(do="error", rate=0.2, seed=seed), case=case).hits(tools)

    first = await hits(7)
    assert await hits(7) == first
    assert 20 <= sum(first) <= 60
    assert first != await hits(8)
    assert first != await hits(7, "d")
    # Calls of another tool in between change nothing.
    alone = await Trial(FaultRule(do="error", rate=0.2, seed=7)).hits(["look"] * 100)
    assert first[::2] == alone


async def test_calls_of_the_case_and_of_tools_that_are_not_there_are_left_alone() -> None:
    trial = Trial(FaultRule(do="error", nth=1))
    request = ToolRequest(id="now", tool="look", arguments={})
    assert (await trial.session.call(request, reply=0, epoch=0.0)).injected is None
    assert (await trial.call("missing")).injected is None
    assert (await trial.call("look")).injected is not None


async def test_what_went_wrong_at_the_server_is_not_altered() -> None:
    async def fail(_: ToolRequest) -> tuple[Outcome, str]:
        return "tool_error", "no such row"

    trial = Trial(FaultRule(do="lost_answer"))
    trial.session = FaultySession(MemorySession(fail), trial.injector)
    assert (await trial.call()).injected is None


@pytest.mark.parametrize(
    ("fault", "seconds", "words"),
    [
        (FaultRule(do="timeout"), 30.0, "no answer within 30 s"),
        (FaultRule(do="slow"), 24.0, ROWS),
        (FaultRule(do="slow", seconds=5), 5.0, ROWS),
        (FaultRule(do="slow", seconds=99), 30.0, "no answer within 30 s"),
    ],
)
async def test_waiting_counts_against_the_trial_and_nobody_waits(
    fault: FaultRule, seconds: float, words: str
) -> None:
    trial, passed = Trial(fault), list[float]()
    trial.injector.pass_time = passed.append
    with anyio.fail_after(1):
        shown = (await trial.call()).injected
    assert shown is not None
    assert shown.text == words
    assert sum(passed) == pytest.approx(seconds, abs=0.5)
    assert shown.simulated_s == pytest.approx(seconds, abs=0.5)


class Client:
    """A foreign client, which gets results and errors in the form of MCP."""

    def __init__(self) -> None:
        self.got: list[Any] = []
        self.notified: list[str] = []

    def request(self) -> ForwardedRequest:
        return ForwardedRequest(
            id="now",
            tool="look",
            arguments={},
            answered=self.got.append,
            refused=lambda code, message, _: self.got.append((code, message)),
        )

    def notify(self, method: str, params: object) -> None:
        self.notified.append(method)

    async def ask_client(self, method: str, params: object) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("kind", "got"),
    [
        ("error", {"content": [{"type": "text", "text": "down"}], "isError": True}),
        ("protocol_error", (-32603, "down")),
        ("lost_answer", {"content": [{"type": "text", "text": "down"}], "isError": True}),
        ("gone", (-32602, "down")),
    ],
)
async def test_an_agent_gets_the_fault_in_the_form_of_the_protocol(
    kind: FaultKind, got: object
) -> None:
    client, trial = Client(), Trial(FaultRule(do=kind, text="down"))
    await trial.session.call(client.request(), reply=1, epoch=0.0)
    assert client.got == [got]


async def test_an_agent_really_waits() -> None:
    client, trial = Client(), Trial(FaultRule(do="timeout"), limit_s=0.05)
    began = anyio.current_time()
    made = await trial.session.call(client.request(), reply=1, epoch=0.0)
    assert anyio.current_time() - began >= 0.05
    assert made.injected is not None
    assert made.injected.simulated_s == 0


async def test_a_tool_that_is_gone_is_in_no_list_and_its_clients_are_told() -> None:
    client, trial = Client(), Trial(FaultRule(do="gone", on="look", nth=2))

    async def list_tools(_method: str, _params: object) -> Any:
        return {"tools": [{"name": "look"}, {"name": "write"}]}

    trial.server.send_request = list_tools  # type: ignore[method-assign, assignment]
    async with trial.session.forward_messages(client):
        assert await trial.hits(["look", "look", "look"]) == [False, True, True]
    assert client.notified == ["notifications/tools/list_changed"]
    assert await trial.session.send_request("tools/list", {}) == {"tools": [{"name": "write"}]}
