"""The conditions of policies mean what a complete CEL says; what is more is refused."""

from __future__ import annotations

import re
from typing import Any

import cel
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from servers.common.condition import NoValue, parse_condition

VALUES: dict[str, Any] = {
    "user": {"role": "admin", "permissions": ["w"], "level": 3},
    "args": {"flag": None, "share": 0.5, "ids": [1, 2], "on": True, "text": "\u00e9'\n"},
}
ATOMS = (
    "true", "false", "null", "0", "1", "1.0", "-1", "2.5e3", "''", "'admin'", '"w"',
    r"'\u00e9\'\n'",
    "[]", "[1, 'w',]", "[null]", "user", "args", "undefined", "user.role", "user.permissions",
    "user.level", "user.nothing", "user.role.deeper", "args.flag", "args.share", "args.ids",
    "args.on", "args.text", "has(user.role)", "has(user.nothing)", "has(args.flag)",
    "has(user.role.deeper)", "has(undefined.role)", "has(user.nothing.deeper)",
)  # fmt: skip
SIGNS = ("&&", "||", "==", "!=", "<", "<=", ">", ">=", "in")


def combine(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        inner.map(lambda part: f"!({part})"),
        inner.map(lambda part: f"!{part}"),
        inner.map(lambda part: f"[{part}, 1]"),
        st.tuples(inner, st.sampled_from(SIGNS), inner).map(" ".join),
        st.tuples(inner, st.sampled_from(SIGNS), inner).map(lambda t: f"({t[0]}) {t[1]} ({t[2]})"),
        st.tuples(inner, inner, inner).map(lambda t: f"{t[0]} ? {t[1]} : {t[2]}"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]}) ? ({t[1]}) : ({t[2]})"),
    )


EXPRESSIONS = st.recursive(st.sampled_from(ATOMS), combine, max_leaves=6)


def outcome_of_cel(source: str) -> object:
    """Return the value of an expression, or the class of what stands in its place."""
    try:
        program = cel.compile(source)
    except ValueError:
        return ValueError
    try:
        return program.execute(VALUES)
    except Exception:  # noqa: BLE001  # it raises many kinds
        return NoValue


def outcome(source: str) -> object:
    try:
        evaluate, _ = parse_condition(source)
    except ValueError:
        return ValueError
    try:
        return evaluate(VALUES)
    except NoValue:
        return NoValue


@given(EXPRESSIONS)
@example("true || undefined")
@example("undefined && false")
@example("1 == true")
@example("null in user")
@example("1.0 in user")
@example("false == false == false")
@example("'w' in user.permissions ? false : 1")
def test_an_expression_means_what_a_complete_cel_says(source: str) -> None:
    ours, theirs = outcome(source), outcome_of_cel(source)
    assert (type(ours), ours) == (type(theirs), theirs)


@given(EXPRESSIONS)
def test_its_variables_are_those_that_a_complete_cel_names(source: str) -> None:
    try:
        _, names = parse_condition(source)
    except ValueError:
        return
    assert names == set(cel.compile(source).variables())


@pytest.mark.parametrize(
    ("source", "where"),
    [
        ("", "at its end"),
        ("1 / 0 == 1", "at '/ 0 == 1'"),
        ("1 - 1 == 0", "at '- 1 == 0'"),
        ("undefined()", "at ')'"),
        ("size(user.role) > 1", "at 'user.role) > 1'"),
        ("user.role.startsWith('a')", "at '('a')'"),
        ("user.permissions.exists(p, p == 'w')", "at '(p, p == 'w')'"),
        ("user.permissions[0] == 'w'", "at '[0] == 'w''"),
        ("{'a': 1}.a == 1", "at '{'a': 1}.a == 1'"),
        ("user.role = 1", "at '= 1'"),
        ("1u == 1", "at '1u == 1'"),
        ("r'a' == 'a'", "at 'r'a' == 'a''"),
        ("'''a''' == 'a'", "at ''a''' == 'a''"),
        ("'a", "at ''a'"),
        (r"'\q' == 'q'", r"at ''\q' == 'q''"),
        ("true &&", "at its end"),
        ("(true", "at its end"),
        ("true false", "at 'false'"),
        ("has(user)", "at ')'"),
        ("user.true", "at 'true'"),
        ("(" * 5000 + "true" + ")" * 5000, "nests too deeply"),
    ],
)
def test_what_is_more_than_a_condition_is_refused_with_its_place(source: str, where: str) -> None:
    with pytest.raises(ValueError, match=re.escape(where)):
        parse_condition(source)
