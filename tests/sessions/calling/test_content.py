"""A result as text: all of it, or a cut that says so."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.json_text import digest_json
from harness.sessions.result_content import (
    MEDIA_CHARS,
    STRUCTURED_BYTES,
    TEXT_CHARS,
    count_json_bytes,
    limit_text,
    render_result,
)

BLOCK = st.fixed_dictionaries({"type": st.just("text"), "text": st.text(max_size=30)})


@given(st.lists(BLOCK, max_size=4))
def test_text_blocks_are_joined_by_lines(blocks: list[dict[str, str]]) -> None:
    content = render_result({"content": blocks})
    assert content.text == "\n".join(block["text"] for block in blocks)
    assert (content.sha256, content.problems) == (None, ())


@given(
    st.dictionaries(
        st.sampled_from(["content", "structuredContent", "isError", "x"]),
        st.recursive(
            st.none() | st.booleans() | st.text(max_size=5) | st.integers(),
            lambda inner: (
                st.lists(inner | BLOCK, max_size=3)
                | st.dictionaries(st.text(max_size=4), inner, max_size=3)
            ),
            max_leaves=8,
        ),
    )
)
def test_any_json_object_can_be_rendered(result: dict[str, Any]) -> None:
    content = render_result(result)
    assert content.size == count_json_bytes(result)


def test_structured_content_alone_becomes_its_json() -> None:
    content = render_result({"content": [], "structuredContent": {"total": 3, "name": "Zoë"}})
    assert content.text == '{"total": 3, "name": "Zoë"}'
    assert content.structured == {"total": 3, "name": "Zoë"}


def test_a_missing_content_list_is_fine_beside_structured_content() -> None:
    assert render_result({"structuredContent": {"a": 1}}).problems == ()


@pytest.mark.parametrize("excess", [0, 1])
def test_text_is_cut_exactly_at_the_limit(excess: int) -> None:
    text = "ä" * (TEXT_CHARS + excess)
    result = {"content": [{"type": "text", "text": text}]}
    content = render_result(result)
    if excess:
        assert content.sha256 == digest_json(result)
        assert content.text.startswith("ä" * TEXT_CHARS + "\n[… cut by harness: ")
    else:
        assert (content.text, content.sha256) == (text, None)


def test_structured_content_over_its_limit_is_left_out_and_hashed() -> None:
    result = {
        "content": [{"type": "text", "text": "short"}],
        "structuredContent": ["x" * STRUCTURED_BYTES],
    }
    content = render_result(result)
    assert (content.text, content.structured, content.sha256) == (
        "short",
        None,
        digest_json(result),
    )


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (
            {"type": "image", "data": "A" * 100, "mimeType": "image/png"},
            "[image image/png, 75 bytes]",
        ),
        ({"type": "audio", "data": "A" * 4_000}, "[audio of unknown type, 3 kB]"),
        ({"type": "resource_link", "uri": "db://x"}, "[resource link db://x]"),
        (
            {"type": "resource", "resource": {"uri": "db://x", "text": "hello"}},
            "[resource db://x]\nhello",
        ),
        (
            {"type": "resource", "resource": {"uri": "db://x", "blob": "AAAA", "mimeType": "a/b"}},
            "[resource db://x a/b, 3 bytes]",
        ),
    ],
)
def test_what_is_not_text_is_named(block: dict[str, Any], text: str) -> None:
    content = render_result({"content": [block]})
    assert content.text == text
    seen = "data" not in block and "blob" not in str(block)
    assert (content.sha256 is None) == seen
    assert [one.words for one in content.media] == ([] if seen else [text[1:-1]])


def test_a_picture_is_kept_up_to_a_size_and_else_said_to_be_too_large() -> None:
    small = {"type": "image", "data": "A" * 100, "mimeType": "image/PNG; q=1"}
    large = {"type": "image", "data": "A" * (MEDIA_CHARS - 96), "mimeType": "image/png"}
    kept, dropped = render_result({"content": [small, large]}).media
    assert (kept.data, kept.kind) == ("A" * 100, "image")
    assert (dropped.data, dropped.kind) == ("", None)
    assert dropped.words.endswith(", too large to keep")


def test_a_picture_that_is_no_base64_is_never_handed_on() -> None:
    block = {"type": "image", "data": "not base64!", "mimeType": "image/png"}
    (found,) = render_result({"content": [block]}).media
    assert (found.data, found.kind) == ("", None)
    assert found.words.endswith("which is not base64")


def test_an_error_text_says_how_long_it_was() -> None:
    assert limit_text("x" * 100_001).endswith("[… cut by harness: 100,001 characters in all]")
