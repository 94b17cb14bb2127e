"""The frames of a call are put together again from what its record holds, and are bounded."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.base.json_text import load_json
from harness.sessions.call_record import LONGEST, MOST_CHARS, reduce_frame, restore_frame
from harness.sessions.result_content import TEXT_CHARS, render_result
from harness.types import JsonObject, ToolCall, WireMessage

TEXTS = st.text(max_size=80) | st.lists(st.text(max_size=60), max_size=4).map("\n".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
BLOCKS = (
    st.builds(lambda text: {"type": "text", "text": text}, TEXTS)
    | st.just({"type": "image", "data": "AAAA", "mimeType": "image/png"})
    | st.builds(
        lambda text: {"type": "resource", "resource": {"uri": "file:///a", "text": text}}, TEXTS
    )
    | st.dictionaries(TEXTS, VALUES, max_size=2)
)


def a_call(result: JsonObject | None = None, **facts: Any) -> ToolCall:
    """Return the record of a call that was answered with ``result``."""
    content = render_result(result or {"content": []})
    given: dict[str, Any] = {"text": content.text, "structured": content.structured}
    return ToolCall(**{"tool": "t", "arguments": {}, "outcome": "ok", "reply": 1, **given, **facts})


def answer(result: JsonObject) -> JsonObject:
    return {"jsonrpc": "2.0", "id": 7, "result": result}


@given(blocks=st.lists(BLOCKS, max_size=6), structured=st.none() | VALUES, more=VALUES)
def test_whatever_a_server_answers_is_put_together_again(
    blocks: list[Any], structured: Any, more: Any
) -> None:
    result = {"content": blocks, "structuredContent": structured, "content/0/text": more}
    frame, call = answer(result), a_call(result)
    kept = reduce_frame(frame, call)
    again = WireMessage(
        body=json.loads(json.dumps(kept.body)), left_out=kept.left_out
    )  # as in a log
    assert json.dumps(restore_frame(again, call)) == json.dumps(frame)


@given(arguments=st.dictionaries(TEXTS, VALUES, max_size=4))
def test_whatever_is_sent_is_put_together_again(arguments: dict[str, Any]) -> None:
    params = {"name": "t", "arguments": arguments, "_meta": {"progressToken": 7}}
    frame = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    call = a_call(arguments=arguments)
    assert json.dumps(restore_frame(reduce_frame(frame, call), call)) == json.dumps(frame)


def test_long_parts_that_the_record_has_are_left_out_each_with_its_lines() -> None:
    first, second = "one line of many letters\n" * 3, "another line of many letters\n" * 2
    blocks: list[Any] = [{"type": "text", "text": first}, {"type": "image", "data": "AAAA"}]
    result = {"content": [*blocks, {"type": "text", "text": second}]}
    kept = reduce_frame(answer(result), a_call(result))
    assert kept.left_out == {
        "/result/content/0/text": "text 1-4 of 8",
        "/result/content/2/text": "text 6-8 of 8",
    }
    assert "many letters" not in json.dumps(kept.body)


def test_a_text_that_the_log_cuts_is_cut_in_the_frame_with_the_same_notice() -> None:
    result = {"content": [{"type": "text", "text": "x" * (TEXT_CHARS + 1)}]}
    call = a_call(result)
    kept = reduce_frame(answer(result), call)
    assert len(json.dumps(kept.body)) < 200
    shown = restore_frame(kept, call)["result"]["content"][0]["text"]
    assert shown.endswith(f"sha256 {render_result(result).sha256}]")


def test_what_only_the_frame_has_is_bounded_and_says_what_was_cut() -> None:
    result = {
        "content": [{"type": "image", "data": "A" * 1_000_000}],
        "rows": [f"row {number} of the many that only the frame has" for number in range(9_000)],
        "last": 1,
    }
    kept = reduce_frame(answer(result), a_call(result))
    body = kept.body["result"]
    assert len(json.dumps(kept.body)) < 2 * MOST_CHARS
    assert body["content"][0]["data"] == (
        f"{'A' * LONGEST}[… cut by harness: 1,000,000 characters in all]"
    )
    number = len(body["rows"]) - 1
    assert body["rows"][-1] == f"[… cut by harness: {number:,} of 9,000 values are kept]"
    assert body["…"] == "[… cut by harness: 2 of 3 values are kept]"


def test_what_nests_deeply_is_cut_and_says_so() -> None:
    frame = answer({"content": [], "deep": load_json("[" * 100 + "]" * 100)})
    assert "it nests deeper than 60 levels" in json.dumps(reduce_frame(frame, a_call()).body)


def test_a_value_in_meta_under_the_name_of_a_secret_is_redacted_and_others_stay() -> None:
    meta = {
        "progressToken": 7,
        "io.example/user": {"role": "clerk", "api_key": "hunter2", "groups": [{"token": [1]}]},
        "sessionToken": {"value": "hunter2"},
    }
    result = {"content": [{"type": "text", "text": "hi", "_meta": {"password": "hunter2"}}]}
    body = reduce_frame(answer({**result, "_meta": meta}), a_call(result)).body
    assert "hunter2" not in json.dumps(body)
    user = {"role": "clerk", "api_key": "[redacted]", "groups": [{"token": "[redacted]"}]}
    assert body["result"]["_meta"] == {
        "progressToken": 7,
        "io.example/user": user,
        "sessionToken": "[redacted]",
    }


def test_a_part_of_a_text_is_lost_if_lines_were_taken_out_of_the_record_later() -> None:
    long = "a line of so many letters that it is left out of a frame"
    result = {"content": [{"type": "text", "text": long}, {"type": "text", "text": f"{long}\n1"}]}
    kept, call = reduce_frame(answer(result), a_call(result)), a_call(result)
    shortened = replace(call, text="[redacted]\n1")
    texts = [block["text"] for block in restore_frame(kept, shortened)["result"]["content"]]
    assert texts == ["[lost: a secret of several lines was taken out of the record]"] * 2


def test_a_log_that_somebody_edited_shows_what_is_left_of_a_frame() -> None:
    left_out = {"/result/content/9/text": "text", "/id/x": "text", "/result/other": "nonsense"}
    frame = WireMessage(body=answer({"content": []}), left_out=left_out)
    assert restore_frame(frame, a_call()) == answer({"content": []})
