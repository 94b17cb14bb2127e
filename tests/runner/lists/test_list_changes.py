"""Lists of tools that change during a trial, over each transport and in each era."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

import harness
from harness.runlog import read_log
from harness.runner.direct_calls import DirectCalls
from harness.runner.model_conversation import ModelConversation
from harness.runner.variants.shown_tools import ShownTools
from harness.runner.variants.variant_session import VariantModel, VariantSession
from harness.sessions import Session, open_sessions
from harness.sessions.list_changes import MOST_CHANGES, UNREAD
from harness.types import (
    GuardRails,
    Limits,
    ListChange,
    ScriptedCall,
    ServerSpec,
    Transcript,
    TransportSpec,
    Turn,
    Variant,
)
from tests.clock import BOUND_S
from tests.support import ScriptedModel, a_case, asks, says

SERVER = str(Path(__file__).with_name("growing_server.py"))
PLACES = {
    "http": ("http", "http://127.0.0.1:{port}/mcp"),
    "sse": ("sse", "http://127.0.0.1:{port}/sse"),
}
KEPT = ("unlock", "lock", "churn", "lists")
GROWN = (*KEPT, "erase")


def build_spec(
    over: str = "stdio", protocol: Any = "auto", name: str = "growing", **env: str
) -> ServerSpec:
    place: dict[str, Any] = {}
    if over != "stdio":
        place = dict(zip(("kind", "url"), PLACES[over], strict=True))
        env |= {"PORT": "{port}", "OVER": over}
    start = TransportSpec(
        command=sys.executable, args=(SERVER,), env=env, protocol=protocol, **place
    )
    return ServerSpec(name=name, transport=start)


async def converse(
    spec: ServerSpec, model: ScriptedModel, *, most: int = 100
) -> tuple[Transcript, Sequence[ListChange]]:
    case = a_case(limits=Limits(max_replies=most, max_calls=most))
    with anyio.fail_after(BOUND_S):
        async with open_sessions() as pool, pool.lend_session(spec, None) as session:
            await session.listen_for_changes()
            conversation = ModelConversation(case, model, session)
            await conversation.run()
    return conversation.build_transcript(), conversation.known_tools.changes


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("over", "protocol"),
    [
        ("stdio", "auto"),
        pytest.param("stdio", "legacy", marks=pytest.mark.slow),
        pytest.param("http", "auto", marks=pytest.mark.slow),
        pytest.param("http", "legacy", marks=pytest.mark.slow),
        pytest.param("sse", "legacy", marks=pytest.mark.slow),
    ],
)
async def test_a_model_is_offered_the_new_list_with_its_next_reply(
    over: str, protocol: str
) -> None:
    script = [asks(("unlock", {})), asks(("erase", {"n": "one"})), asks(("lock", {})), says("done")]
    model = ScriptedModel(*script)
    said, changes = await converse(build_spec(over, protocol), model)
    assert model.offered == [KEPT, GROWN, GROWN, KEPT]
    assert [str(one) for one in changes] == [
        "the list of tools changed: +erase",
        "the list of tools changed: -erase",
    ]
    assert [one.reply for one in changes] == [1, 3]
    # The tool that came is validated by its schema, and stays among those that were offered.
    assert said.tool_calls[1].argument_errors
    assert said.tools == GROWN


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_list_that_changes_with_every_call_is_read_a_limited_number_of_times() -> None:
    model = ScriptedModel(
        *[asks(("churn", {}))] * (MOST_CHANGES + 5), asks(("lists", {})), says("")
    )
    said, changes = await converse(build_spec(), model)
    changed, last = changes[:-1], changes[-1]
    assert (len(changed), changed[0].changed) == (MOST_CHANGES, KEPT)
    assert last.unread == f"it changed more than {MOST_CHANGES} times, and is no longer read"
    # Each change is one request, beside the first and the one that was not shown any more.
    assert said.tool_calls[-1].text == str(MOST_CHANGES + 2)


@pytest.mark.anyio
async def test_nothing_is_asked_of_a_server_that_does_not_say_that_its_list_changes() -> None:
    model = ScriptedModel(*[asks(("lists", {}))] * 3, says(""))
    said, changes = await converse(build_spec(MUTE="1"), model)
    assert {call.text for call in said.tool_calls} == {"1"}
    assert changes == ()


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_changed_list_that_cannot_be_read_is_named_and_the_former_one_stays() -> None:
    model = ScriptedModel(asks(("unlock", {})), says("done"))
    _, changes = await converse(build_spec(BREAKS="1"), model)
    (change,) = changes
    assert change.unread is not None
    assert change.unread.startswith(UNREAD)
    assert "the list is gone" in change.unread
    assert model.offered == [KEPT, KEPT]


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_tool_that_comes_on_one_of_joined_servers_has_a_name_of_its_own() -> None:
    members = (build_spec(name="a"), build_spec(name="b"))
    joined = ServerSpec(name="ab", transport=TransportSpec(), members=members)
    model = ScriptedModel(asks(("b__unlock", {})), asks(("erase", {})), says("done"))
    said, _ = await converse(joined, model)
    assert "erase" not in model.offered[0]
    assert "erase" in model.offered[1]
    assert [call.outcome for call in said.tool_calls] == ["ok", "ok"]


def a_call(tool: str) -> ScriptedCall:
    return ScriptedCall(tool=tool)


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_read_only_server_stays_so_for_a_tool_that_comes_later() -> None:
    server = ServerSpec(
        name="growing", transport=build_spec().transport, guard=GuardRails(read_only=True)
    )
    case = a_case(turns=(Turn(prompt="", calls=tuple(map(a_call, ("unlock", "erase", "churn")))),))
    async with open_sessions() as pool, pool.lend_session(server, None) as session:
        await session.listen_for_changes()
        calls = DirectCalls(case, session)
        await calls.run()
    outcomes = [call.outcome for call in calls.build_transcript().tool_calls]
    assert outcomes == ["ok", "blocked", "ok"]
    assert calls.known_tools.get("erase") is not None


@pytest.mark.slow
def test_what_came_is_in_the_log_and_judged_by_the_prohibitions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    tests = [
        {
            "name": "erases",
            "call": [{"tool": "unlock"}, {"tool": "erase", "allow_absent": True}],
            "assertions": {"must_be_denied": {"tool": "erase", "allow_absent": True}},
        }
    ]
    suite = {
        "suite": "lists",
        "server": {"command": sys.executable, "args": [SERVER]},
        "tests": tests,
    }
    (tmp_path / "lists.yml").write_text(yaml.safe_dump(suite, sort_keys=False))
    done = harness.run("lists.yml")
    (result,) = done.results
    assert result.status == "failed"
    (path,) = tmp_path.rglob("log.jsonl")
    log = read_log(path)
    said = log.read_transcript(result.key)
    assert said is not None
    tools = log.tools[said.tools_digest]
    assert tools.changes[0].added == ("erase",)
    assert tools.get("erase") is not None


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_variant_shows_what_came_under_its_own_names() -> None:
    variant = Variant(name="v", prefix="my_")
    with anyio.fail_after(BOUND_S):
        async with open_sessions() as pool, pool.lend_session(build_spec(), None) as session:
            await session.listen_for_changes()
            shown = [ShownTools(variant, session.tools)]

            def show(changed: Session) -> ShownTools:
                shown.append(ShownTools(variant, changed.tools))
                return shown[-1]

            model = ScriptedModel(asks(("my_unlock", {})), asks(("my_erase", {})), says("done"))
            seen = VariantSession(session, shown[0], show)
            case = a_case(limits=Limits(max_replies=9, max_calls=9))
            conversation = ModelConversation(case, VariantModel(model, shown), seen)
            await conversation.run()
    said = conversation.build_transcript()
    assert model.offered[1] == tuple(f"my_{name}" for name in GROWN)
    assert [(call.tool, call.outcome) for call in said.tool_calls] == [
        ("unlock", "ok"),
        ("erase", "ok"),
    ]
    assert said.tools == GROWN


@pytest.mark.anyio
@pytest.mark.parametrize("how", ["refuses", pytest.param("never", marks=pytest.mark.slow)])
async def test_a_server_that_takes_no_subscription_is_called_as_before(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.sessions.list_changes.ACKNOWLEDGED_S", 0.2)
    model = ScriptedModel(asks(("unlock", {})), asks(("lists", {})), says("done"))
    said, changes = await converse(build_spec(LISTENS=how), model)
    assert [call.outcome for call in said.tool_calls] == ["ok", "ok"]
    assert (said.stop, changes) == ("answer", ())
