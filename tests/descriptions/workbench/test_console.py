"""A workbench on a terminal."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from harness.descriptions.workbench.console import print_result, rank_findings
from harness.descriptions.workbench.study import Finding, StudyResult
from harness.descriptions.workbench.workbench_result import ModelResults
from tests.descriptions.workbench.page.samples import a_result
from tests.descriptions.workbench.page.test_page import HOSTILE_WORDS
from tests.reports.test_hostile import COMMAND, HARMFUL


def printed(folder: Path, width: int, *words: str, **more: object) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, highlight=False, markup=False, emoji=False)
    print_result(a_result(folder, *([words] if words else []), **more), console)  # type: ignore[arg-type]
    return stream.getvalue()


def test_the_findings_come_first_one_line_each_and_then_each_study(tmp_path: Path) -> None:
    lines = printed(tmp_path, 200, baseline=True).splitlines()
    assert lines[0] == "find_orders, m"
    assert "which is not an LLM" in lines[1]
    assert lines[2] == "! ablation says find_orders"
    assert "ablation: ablation: find_orders" in lines
    assert "  Note: a note on find_orders" in lines


@pytest.mark.parametrize("width", [24, 40, 61])
def test_on_a_narrow_terminal_a_finding_keeps_its_column_and_no_command_is_made(
    tmp_path: Path, width: int
) -> None:
    text = printed(tmp_path, width, *HOSTILE_WORDS)
    assert COMMAND.search(text) is None
    assert HARMFUL.search(text) is None
    lines = printed(tmp_path / "again", 24).splitlines()
    place = lines.index("! ablation says")
    assert lines[place + 1] == "  find_orders"


def test_no_study_drowns_the_findings_of_the_others() -> None:
    def found(study: str, weight: float, *, certain: bool) -> StudyResult:
        findings = tuple(
            Finding(text=f"{study} {place}", weight=weight - place, certain=certain)
            for place in range(12)
        )
        return StudyResult(study=study, headline="", findings=findings)

    loud, quiet = found("loud", 99, certain=True), found("quiet", 20, certain=False)
    both = ModelResults(model="m", baseline=False, studies=(loud, quiet))
    assert [finding.text for _, finding in rank_findings(both)] == [
        *(f"loud {place}" for place in range(7)),
        *(f"quiet {place}" for place in range(3)),
    ]
    alone = ModelResults(model="m", baseline=False, studies=(loud,))
    assert len(rank_findings(alone)) == 10
