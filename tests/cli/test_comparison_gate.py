from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from harness.base.errors import UsageError
from harness.cli.commands import compare
from harness.cli.results_output import ResultsOutput, compare_results, parse_margin
from harness.reports.build import build_report
from harness.reports.comparing.contrasts import ComparedRun
from tests.reports.run_logs import write_log


@pytest.mark.parametrize(
    ("text", "value"), [("0", 0.0), ("0.05", 0.05), ("5%", 0.05), (None, None), ("12.5%", 0.125)]
)
def test_a_margin_is_a_share_or_a_percentage(text: str | None, value: float | None) -> None:
    assert parse_margin(None, None, text) == value  # type: ignore[arg-type]  # it needs neither


@pytest.mark.parametrize("text", ["latest", "-0.1", "1", "100%", "nan", "%", "5 points"])
def test_what_is_no_margin_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(click.BadParameter, match="Write a RUN before --gate"):
        parse_margin(None, None, text)  # type: ignore[arg-type]  # it needs neither


def test_a_gate_without_a_baseline_is_refused() -> None:
    with pytest.raises(UsageError, match="--baseline"):
        ResultsOutput(gate=0.0)


def test_a_file_that_cannot_be_written_is_told_in_words(tmp_path: Path) -> None:
    logs = [str(write_log(tmp_path / name / "log.jsonl", {"a": "p"}).path) for name in "ab"]
    (tmp_path / "taken").write_text("")
    asked = [*logs, "--report", f"html:{tmp_path}/taken/page.html"]
    refused = CliRunner().invoke(compare.command, asked).exception
    assert isinstance(refused, UsageError)
    assert "cannot be written" in str(refused)


@pytest.mark.parametrize("text", ["page.pdf", "pdf:page", "html:", "html"])
def test_a_file_of_no_known_format_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="markdown:PATH"):
        compare.read_files(None, None, (text,))  # type: ignore[arg-type]  # it needs neither


@pytest.mark.parametrize(
    ("before", "after", "gate", "code"),
    [
        ("p" * 8, "p" * 8, 0.0, 0),
        ("p" * 8, "pppppppf", 0.0, 0),
        ("p" * 8, "pppppppf", None, 1),
        ("p" * 8, "f" * 8, 0.0, 1),
        ("p" * 8, "f" * 8, 0.9, 3),
        ("p" * 8, "pppppppe", 0.0, 4),
        ("f" * 8, "f" * 8, 0.0, 3),
    ],
)
def test_with_a_gate_failures_count_only_as_evidence_of_a_regression(
    tmp_path: Path, before: str, after: str, gate: float | None, code: int
) -> None:
    logs = [
        write_log(
            tmp_path / name / "log.jsonl", {f"case{i}": letter for i, letter in enumerate(letters)}
        )
        for name, letters in (("before", before), ("after", after))
    ]
    verdict = compare_results(logs[1], ComparedRun.from_log(logs[0]), gate)
    assert verdict is not None
    assert verdict.exit_code(build_report(logs[1])) == code


def test_the_models_of_a_run_are_compared_without_being_asked(tmp_path: Path) -> None:
    several = write_log(
        tmp_path / "one" / "log.jsonl", {}, models={"x": {"a": "p"}, "y": {"a": "f"}}
    )
    assert compare_results(several, None, None) is not None
    assert (
        compare_results(write_log(tmp_path / "two" / "log.jsonl", {"a": "p"}), None, None) is None
    )
