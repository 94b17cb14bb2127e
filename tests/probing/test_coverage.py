"""What a probe never asked counts, whatever it found in what it asked."""

from __future__ import annotations

from harness.probing.report import Cell, Coverage, format_cells


def cell(tool: str, identity: str, parameter: str | None = None) -> Cell:
    return Cell(tool=tool, identity=identity, parameter=parameter)


def test_too_little_is_told_with_both_figures() -> None:
    coverage = Coverage(cells=4, never_asked=(cell("drop", "ann"),), wanted=80)
    assert (coverage.covered_cells, coverage.percent) == (3, 75)
    assert coverage.failure == "Coverage is 75.0 %, at least 80 % is wanted"
    assert Coverage(cells=4, never_asked=(cell("drop", "ann"),), wanted=75).failure is None
    assert Coverage(cells=4, never_asked=(cell("drop", "ann"),)).failure is None


def test_a_server_without_tools_lacks_nothing() -> None:
    assert Coverage(wanted=100).failure is None


def test_what_was_never_asked_is_named_by_tool_and_parameter() -> None:
    never = [cell("get", "ann", "id"), cell("get", "bob", "id"), cell("drop", "ann")]
    assert list(format_cells(never)) == ["get with id, as ann, bob", "drop, as ann"]
