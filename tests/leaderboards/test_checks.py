"""Leaderboards bring checks of their own, which no suite may name."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from harness.base.errors import InvalidValue, UsageError
from harness.judging.checks import VOCABULARY
from harness.judging.checks.registry import KINDS
from harness.leaderboards.bfcl.check import KIND
from harness.leaderboards.tau2.checks import ASSERTION, RULE


@pytest.mark.parametrize("kind", [KIND, RULE, ASSERTION])
def test_a_check_of_a_leaderboard_is_known_with_its_cases_and_offered_to_no_suite(
    kind: str,
) -> None:
    assert kind not in VOCABULARY.names()
    with pytest.raises(InvalidValue):
        KINDS.get(kind).parse({})


@pytest.mark.parametrize("kind", [KIND, RULE, ASSERTION, "python"])
def test_nothing_fits_the_schema_of_a_check_that_no_suite_may_name(kind: str) -> None:
    schema = Draft202012Validator(KINDS.get(kind).schema)
    values: list[Any] = [None, True, {}, [], "x", 1, {"component": "ACTION"}]
    assert not any(schema.is_valid(value) for value in values)


def test_an_unknown_check_is_still_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no check named 'bfcI'"):
        KINDS.get("bfcI")
