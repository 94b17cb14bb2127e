from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.leaderboards.bfcl.decoding import java_text, javascript_text, python_text
from harness.leaderboards.bfcl.decoding.parsing import MisshapenOutput, NotCalls


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("a=1, b=-2.5, c='x', d=True, e=None", {"a": 1, "b": -2.5, "c": "x", "d": True, "e": None}),
        ("a=[1, 'x'], b={'k': [1]}", {"a": [1, "x"], "b": {"k": [1]}}),
        ("a=(1, 2)", {"a": {"(Python)": "(1, 2)"}}),
        ("a=[(1, 2)]", {"a": {"(Python)": "[(1, 2)]"}}),
        ("a={1: 2}", {"a": {"(Python)": "{1: 2}"}}),
        ("a=name, b=true", {"a": "name", "b": "true"}),
        ("a=g(), b=g(x=1), c=x[0]", {"a": "g()", "b": {"g": {"x": 1}}, "c": "x[0]"}),
        ("a=2 * 3 + 1, b='x' + 'y', c=1 / 2", {"a": 7, "b": "xy", "c": 0.5}),
        ("1, 2, a=1", {"a": 1}),
        ("**x", {"**": "x"}),
        ("a=1, a=2", {"a": 2}),
    ],
)
def test_values_are_those_of_python(text: str, arguments: dict[str, Any]) -> None:
    assert python_text.parse_compared_calls(f"[shop.f({text})]") == [("shop.f", arguments)]


@pytest.mark.parametrize(
    "text", ["f(a=1)", "[f(a=1)]", "```[f(a=1)]```", "\n [f(a=1)] \n", "[f(a=1)", "f(a=1)]"]
)
def test_brackets_and_fences_may_be_missing_or_there(text: str) -> None:
    assert python_text.parse_compared_calls(text) == [("f", {"a": 1})]


@pytest.mark.parametrize(
    "text",
    [
        "Sorry.", "[f]", "[1, f()]", "f(a=1); g()", "f(a={x})", "f(a=f'{x}')", "f(a=not_ok())(b=1",
        "f(a=lambda: 1)", "f(a=9 ** 9 ** 9)", "f(a=1 / 0)", "f(a='x' * 10 ** 9)", "f(a=-'x')",
        "```python\n[f()]\n```", "\x00", "f(a=\ud800)",
    ],
)  # fmt: skip
def test_anything_else_is_no_call(text: str) -> None:
    with pytest.raises(NotCalls):
        python_text.parse_compared_calls(text)


def test_nothing_that_is_read_is_run(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    with pytest.raises(NotCalls):
        python_text.parse_compared_calls(f"f(a=open({str(trace)!r}, 'w') + 1)")
    assert python_text.parse_compared_calls(f"f(a=open({str(trace)!r}))")
    assert not trace.exists()


def test_where_calls_are_executed_objects_of_objects_are_calls() -> None:
    assert python_text.parse_executed_calls("f(a=g(x=1), b={'k': {'l': 1}}, c={'k': 1})") == [
        ("f", {"a": {"(Python)": "g(x=1)"}, "b": {"(Python)": "k(l=1)"}, "c": {"k": 1}})
    ]
    with pytest.raises(NotCalls):
        python_text.parse_executed_calls("f(d={})")


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ('[Shop.order(item="tea", count=2)]', ("Shop.order", {"item": "tea", "count": "2"})),
        (
            "order(when=new Date(1, 2), ids=new int[]{1, 2})",
            ("order", {"when": "new Date(1, 2)", "ids": "new int[]{1,2}"}),
        ),
        (
            'f(a=new ArrayList<>(Arrays.asList("x", "y")))',
            ("f", {"a": 'new ArrayList<>(Arrays.asList("x", "y"))'}),
        ),
        ('f(a=new ArrayList<String>() {{ add("x"); }})', ("f", {"a": "new ArrayList<String>()"})),
        (
            "f(a=true, b=1.5f, c='x', d=Some.THING)",
            ("f", {"a": "true", "b": "1.5f", "c": "x", "d": "Some.THING"}),
        ),
        ("A.f(x=1, name)", ("A.f", {"x": "1", "(unnamed)": "name"})),
    ],
)
def test_a_java_call_is_read_as_texts(text: str, call: Any) -> None:
    assert java_text.parse_compared_calls(text) == [call]


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ('[order(item="tea", count=2)]', ("order", {"item": "tea", "count": "2"})),
        (
            "shop.order(a=[1, 2], b={k: 'v'}, c=(x) => x + 1)",
            ("shop.order", {"a": "[1, 2]", "b": "{k: 'v'}", "c": "(x) => x + 1"}),
        ),
        ("f(a=`x`, b='é', c=null)", ("f", {"a": "`x`", "b": "é", "c": "null"})),
        ("f(name)", ("f", {"(unnamed)": "name"})),
    ],
)
def test_a_javascript_call_is_read_as_texts(text: str, call: Any) -> None:
    assert javascript_text.parse_compared_calls(text) == [call]


@pytest.mark.parametrize(
    "read", [java_text.parse_compared_calls, javascript_text.parse_compared_calls]
)
@pytest.mark.parametrize(
    "text", ["f(a=1", "Sorry, no.", "f(a=1, a=2)", "f(a=" + "(" * 3000 + ")" * 3000 + ")"]
)
def test_what_is_not_written_in_the_language_is_no_call(read: Any, text: str) -> None:
    with pytest.raises(NotCalls):
        read(text)


@pytest.mark.parametrize(
    "read", [java_text.parse_compared_calls, javascript_text.parse_compared_calls]
)
def test_a_text_without_a_call_is_misshapen(read: Any) -> None:
    with pytest.raises(MisshapenOutput):
        read("[]")
