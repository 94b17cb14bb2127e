from __future__ import annotations

import keyword
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.leaderboards.bfcl.apis.common import (
    ApiCall,
    NotACall,
    parse_call,
    remove_call_spaces,
    reparse_call,
)
from harness.leaderboards.bfcl.apis.execution import execute_call, make_instances
from tests.judging.checks.strategies import JSON


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("pwd()", ApiCall("pwd")),
        ("cd(folder='a b')", ApiCall("cd", {"folder": "a b"})),
        (" cd('x') ", ApiCall("cd", {}, ("x",))),
        (
            "f(-1.5, a=[1, {'b': None}], c=(True, 2))",
            ApiCall("f", {"a": [1, {"b": None}], "c": (True, 2)}, (-1.5,)),
        ),
        ("api.cd(folder='x')", ApiCall("api.cd", {"folder": "x"})),
    ],
)
def test_a_call_is_read_with_its_arguments(text: str, call: ApiCall) -> None:
    assert parse_call(text) == call


@pytest.mark.parametrize(
    "text",
    [
        "", "cd", "cd(", "1 + 1", "cd('a'); cd('b')", "x = cd()", "cd(a=1, a=2)", "cd(folder=name)",
        "cd(folder=['a', f('x')])", "cd(*['x'])", "cd(**{'folder': 'x'})", "cd(f'{x}')",
        "cd(from='x')", "cd(n=nan)", "lambda: 0", "(" * 500, "f(" + "[" * 5000, "\x00",
    ],
)  # fmt: skip
def test_anything_else_is_no_call(text: str) -> None:
    with pytest.raises(NotACall):
        parse_call(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("cd", "this is no call: cd"),
        ("cd(**{})", "arguments cannot be unpacked"),
        ("cd(a=1, a=2)", "keyword argument repeated: a"),
        ("cd(from='x')", "invalid syntax (<string>, line 1)"),
    ],
)
def test_what_is_no_call_is_told_why(text: str, reason: str) -> None:
    with pytest.raises(NotACall) as caught:
        parse_call(text)
    assert str(caught.value) == reason


def test_nothing_that_is_read_is_run(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    inner = parse_call(f"cd(folder=open({str(trace)!r}, 'w'))").arguments["folder"]
    assert (inner.name, inner.positional) == ("open", (str(trace), "w"))
    assert not trace.exists()


def test_a_call_as_an_argument_is_carried_out_first() -> None:
    instances = make_instances(["MathAPI"], {}, long_context=False, data={})
    assert execute_call(instances, parse_call("add(a=1, b=2)")) == '{"result": 3}'
    assert (
        execute_call(instances, parse_call("add(a=1, b=add(a=1, b=2))"))
        == '{"error": "Both inputs must be numbers"}'
    )
    assert execute_call(instances, parse_call("add(a=1, b=nobody())")) == (
        "Error during execution: name 'nobody' is not defined"
    )


NAMES = st.from_regex(r"[a-z]{1,5}", fullmatch=True).filter(
    lambda name: not keyword.iskeyword(name)
)


@given(NAMES, st.dictionaries(NAMES, JSON, max_size=4))
def test_a_models_call_is_executed_with_what_it_said(name: str, arguments: dict[str, Any]) -> None:
    call = reparse_call(name, arguments)
    assert (call.name, set(call.arguments)) == (name, set(arguments))
    if "(" not in repr(arguments):
        assert call.arguments == arguments


@pytest.mark.parametrize("arguments", [{"a b": 1}, {"a": float("nan")}, {"from": 1}])
def test_a_call_that_cannot_be_written_out_is_none(arguments: dict[str, Any]) -> None:
    with pytest.raises(NotACall):
        reparse_call("cd", arguments)


@pytest.mark.parametrize(
    ("said", "executed"),
    [
        ("draft (old)", "draft(old)"),
        ("a  (b) c (d)", "a(b) c(d)"),
        ("2024 (new)", "2024 (new)"),
        ("- (x)", "- (x)"),
        ("line\n(x)", "line\n(x)"),
    ],
)
def test_space_between_a_word_and_a_parenthesis_is_lost_as_in_the_official_checker(
    said: str, executed: str
) -> None:
    assert reparse_call("echo", {"content": said}).arguments == {"content": executed}


@given(st.text(alphabet="ab1_ (\n'", max_size=12))
def test_a_text_without_such_space_stays_as_it_is(text: str) -> None:
    once = remove_call_spaces(text)
    assert remove_call_spaces(once) == once
    assert once.replace(" ", "").replace("\n", "") == text.replace(" ", "").replace("\n", "")
