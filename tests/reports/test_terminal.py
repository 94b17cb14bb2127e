"""Tables for a terminal, also those of thousands of lines."""

from __future__ import annotations

from harness.reports.terminal import table_lines


class Measured(str):
    """A cell that counts how often its width is asked for."""

    __slots__ = ()
    asked = 0

    def __len__(self) -> int:
        Measured.asked += 1
        return super().__len__()


def test_columns_without_room_come_in_a_block_of_their_own() -> None:
    columns = [["m", "passed"], ["other", "failed"]]
    assert list(table_lines(["case", "a"], columns, 15)) == [
        "case  m",
        "a     passed",
        "",
        "case  other",
        "a     failed",
    ]
    assert list(table_lines(["case", "a"], columns, 80)) == [
        "case  m       other",
        "a     passed  failed",
    ]


def test_the_width_of_a_column_is_measured_as_often_whatever_the_number_of_its_lines() -> None:
    def count_measures(lines: int) -> float:
        Measured.asked = 0
        columns = [[Measured("passed") for _ in range(lines)] for _ in range(3)]
        assert len(list(table_lines(["case"] * lines, columns, 80))) == lines
        return Measured.asked / lines

    assert count_measures(200) == count_measures(20)
