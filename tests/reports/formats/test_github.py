import re
from pathlib import Path

from harness.reports.build import build_report
from harness.reports.formats.github_report import workflow_commands
from harness.reports.writers import ReportRequest, write_report
from tests.reports.sample_logs import a_conversation, a_log, a_run, an_ordinary_log, must_call


def test_every_case_without_a_pass_is_annotated_at_its_line(tmp_path: Path) -> None:
    lines = list(workflow_commands(build_report(an_ordinary_log(tmp_path))))
    assert [line.split("::")[1] for line in lines] == [
        "error file=evals/shop.yml,line=12,col=5,title=mistaken failed",
        "error file=evals/shop.yml,line=12,col=5,title=unjudged could not be judged",
        "error file=evals/shop.yml,line=12,col=5,title=often failed",
    ]
    assert "Expected call not found%0ASay it more clearly." in lines[0]


def test_what_would_end_a_property_or_the_command_is_escaped(tmp_path: Path) -> None:
    run = a_run("100%, a:b\nc", "failed", checks=(must_call("t", explanation="50%\r\n::error::x"),))
    (line,) = workflow_commands(build_report(a_log(tmp_path, [(run, a_conversation())])))
    assert re.search(r"title=100%25%2C a%3Ab c ~[0-9a-f]{8} failed::", line)
    assert "50%25%0A: :error::x" in line


def test_the_job_summary_is_added_to_and_never_replaced(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("of an earlier step\n")
    log = an_ordinary_log(tmp_path)
    path, lines = write_report(
        ReportRequest(format="github"),
        build_report(log),
        log,
        {"GITHUB_STEP_SUMMARY": str(summary)},
    )
    assert path == summary
    assert summary.read_text("utf-8").startswith("of an earlier step\n## ❌ `shop`\n")
    assert len(lines) == 3


def test_outside_of_github_the_summary_lies_in_the_runs_folder(tmp_path: Path) -> None:
    log = an_ordinary_log(tmp_path)
    path, _ = write_report(ReportRequest(format="github"), build_report(log), log, {})
    assert path == tmp_path / "summary.md"
