import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from harness.reports.build import build_report
from harness.reports.formats.console import print_summary
from harness.reports.formats.markdown_report import fence_code, format_code
from harness.types import Usage
from tests.reports.sample_logs import (
    STAND_IN,
    a_conversation,
    a_log,
    a_run,
    an_ordinary_log,
    must_call,
    written,
)


def test_the_head_says_how_many_passed_and_how_sure_that_is(tmp_path: Path) -> None:
    text = written(an_ordinary_log(tmp_path), "markdown")
    assert text.startswith("## ❌ `shop`\n")
    assert "**8 planned: 3 passed, 2 failed, 1 error, 1 skipped, 1 cancelled**" in text
    assert "95 % interval" in text


def test_failures_stand_first_and_what_passed_last(tmp_path: Path) -> None:
    text = written(an_ordinary_log(tmp_path), "markdown")
    lines = [
        line.split("|")[2].strip()
        for line in text.splitlines()
        if line.startswith(("| ❌", "| 💥", "| ⏹", "| ⏭", "| ✅"))
    ]
    assert lines == ["`mistaken`", "`often`", "`unjudged`", "`cut`", "`left_out`", "`sold`"]


def test_it_says_what_judges_and_users_took_and_where_no_judge_scored(tmp_path: Path) -> None:
    took: dict[str, Any] = {
        "judge_usage": Usage(input_tokens=9, output_tokens=2, cost_usd=0.5),
        "user_usage": Usage(cost_usd=1.0),
    }
    log = a_log(
        tmp_path, [(a_run("a", checks=(STAND_IN,), **took), a_conversation()), (a_run("b"), None)]
    )
    log.header.settings.update({"judge_models": {"gpt-4o": {}}, "user_models": {"mini": {}}})  # type: ignore[attr-defined]
    lines = written(log, "markdown").splitlines()
    stream = io.StringIO()
    print_summary(build_report(log), log, Console(file=stream, width=100, highlight=False))
    for line in (
        "faithfulness of 1 trial: no judge: keywords and grounding",
        "judge gpt-4o · tokens 9 in, 2 out · cost $0.50",
        "user mini · tokens 0 in, 0 out · cost $1.00",
    ):
        assert format_code(line) in lines
        assert line in stream.getvalue().splitlines()
    assert "faithfulness" not in written(an_ordinary_log(tmp_path / "other"), "markdown")


def test_it_names_what_was_called_instead(tmp_path: Path) -> None:
    assert "`get_order` → `get_orders` (2×)" in written(an_ordinary_log(tmp_path), "markdown")


@pytest.mark.slow
def test_everything_fits_into_a_comment_and_says_what_does_not(tmp_path: Path) -> None:
    checks = (must_call("t", explanation="long " * 1000),)
    trials = [
        (a_run(f"case_{number}", "failed", checks=checks), a_conversation())
        for number in range(600)
    ]
    text = written(a_log(tmp_path, trials), "markdown")
    assert len(text) < 65_536
    assert "more.\n" in text
    assert "harness view 20260101T000000Z-shop-abcdef" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "`plain`"),
        ("a|b", "`a\\|b`"),
        ("two\nlines", "`two lines`"),
        ("a`b", "``a`b``"),
        ("`", "`` ` ``"),
        ("``x", "``` ``x ```"),
        ("", ""),
    ],
)
def test_a_code_span_holds_any_text(text: str, expected: str) -> None:
    assert format_code(text) == expected


def test_a_code_block_cannot_be_closed_from_inside() -> None:
    assert fence_code("a\n````\nb") == "`````text\na\n````\nb\n`````"
