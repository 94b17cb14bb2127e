"""``faults:`` of a suite, a test and a file, and on the command line; mistakes with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base import InvalidInput, UsageError
from harness.judging import VOCABULARY
from harness.suites import read_suite
from harness.suites.faults import (
    FAULT_KINDS,
    build_standard_faults,
    choose_faults,
    parse_fault,
    read_faults_file,
    suits_case,
)
from harness.types import FaultRule, FaultSet, Suite

SUITE = """
suite: shop
server: {command: "true"}
faults:
  - {on: search_orders, nth: 1, do: timeout}
  - {on: "*", rate: 0.2, seed: 7, do: error, text: upstream unavailable}
tests:
  - name: a
    prompt: Which orders?
    faults:
      - "get_order#2: slow 5"
      - name: a bad day
        together:
          - {do: empty, nth: 3}
          - "*: rate_limit 9"
    assertions: {must_call: search_orders}
  - name: b
    prompt: Which again?
    assertions: {must_call: search_orders}
"""


def write(text: str, tmp_path: Path) -> Path:
    path = tmp_path / "shop.yml"
    path.write_text(text, encoding="utf-8")
    return path


def read(text: str, tmp_path: Path) -> Suite:
    return read_suite(write(text, tmp_path), VOCABULARY)


def test_suites_and_tests_have_faults(tmp_path: Path) -> None:
    suite = read(SUITE, tmp_path)
    timeout, error = suite.faults
    assert timeout == FaultSet(
        name="search_orders#1:timeout", faults=(FaultRule(do="timeout", on="search_orders", nth=1),)
    )
    assert timeout.at is not None
    assert timeout.at.line == 5
    assert error.faults == (FaultRule(do="error", rate=0.2, seed=7, text="upstream unavailable"),)
    slow, day = suite.cases[0].repeats.faults
    assert slow.faults == (FaultRule(do="slow", on="get_order", nth=2, seconds=5.0),)
    assert day == FaultSet(
        name="a bad day",
        faults=(FaultRule(do="empty", nth=3), FaultRule(do="rate_limit", seconds=9.0)),
    )
    chosen = choose_faults(suite, None, ())
    assert [one and one.name for one in chosen] == [
        *(None, timeout.name, error.name, slow.name, day.name)
    ]
    run = {
        case.name: [one.name for one in chosen if one and suits_case(case, one)]
        for case in suite.cases
    }
    assert run == {
        "a": [timeout.name, error.name, slow.name, day.name],
        "b": [timeout.name, error.name],
    }


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        ("search_orders#1: timeout", FaultRule(do="timeout", on="search_orders", nth=1)),
        ("*@0.2: error", FaultRule(do="error", rate=0.2)),
        ("*@0.2/7:error it is down", FaultRule(do="error", rate=0.2, seed=7, text="it is down")),
        ("a.b/c-*: slow 2.5", FaultRule(do="slow", on="a.b/c-*", seconds=2.5)),
        (
            "x: rate_limit come back later",
            FaultRule(do="rate_limit", on="x", text="come back later"),
        ),
    ],
)
def test_a_fault_on_the_command_line(rule: str, fault: FaultRule) -> None:
    assert parse_fault(rule) == fault
    assert parse_fault(fault.words) == fault


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("timeout", "'timeout' is no fault"),
        ("x: timeouts", 'found "timeouts"'),
        ("x#0: timeout", "found 0"),
        ("x@2: error", "found 2"),
        ("x: empty why", "a fault 'empty' has no words of its own"),
        ("x#1@0.5: error", "either 'nth' or 'rate'"),
    ],
)
def test_a_mistake_on_the_command_line(rule: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        choose_faults(Suite(name="s", cases=()), None, [rule])
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("item", "line", "said"),
    [
        ("{on: x}", 4, "does not say what goes wrong"),
        ("{do: brake}", 4, 'found "brake"'),
        ("{do: error, nth: 0}", 4, "found 0"),
        ("{do: error, rate: 3}", 4, "found 3"),
        ("{do: empty, text: why}", 4, "has no words of its own"),
        ("{do: error, seconds: 3}", 4, "takes no seconds"),
        ("{tool: x, do: error}", 4, "unknown"),
        ("7", 4, "expected a mapping"),
        ("'x: y'", 4, 'found "y"'),
        ("{do: error, together: ['x: error']}", 4, "beside 'together'"),
    ],
)
def test_a_mistake_in_a_file_has_its_line(item: str, line: int, said: str, tmp_path: Path) -> None:
    path = write(f"faults:\n  - do: error\n    name: first\n  - {item}\n", tmp_path)
    with pytest.raises(InvalidInput) as caught:
        read_faults_file(path)
    (problem,) = caught.value.problems
    assert said in problem.message
    assert problem.at.line == line


def test_a_file_of_faults(tmp_path: Path) -> None:
    path = write("faults: [{do: gone}, 'x: error']", tmp_path)
    chosen = choose_faults(Suite(name="s", cases=()), str(path), ["y: empty"])
    assert [one and one.name for one in chosen] == [None, "*:gone", "x:error", "y:empty"]


def test_none_is_no_fault_and_other_words_are_unknown(tmp_path: Path) -> None:
    suite = read(SUITE, tmp_path)
    assert choose_faults(suite, "none", ()) == (None,)
    assert choose_faults(suite, None, ["none"]) == (None,)
    with pytest.raises(UsageError, match="there are no faults 'standart'"):
        choose_faults(suite, "standart", ())


def test_two_faults_of_one_name_are_refused(tmp_path: Path) -> None:
    other = SUITE.replace("get_order#2: slow 5", "search_orders#1: timeout")
    same = read(other, tmp_path)
    assert len(choose_faults(same, None, ())) == 4  # None, the two of the suite, the bad day
    twice = SUITE.replace('"get_order#2: slow 5"', "{name: a bad day, do: empty}")
    with pytest.raises(InvalidInput, match="two faults of this list are called 'a bad day'"):
        read(twice, tmp_path)


CASES = """
suite: shop
server: {command: "true"}
tests:
  - {name: none, prompt: Say hi., assertions: {max_calls: 0}}
  - {name: one, prompt: Look., assertions: {must_call: look, must_succeed: look}}
  - {name: two, prompt: Look twice., assertions: {must_call: [look, write]}}
  - {name: unknown, prompt: Do something., assertions: {answer_contains: [done]}}
"""


def test_standard_faults_are_those_that_can_fire(tmp_path: Path) -> None:
    standard = build_standard_faults()
    assert [one.name for one in standard] == list(FAULT_KINDS)
    run = {
        case.name: [one.name for one in standard if suits_case(case, one)]
        for case in read(CASES, tmp_path).cases
    }
    every, all_but_stale = list(FAULT_KINDS), [kind for kind in FAULT_KINDS if kind != "stale"]
    assert run == {"none": [], "one": all_but_stale, "two": every, "unknown": every}
