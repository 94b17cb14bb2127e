"""A table of decisions that is kept: the same is the same, and any change is told."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import InvalidInput, UsageError
from harness.probing.kept_decisions import (
    find_changes,
    format_decision,
    format_decisions,
    read_frozen,
    write_frozen,
)
from harness.probing.report import ProbeDecision, ProbeReport


def fields(at_least: int = 0) -> st.SearchStrategy[tuple[str, ...]]:
    """Withheld fields; a probe sorts them, so that their order is never a difference."""
    names = st.sampled_from(["email", "rows[].phone"])
    return st.lists(names, min_size=at_least, unique=True).map(sorted).map(tuple)


DECISIONS = st.builds(
    ProbeDecision,
    access=st.sampled_from(["allowed", "denied", "hidden", "error", "listed"]),
    shape=st.sampled_from([None, "tool_error", "http_status"]),
) | st.builds(
    ProbeDecision,
    access=st.just("filtered"),
    shape=st.just("filtered_fields"),
    fields=fields(at_least=1),
    masked=fields(),
    partly=fields(),
)
TABLES = st.dictionaries(
    st.text(max_size=8), st.dictionaries(st.text(max_size=8), DECISIONS, min_size=1), max_size=4
)


@dataclass
class Decisions:
    """As much of a report as is kept."""

    decisions: dict[str, dict[str, ProbeDecision]]


def report(table: dict[str, dict[str, ProbeDecision]]) -> ProbeReport:
    return cast("ProbeReport", Decisions(table))


def kept(table: dict[str, dict[str, ProbeDecision]]) -> Any:
    return json.loads(format_decisions(report(table)))["decisions"]


@given(TABLES)
def test_nothing_has_changed_where_nothing_has(table: dict[str, dict[str, ProbeDecision]]) -> None:
    assert list(find_changes(kept(table), report(table).decisions)) == []


@given(TABLES, TABLES)
def test_every_decision_that_differs_is_told_and_no_other(before: Any, now: Any) -> None:
    cells = {(call, who) for table in (before, now) for call, row in table.items() for who in row}
    different = {
        (call, who)
        for call, who in cells
        if _words(before.get(call, {}).get(who)) != _words(now.get(call, {}).get(who))
    }
    assert len(list(find_changes(kept(before), report(now).decisions))) == len(different)


def _words(decided: ProbeDecision | None) -> str | None:
    return None if decided is None else format_decision(decided)


def test_a_change_says_what_was_and_what_is() -> None:
    before = {"get()": {"ann": ProbeDecision(access="denied", shape="tool_error")}}
    now = {
        "get()": {
            "ann": ProbeDecision(access="filtered", fields=("email",)),
            "bob": ProbeDecision(access="allowed"),
        }
    }
    assert [change.description for change in find_changes(kept(before), report(now).decisions)] == [
        "get() as ann: denied (tool_error) before, filtered without email now",
        "get() as bob: not asked before, allowed now",
    ]


ALL, DENIED = ProbeDecision(access="allowed"), ProbeDecision(access="denied", shape="tool_error")
HIDDEN, LISTED = ProbeDecision(access="hidden"), ProbeDecision(access="listed")
FAILED = ProbeDecision(access="error")


def without(*fields: str) -> ProbeDecision:
    return ProbeDecision(access="filtered", fields=fields)


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (DENIED, ALL, "more access: "),
        (HIDDEN, LISTED, "more access: "),
        (HIDDEN, DENIED, "more access: "),
        (DENIED, without("a", "b"), "more access: "),
        (without("a", "b"), without("b"), "more access (gains a): "),
        (without("a"), ALL, "more access (gains a): "),
        (without("a"), without("b"), "more access (gains a and loses b): "),
        (ALL, without("a", "b"), "less access (loses a, b): "),
        (ALL, DENIED, "less access: "),
        (LISTED, HIDDEN, "less access: "),
        (DENIED, HIDDEN, "less access: "),
        (DENIED, ProbeDecision(access="denied", shape="http_status"), "changed: "),
        (ALL, FAILED, "changed: "),
        (FAILED, ALL, "changed: "),
    ],
)
def test_a_change_has_a_direction(before: ProbeDecision, now: ProbeDecision, told: str) -> None:
    [change] = find_changes(
        kept({"get()": {"ann": before}}), report({"get()": {"ann": now}}).decisions
    )
    assert change.summary == f"{told}{change.description}"


def test_a_call_that_was_not_asked_before_shows_no_gain() -> None:
    [change] = find_changes({}, report({"get()": {"ann": ALL}}).decisions)
    assert change.direction == "other"


def test_a_table_is_written_and_read_again(tmp_path: Path) -> None:
    table = {"get()": {"ann": ProbeDecision(access="denied", shape="tool_error")}}
    write_frozen(tmp_path / "kept" / "table.json", report(table))
    assert read_frozen(tmp_path / "kept" / "table.json") == {
        "get()": {"ann": "denied (tool_error)"}
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1]",
        "{}",
        "\xff",
        '{"version": 3, "decisions": {}}',
        '{"version": 1, "decisions": []}',
        '{"version": 1, "decisions": {"get()": {"ann": {"access": "denied"}}}}',
    ],
)
def test_what_is_no_table_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InvalidInput, match=r"table\.json: this is no table of decisions"):
        read_frozen(path)


def test_a_file_that_is_not_there_says_how_to_write_it(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="harness probe --update"):
        read_frozen(tmp_path / "nope.json")
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_frozen(tmp_path)


def test_a_place_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        write_frozen(tmp_path / "file" / "table.json", report({}))


def withheld(how: str) -> dict[str, dict[str, ProbeDecision]]:
    """Return a decision that leaves out a field, or masks it."""
    masked = ("email",) if how != "left out" else ()
    partly = ("email",) if how == "partly masked" else ()
    one = ProbeDecision(access="filtered", fields=("email",), masked=masked, partly=partly)
    return {"get()": {"ann": one}}


@pytest.mark.parametrize(
    ("before", "now", "direction"),
    [
        ("left out", "masked", "more"),
        ("masked", "partly masked", "more"),
        ("partly masked", "left out", "less"),
    ],
)
def test_how_a_field_is_withheld_is_a_part_of_the_decision(
    before: str, now: str, direction: str
) -> None:
    (change,) = find_changes(kept(withheld(before)), report(withheld(now)).decisions)
    assert (change.direction, change.gains or change.loses) == (direction, ("email",))
