"""What few replies have is written for these alone, and every reply is read as it was."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.runlog import TrialLine
from harness.runlog.lines import dump_line, parse_line
from harness.types import (
    AssistantMessage,
    CaseFacts,
    Reply,
    ReplyStop,
    ToolRequest,
    Transcript,
    TrialResult,
    Usage,
)

RARE = ("thinking", "whole", "beyond", "held_back", "adapted", "written_call", "offered")

amounts = st.none() | st.integers(0, 10**9)
texts = st.text(max_size=5) | st.sampled_from(["<think>hm</think>No.", "<think>hm", "</think>"])
names = st.lists(st.text(max_size=3), max_size=2).map(tuple)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=3,
)
objects = st.dictionaries(st.text(max_size=3), values, max_size=2)
requests = st.builds(
    ToolRequest,
    id=texts,
    tool=texts,
    arguments=objects,
    malformed=st.none() | texts,
    meta=objects,
    search=st.booleans(),
)
replies = st.builds(
    Reply,
    text=texts,
    thinking=texts,
    whole=st.none() | texts,
    tool_requests=st.lists(requests, max_size=2).map(tuple),
    stop=st.sampled_from(get_args(ReplyStop)),
    stop_detail=st.none() | texts,
    usage=st.builds(Usage, input_tokens=amounts, output_tokens=amounts),
    native=values,
    served_by=st.none() | texts,
    attempts=st.integers(1, 9),
    waited_s=st.floats(0, 9),
    beyond=st.none() | texts,
    held_back=names,
    adapted=names,
    written_call=st.none() | texts,
    offered=st.none() | names,
)
HALF = "\ud800"
"""Half of a surrogate pair, which the fast writer cannot write."""


def a_line(reply: Reply) -> TrialLine:
    facts = CaseFacts(name="c")
    return TrialLine(
        run=TrialResult(key="k", suite="s", case=facts, model="m", trial=1, status="passed"),
        transcript=Transcript(messages=(AssistantMessage(reply=reply),)),
    )


def written(reply: Reply) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(dump_line(a_line(reply)))["transcript"]["messages"][0][
        "reply"
    ]
    return found


def read_again(reply: Reply) -> Reply:
    line = parse_line(dump_line(a_line(reply)).encode())
    assert isinstance(line, TrialLine)
    assert line.transcript is not None
    (message,) = line.transcript.messages
    assert isinstance(message, AssistantMessage)
    return message.reply


@given(reply=replies)
def test_a_reply_is_read_as_it_was_written_by_either_writer(reply: Reply) -> None:
    assert read_again(reply) == reply
    assert replace(read_again(replace(reply, native=HALF)), native=reply.native) == reply
    usual = Reply()
    held = {name for name in RARE if getattr(reply, name) != getattr(usual, name)}
    for one in (reply, replace(reply, native=HALF)):
        assert held == {name for name in RARE if name in written(one)}


@pytest.mark.parametrize("name", RARE)
def test_a_log_that_writes_what_a_reply_does_not_have_is_read_too(name: str) -> None:
    full = json.loads(dump_line(a_line(Reply(text="Done."))))
    full["transcript"]["messages"][0]["reply"][name] = getattr(Reply(), name)
    assert parse_line(json.dumps(full).encode()) == a_line(Reply(text="Done."))
