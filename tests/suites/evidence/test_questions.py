"""Tests that ask one question in other words are one piece of evidence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.judging.checks import VOCABULARY
from harness.suites.readers import read_suite

ARGS = {"must_call": [{"tool": "get_weather", "args": {"city": "Paris"}}]}
NAMED = {"must_call": ["get_weather"]}
SAID = {"answer_contains": ["rain"]}
ASKED = "Will there be any rain in Paris on Monday, please?"
NEAR = "Will there be any rain in Paris on Monday, then?"


def questions(folder: Path, *tests: dict[str, Any], **suite: Any) -> list[str | None]:
    """Return the test of each case of a suite; its tests are called a, b, …"""
    named = [{"name": name, **test} for name, test in zip("abcdefgh", tests, strict=False)]
    path = folder / "suite.yml"
    path.write_text(json.dumps({"mxcp": 1, "suite": "s", "tests": named, **suite}), "utf-8")
    return [case.test for case in read_suite(path, VOCABULARY).cases]


@pytest.mark.parametrize(
    ("checks", "one", "other", "same"),
    [
        (ARGS, ASKED, NEAR, True),
        (ARGS, "What is the weather in Paris?", "Paris, weather?", False),
        (NAMED, "What is the weather in Paris?", "Tell me a joke about rain.", False),
        (NAMED, ASKED, NEAR, True),
        (SAID, ASKED, ASKED, True),
        (SAID, ASKED, "Is Monday a wet day in France?", False),
    ],
)
def test_tests_of_which_the_same_is_expected_ask_the_same(
    tmp_path: Path, checks: dict[str, Any], one: str, other: str, same: bool
) -> None:
    tests = [{"prompt": prompt, "assertions": checks} for prompt in (one, other)]
    assert questions(tmp_path, *tests) == (["a", "a"] if same else [None, None])


@pytest.mark.parametrize(
    "other",
    [
        {"assertions": {"must_call": [{"tool": "get_weather", "args": {"city": "Rome"}}]}},
        {"assertions": {**ARGS, **SAID}},
        {"user_context": {"role": "guest"}},
        {"setup": [{"tool": "start"}]},
        {"max_calls": 1},
        {"test": "its own"},
    ],
    ids=["arguments", "checks", "caller", "setup", "limits", "named"],
)
def test_what_differs_in_more_than_words_is_a_question_of_its_own(
    tmp_path: Path, other: dict[str, Any]
) -> None:
    plain = {"prompt": ASKED, "assertions": ARGS, "user_context": {"role": "admin"}}
    assert questions(tmp_path, plain, plain | other) == [None, None]


def test_a_name_and_nothing_else_decides_for_the_tests_that_have_one(tmp_path: Path) -> None:
    one, other = ({"prompt": word, "assertions": SAID} for word in ("Rain?", "Is it wet?"))
    found = questions(tmp_path, one, {**other, "test": "a"}, {**one, "test": "x"}, other)
    assert found == ["a", "a", None, None]


def test_rephrasings_of_a_matrix_are_one_with_it(tmp_path: Path) -> None:
    checks = {"must_call": [{"tool": "get_weather", "args": {"city": "${{ city }}"}}]}
    tests = [
        {"prompt": prompt, "matrix": {"city": ["Paris", "Rome"]}, "assertions": checks}
        for prompt in (
            "Will it rain in ${{ city }} today?",
            "Will it rain in ${{ city }} today, then?",
        )
    ]
    assert questions(tmp_path, *tests) == ["a"] * 4


def test_rows_of_a_table_that_rephrase_a_question_are_one(tmp_path: Path) -> None:
    path = tmp_path / "weather.csv"
    rows = (f'1,"{ASKED}",get_weather,{{city}},rain', f'2,"{NEAR}",get_weather,{{city}},rain')
    text = "\n".join(
        ("test_id,query,expected_tool,expected_args,expected_response_contains", *rows)
    )
    path.write_text(text.replace("{city}", '"{""city"": ""Paris""}"') + "\n", "utf-8")
    assert [case.test for case in read_suite(path, VOCABULARY).cases] == ["1", "1"]
