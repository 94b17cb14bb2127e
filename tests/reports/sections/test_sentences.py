from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.reports.sections.sentences import find_stand_in
from harness.types import CheckResult
from tests.reports.logs import a_run


@pytest.mark.parametrize(
    ("kind", "actual", "label"),
    [
        ("graded", {"metrics": {"faithfulness": {"label": "no judge"}}}, "no judge"),
        ("graded", {"metrics": {"faithfulness": {"label": None}}}, None),
        ("graded", {"metrics": {"faithfulness": None}}, None),
        ("graded", {}, None),
        ("mine", {"metrics": {"faithfulness": {"label": "no judge"}}}, None),
        ("mine", {"metrics": {"faithfulness": 0.8}}, None),
        ("mine", {"metrics": 1}, None),
    ],
)
def test_only_our_own_score_of_faithfulness_is_labelled(
    kind: str, actual: Any, label: str | None
) -> None:
    check = CheckResult(
        kind=kind,
        label=kind,
        verdict="passed",
        actual=actual,
        traits=("grades",) if kind == "graded" else (),
    )
    assert find_stand_in(replace(a_run("a"), checks=(check,))) == label
