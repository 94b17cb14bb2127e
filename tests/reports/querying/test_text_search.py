"""Words are found in everything that a log says of its trials, and in nothing else."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.runlog import RunLog
from harness.types import Wire, WireMessage
from tests.reports.querying.support import find_words
from tests.reports.sample_logs import a_conversation, a_log, a_run, must_call

RUN = a_run(
    "refund",
    "failed",
    checks=(must_call("get_order", explanation="Nobody asked for Größe 42"),),
    tags=("urgent",),
    user_context={"department": "sales"},
)
SAID = a_conversation(
    "list_orders",
    prompt='Where is "my" chair?',
    answer="On its way.",
    arguments={"colour": "blue", "amount": 17},
    result='{"nested": "Straße"}',
    stderr="warned twice",
)


@pytest.mark.parametrize(
    "word",
    [
        "refund", "größe 42", "urgent", "sales", "department", 'where is "my"', "on its way",
        "blue", "colour", "17", '"nested"', "straße", "warned", "list_orders", "must_call",
        "failed", "say it more",
    ],
)  # fmt: skip
def test_a_word_is_found_wherever_somebody_said_it(tmp_path: Path, word: str) -> None:
    log = a_log(tmp_path, [(RUN, SAID), (a_run("other"), a_conversation())])
    assert find_words(log.path, [word]) == {word: [log.get_offset(RUN.key)]}


FRAMES = Wire(
    protocol="2025-11-25",
    session="s-81f2",
    request=WireMessage(
        body={
            "jsonrpc": "2.0",
            "id": 901,
            "method": "tools/call",
            "params": {
                "name": "list_orders",
                "arguments": None,
                "_meta": {"progressToken": 902, "com.example/tenant": "Umeå", "retry": 3},
            },
        },
        left_out={"/params/arguments": "arguments"},
    ),
    response=WireMessage(
        body={
            "jsonrpc": "2.0",
            "id": 901,
            "error": {"code": -32602, "message": "no such kind", "data": {"kind": "Stuhl"}},
        }
    ),
)


def a_log_with_frames(log: Path) -> RunLog:
    calls = tuple(replace(call, wire=FRAMES) for call in SAID.tool_calls)
    return a_log(log, [(a_run("other"), a_conversation()), (RUN, replace(SAID, tool_calls=calls))])


@pytest.mark.parametrize(
    "word",
    ["s-81f2", "umeå", "com.example/tenant", "3", "-32602", "no such kind", "stuhl"],
)
def test_a_word_is_found_in_the_frames_of_a_call(tmp_path: Path, word: str) -> None:
    log = a_log_with_frames(tmp_path)
    assert find_words(log.path, [word])[word][-1:] == [log.get_offset(RUN.key)]


@pytest.mark.parametrize(
    "word",
    [
        "transcript", "explanation", "latency_s", "assistant", "role", "jsonrpc", "tools/call",
        "params", "progresstoken", "901", "902", "left_out", "message", "protocol",
    ],
)  # fmt: skip
def test_the_names_of_fields_and_what_is_the_same_around_every_call_are_no_words(
    tmp_path: Path, word: str
) -> None:
    assert find_words(a_log_with_frames(tmp_path).path, [word]) == {word: []}
