"""The order of rows gives away what no field has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from harness.probing.gains import ForgeryGain
from harness.types import ToolCall
from tests.judging.policy.views import call
from tests.probing.evidence.hidden_cases import ROWS, gain, shown

BY_AMOUNT = sorted(ROWS, key=lambda row: row["settled"])


def sorted_by(field: str, rows: Sequence[Mapping[str, Any]], *, twice: bool = False) -> ToolCall:
    answer = shown(rows, "case_id", "title")
    text = str(answer["cases"]).replace("'", '"') if twice else ""
    return call("list_cases", {"sort": field}, structured=answer, text=text)


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("rows", [BY_AMOUNT, BY_AMOUNT[::-1]])
def test_rows_in_the_order_of_a_withheld_field_are_a_gain(
    rows: Sequence[Mapping[str, Any]], *, twice: bool
) -> None:
    found = gain("auditor", sorted_by("settled", rows, twice=twice))
    assert found == ForgeryGain(("cases[].settled",), ("partner",))


@pytest.mark.parametrize(
    ("made", "usual"),
    [
        (sorted_by("settled", ROWS), ROWS),  # the wish is ignored
        (sorted_by("settled", BY_AMOUNT), BY_AMOUNT),  # the rows always come so
        (sorted_by("case_id", BY_AMOUNT), ROWS),  # nobody asked for that order
        (sorted_by("settled", BY_AMOUNT[:5]), ROWS),  # five may be in order by chance
    ],
)
def test_rows_in_an_order_that_shows_nothing_are_none(
    made: ToolCall, usual: Sequence[Mapping[str, Any]]
) -> None:
    assert gain("auditor", made, usual) is None
