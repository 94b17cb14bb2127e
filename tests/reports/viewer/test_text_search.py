"""Words are found in everything that a log says of its trials, and in nothing else."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.reports.viewer.text_search import find_words
from harness.types import Frame, Wire
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
    assert find_words(log.path, [word]) == {word: [log.offset(RUN.key)]}


@pytest.mark.parametrize(
    "word", ["transcript", "explanation", "latency_s", "assistant", "role", "jsonrpc", "tools/call"]
)
def test_the_names_of_fields_and_what_stands_around_a_call_are_no_words(
    tmp_path: Path, word: str
) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    calls = tuple(replace(call, wire=Wire(request=Frame(body=body))) for call in SAID.tool_calls)
    log = a_log(tmp_path, [(RUN, replace(SAID, tool_calls=calls))])
    assert find_words(log.path, [word]) == {word: []}
