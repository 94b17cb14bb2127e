"""How much of a finding reaches a report."""

from __future__ import annotations

import pytest

from harness.base.errors import InvalidValue
from harness.judging.checks.kind import CheckFinding, build_check_result, make_list_reader
from harness.types import Check


@pytest.mark.parametrize(("size", "kept"), [(1_500, 1_500), (1_501, 1_500)])
def test_an_explanation_has_so_many_characters(size: int, kept: int) -> None:
    found = build_check_result(
        Check(kind="k", params={}),
        CheckFinding(label="", verdict="failed", why=(["x" * size], None)),
    )
    assert len(found.explanation) == kept
    assert found.explanation.endswith("…") is (size > kept)


@pytest.mark.parametrize(("size", "kept"), [(750, 750), (751, 750)])
def test_a_hint_has_half_as_many(size: int, kept: int) -> None:
    found = build_check_result(
        Check(kind="k", params={}), CheckFinding(label="x", verdict="failed", why=([], "x" * size))
    )
    assert found.hint is not None
    assert len(found.hint) == kept


def test_a_severity_in_the_params_outranks_that_of_the_check() -> None:
    for params, severity in (({"severity": "warn"}, "warn"), ({}, "fail")):
        assert (
            build_check_result(
                Check(kind="k", params=params), CheckFinding(label="", verdict="failed")
            ).severity
            == severity
        )
    assert (
        build_check_result(
            Check(kind="k", params={}), CheckFinding(label="", verdict="passed")
        ).label
        == "k"
    )


def test_a_lone_item_a_list_and_nothing_are_told_apart() -> None:
    read = make_list_reader(lambda value, path: {"value": value, "path": list(path)})
    assert read("a") == (((), {"value": "a", "path": []}),)
    assert read(["a", "b"]) == (
        ((0,), {"value": "a", "path": [0]}),
        ((1,), {"value": "b", "path": [1]}),
    )
    for empty in (list[str](), ()):
        with pytest.raises(InvalidValue, match="this list is empty: nothing is checked"):
            read(empty)
    with pytest.raises(InvalidValue, match="there is no value"):
        read(None)
