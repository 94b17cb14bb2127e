import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import InvalidInput
from harness.judging.checks import VOCABULARY
from harness.suites.readers import read_suite
from harness.types import Suite
from tests.suites.suites import spoilt_suites
from tests.suites.vocabulary import PlainVocabulary

SEED = b"""\
mxcp: 1
suite: shop
server: {command: python, args: [server.py], identity: {via: env, variables: {ROLE: "{role}"}}}
timeout: 5
contexts: {admin: {role: admin}, nobody: }
defaults: {max_calls: 9, tags: [x], assertions: {must_not_call: [drop]}}
tests:
  - name: one
    prompt: |
      Show me the customer's
      details, please.
    user_context: &user {role: analyst, since: 2024-05-01}
    assertions:
      must_call:
        - tool: get_customer
          args: {id: "CUST_1", deep: [1, 2.5, null]}
        - other
      answer_contains: ["x: y", 'it''s']
  - name: two
    prompt: "caf\xc3\xa9 \\u00e9"
    user_context: {<<: *user, role: null}
    tags: [a, b]
    assertions: {must_not_call: [drop_table]}
  - name: many
    prompt: Is ${{ a }} ${{b}}?
    matrix: {a: [x, 'y'], b: [1, null]}
    user_context: admin
    setup: [reset, {tool: create, args: {id: ${{ b }}}}]
    trials: 3
    pass_threshold: 0.5
  - name: talk
    turns: [{prompt: a, assertions: {must_call: [x]}}, {prompt: b}]
"""


def survives(content: bytes, folder: Path) -> Suite | None:
    """Read ``content``; anything but a suite or an `InvalidInput` with places fails the test."""
    path = folder / "fuzz.yml"
    path.write_bytes(content)
    try:
        return read_suite(path, VOCABULARY)
    except InvalidInput as caught:
        error = caught
    assert error.problems
    assert all(problem.message and problem.at.file for problem in error.problems)
    str(error).encode("utf-8")
    return None


def test_the_seed_itself_is_valid(tmp_path: Path) -> None:
    assert survives(SEED, tmp_path)


@given(content=st.binary(max_size=200))
def test_any_bytes_are_a_suite_or_invalid(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    survives(content, tmp_path_factory.getbasetemp())


@given(content=st.text(alphabet="abk01 \n\t:-?,[]{}&*!|>'\"%@`#\\~<.éx", max_size=60))
def test_any_marks_of_yaml_are_a_suite_or_invalid(
    content: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    survives(b"suite: s\n" + content.encode(), tmp_path_factory.getbasetemp())


@given(
    edits=st.lists(
        st.tuples(
            st.integers(0, len(SEED)),
            st.integers(0, 12),
            st.binary(max_size=3) | st.sampled_from([b"\n", b": "]),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_edit_of_a_suite_is_a_suite_or_invalid(
    edits: list[tuple[int, int, bytes]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = SEED
    for place, length, insertion in edits:
        content = content[:place] + insertion + content[place + length :]
    survives(content, tmp_path_factory.getbasetemp())


@given(suite=spoilt_suites())
def test_any_value_at_any_place_is_a_suite_or_invalid(
    suite: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "spoilt.yml"
    path.write_text(json.dumps(suite), encoding="utf-8")
    for vocabulary in (PlainVocabulary(), VOCABULARY):
        try:
            read_suite(path, vocabulary)
        except InvalidInput as error:
            lines = [problem.at.line or 0 for problem in error.problems]
            assert lines == sorted(lines)
