"""A check that returns nothing gives a verdict only if it, or what it calls, asserts something."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from harness.checks.asserting import asserts
from tests import clock


def is_paris(answer: str) -> None:
    assert answer == "Paris"


def compares(answer: str) -> None:
    _ = answer == "Paris"


def calls_it(case: Any, run: Any) -> None:
    is_paris(run.answer)


def calls_one_that_compares(case: Any, run: Any) -> None:
    compares(run.answer)


def calls_itself(case: Any, run: Any) -> None:
    calls_itself(case, run)


def raises(case: Any, run: Any) -> None:
    if run.answer != "Paris":
        raise AssertionError("not Paris")


async def later(case: Any, run: Any) -> None:
    assert run.answer


def within(case: Any, run: Any) -> None:
    def look() -> None:
        assert run.answer

    look()


def uses_a_library(case: Any, run: Any) -> None:
    case.testing.assert_equal(run.answer, "Paris")


def names_a_module(case: Any, run: Any) -> None:
    clock.clock_goes_forward(run.answer)


def closing_over(function: Callable[[str], None]) -> Callable[[Any, Any], None]:
    def check(case: Any, run: Any) -> None:
        function(run.answer)

    return check


class Helper:
    def verify(self, run: Any) -> None:
        assert run.answer

    def look(self, run: Any) -> None:
        pass


HELPER = Helper()


class Suite(Helper):
    def by_method(self, case: Any, run: Any) -> None:
        self.verify(run)

    def by_none(self, case: Any, run: Any) -> None:
        self.look(run)

    @staticmethod
    def static(case: Any, run: Any) -> None:
        assert run.answer

    @classmethod
    def of_class(cls, case: Any, run: Any) -> None:
        cls.verify(HELPER, run)


class Callee:
    def __call__(self, case: Any, run: Any) -> None:
        assert run.answer


def by_an_object(case: Any, run: Any) -> None:
    HELPER.verify(run)


def by_a_new_object(case: Any, run: Any) -> None:
    Helper().verify(run)


@pytest.mark.parametrize(
    "check",
    [
        calls_it,
        raises,
        later,
        within,
        uses_a_library,
        closing_over(is_paris),
        Suite().by_method,
        Suite.static,
        Suite().of_class,
        Callee(),
        partial(calls_it, run=None),
        by_an_object,
        by_a_new_object,
    ],
)
def test_an_assertion_is_found_where_it_is_made(check: Any) -> None:
    assert asserts(check)


@pytest.mark.parametrize(
    "check",
    [
        calls_one_that_compares,
        calls_itself,
        names_a_module,
        closing_over(compares),
        Suite().by_none,
        print,
        lambda case, run: None,
    ],
)
def test_who_asserts_nothing_is_known(check: Any) -> None:
    assert not asserts(check)
