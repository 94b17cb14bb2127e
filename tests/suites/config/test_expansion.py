"""References to the environment in configured text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import InvalidValue
from harness.suites.config.expansion import UnsetVariable, expand_references, find_sole_reference

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
PLAIN = st.text().filter(lambda text: "${" not in text and not text.endswith("$"))


def expanded(value: object, **environ: str) -> object:
    problems: list[InvalidValue] = []
    result = expand_references(value, environ, problems)
    assert problems == []
    return result


def test_a_reference_becomes_the_value_of_its_variable() -> None:
    assert (
        expanded("http://${HOST}:${PORT}/v1", HOST="localhost", PORT="80")
        == "http://localhost:80/v1"
    )


def test_a_default_stands_in_for_a_variable_that_is_unset_or_empty() -> None:
    assert expanded("${A:-x} ${B:-y} ${C:-z}", B="", C="set") == "x y set"


def test_a_default_may_be_empty() -> None:
    assert expanded("[${A:-}]") == "[]"


def test_a_doubled_dollar_keeps_a_reference_as_text() -> None:
    assert expanded("$${HOME} costs 5$ or $5", HOME="/root") == "${HOME} costs 5$ or $5"


def test_a_value_is_not_expanded_again() -> None:
    assert expanded("${A}", A="${B}", B="deep") == "${B}"


def test_references_are_replaced_at_any_depth() -> None:
    value = {"args": ("-p", "${PORT}"), "list": ["${PORT}", 1, None], "flag": True}
    assert expanded(value, PORT="80") == {
        "args": ("-p", "80"),
        "list": ["80", 1, None],
        "flag": True,
    }


def test_an_unset_variable_is_named_with_the_path_to_it() -> None:
    problems: list[InvalidValue] = []
    expand_references({"env": {"TOKEN": "${SHOP_TOKEN}"}}, {}, problems)
    [problem] = problems
    assert isinstance(problem, UnsetVariable)
    assert problem.variable == "SHOP_TOKEN"
    assert problem.path == ("env", "TOKEN")
    assert "SHOP_TOKEN is not set" in problem.message


def test_every_unset_variable_is_found_in_one_go() -> None:
    problems: list[InvalidValue] = []
    expand_references(["${A} ${B}", "${C}"], {}, problems)
    assert [problem.path for problem in problems] == [(0,), (0,), (1,)]


def test_an_opening_that_is_no_reference_is_a_problem() -> None:
    for text in ("${API-KEY}", "${", "${}", "${1A}", "${A:default}"):
        problems: list[InvalidValue] = []
        expand_references(text, {"A": "a"}, problems)
        assert len(problems) == 1, text
        assert "$${" in (problems[0].meant or "")


@pytest.mark.parametrize("environ", [{}, {"A": "a"}, {"A": "a", "B": "b"}])
@pytest.mark.parametrize("text", ["${A:-${B}}", "${A:-x${B:-y}}", "${A:-$${B}}"])
def test_a_default_that_holds_a_reference_is_a_problem_whatever_is_set(
    text: str, environ: dict[str, str]
) -> None:
    problems: list[InvalidValue] = []
    expand_references({"url": text}, environ, problems)
    (problem,) = problems
    assert (problem.message, problem.path) == (
        "the default of A contains another reference.",
        ("url",),
    )


def test_a_sole_reference_is_told_from_a_text_that_holds_one() -> None:
    assert find_sole_reference("${KEY}") == "KEY"
    assert find_sole_reference("${KEY:-none}") == "KEY"
    assert find_sole_reference("Bearer ${KEY}") is None
    assert find_sole_reference("$${KEY}") is None
    assert find_sole_reference("KEY") is None


@given(PLAIN)
def test_text_without_references_stays_as_it_is(text: str) -> None:
    assert expanded(text) == text


@given(st.lists(st.tuples(PLAIN, NAMES, st.text())))
def test_whatever_a_variable_holds_is_put_in_literally(parts: list[tuple[str, str, str]]) -> None:
    environ = {name: value for _, name, value in parts}
    text = "".join(f"{plain}${{{name}}}" for plain, name, _ in parts)
    assert expanded(text, **environ) == "".join(plain + environ[name] for plain, name, _ in parts)
