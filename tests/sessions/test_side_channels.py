"""Data beside results are recorded only for compared sessions, and bounded."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.runlog import read_log
from harness.sessions.side_channels import (
    MOST_CHARS,
    UnsolicitedMessages,
    iterate_side_channels,
    limit_side_channels,
)
from harness.types import SideContent
from tests.end_to_end.harness_process import Project
from tests.judging.secrecy.telling import SERVER


def test_all_of_a_result_that_is_not_its_text_is_kept() -> None:
    result = {
        "content": [
            {"type": "text", "text": "said", "_meta": {"a": 1}},
            {"type": "resource", "resource": {"uri": "x://y", "text": "said", "blob": "QUJD"}},
            {"type": "image", "data": "QUJD", "mimeType": "image/png"},
        ],
        "structuredContent": {"said": 1},
        "isError": False,
        "_meta": {"b": 2},
    }
    assert [(aside.place, aside.text) for aside in iterate_side_channels(result)] == [
        ("_meta of the result", '{"b":2}'),
        ("_meta of block 1", '{"a":1}'),
        ("the resource in block 2", '{"uri":"x://y","blob":"QUJD"}'),
        ("data of block 3", "QUJD"),
    ]


def test_what_comes_beside_a_result_is_bounded_and_says_so() -> None:
    kept = limit_side_channels(SideContent(place="x", text="y" * 9_000) for _ in range(9))
    assert [len(aside.text) for aside in kept] == [9_000, 9_000, 2_000]
    assert kept[-1].unread == "only its first 2,000 of 9,000 characters were kept"
    assert sum(len(aside.text) for aside in kept) == MOST_CHARS
    assert limit_side_channels(kept) == kept


PLACES = st.lists(st.builds(SideContent, place=st.sampled_from("xyz"), text=st.text(max_size=9)))


@given(PLACES)
def test_each_place_that_was_cut_says_so_and_no_place_vanishes(asides: list[SideContent]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.sessions.side_channels.MOST_CHARS", 12)
        kept = limit_side_channels(asides)
    assert {aside.place for aside in kept} == {aside.place for aside in asides}
    for place in "xyz":
        lost = Counter(one for one in asides if one.place == place) - Counter(kept)
        marked = [one for one in kept if one.place == place and one.unread is not None]
        assert bool(lost) == bool(marked)


def test_what_nests_too_deeply_is_named() -> None:
    deep: list[object] = []
    for _ in range(2_000):
        deep = [deep]
    (aside,) = iterate_side_channels({"content": [], "_meta": deep})
    assert (aside.text, aside.unread is None) == ("", False)


def test_what_a_server_says_while_several_users_ask_belongs_to_none_of_them() -> None:
    heard = UnsolicitedMessages()
    with heard.collect_messages("agent") as first:
        heard.record_message("notifications/message", {"data": "for the agent"})
        with heard.collect_messages("agent") as again:
            heard.record_message("notifications/message", {"data": "for the agent, too"})
            with heard.collect_messages("admin") as other:
                heard.record_message("notifications/message", {"data": "for nobody knows whom"})
    heard.record_message("notifications/message", {"data": "too late"})
    assert [len(each) for each in (first, again, other)] == [2, 1, 0]


TESTS = [{"name": "one", "prompt": "in_meta", "assertions": {"must_call": ["in_meta"]}}]


@pytest.mark.parametrize("compared", [True, False])
def test_it_is_recorded_only_where_several_identities_ask_the_same(
    tmp_path: Path, *, compared: bool
) -> None:
    project = Project(tmp_path)
    identities = {"identities": {"agent": {"role": "agent"}}, "defaults": {"as": ["agent"]}}
    server = {"command": "python", "args": [str(SERVER)]}
    project.suite("s", TESTS, server=server, **(identities if compared else {}))
    project.run("evals", "s")
    log = read_log(project.log().path)
    (result,) = log.results
    transcript = log.read_transcript(result.key)
    assert transcript is not None
    assert bool(transcript.beside) == compared
    assert [bool(call.beside) for call in transcript.tool_calls] == [compared]
