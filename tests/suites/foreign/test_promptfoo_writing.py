"""A suite becomes a configuration of promptfoo that is read as the same suite, or is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.errors import InvalidInput
from harness.judging.checks import VOCABULARY
from harness.suites.conversion import convert_suite
from harness.suites.readers import read_suite

HEAD = "suite: shop\nmodel: anthropic:claude-sonnet-4-5\ntests:\n- name: a\n  prompt: 'Say: x'\n"
SAME = """\
  assertions:
    answer_verbatim: [{contains: x}, {contains: Y, ignore_case: true}, {equals: "0o17"}]
    must_call: [{tool: get}, {tool: put, args: {id: 1}}]
    must_not_call: [{tool: drop, allow_absent: true}]
    must_call_in_order: [get, put]
    max_calls: {limit: 5}
    max_seconds: {limit: 2.5}
    answer_judge: {rubric: is it right?, threshold: 0.5}
"""


def test_what_both_can_say_is_written_and_read_as_the_same(tmp_path: Path) -> None:
    source, target = tmp_path / "shop.yml", tmp_path / "shopconfig.yaml"
    source.write_text(HEAD + SAME, "utf-8")
    convert_suite(source, target, VOCABULARY)
    ours, again = (read_suite(path, VOCABULARY) for path in (source, target))
    assert len(again.cases[0].checks) == 10
    theirs, mine = (
        [(check.kind, check.params) for check in suite.cases[0].checks] for suite in (again, ours)
    )
    assert theirs == mine
    assert ours.model == again.model


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("  assertions: {answer_contains: [x]}\n", "shop.yml:6:34: promptfoo cannot express"),
        ("  timeout: 5\n  assertions: {must_call: get}\n", "'limits' of test 'a'"),
        ("  assertions: {must_call: {tool: get, min_times: 2}}\n", "'must_call' of test 'a'"),
    ],
)
def test_what_it_cannot_express_is_named(more: str, told: str, tmp_path: Path) -> None:
    source, target = tmp_path / "shop.yml", tmp_path / "shopconfig.yaml"
    source.write_text(HEAD + more, "utf-8")
    with pytest.raises(InvalidInput) as caught:
        convert_suite(source, target, VOCABULARY)
    assert told in str(caught.value)
    assert not target.exists()
