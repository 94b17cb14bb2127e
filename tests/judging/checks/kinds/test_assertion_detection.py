"""A check that returns nothing gives a verdict only if it, or what it calls, asserts something."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.checks.kinds.python_code import has_assertion
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
    assert has_assertion(check)


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
    assert not has_assertion(check)


# ── As Python itself compiles it: pytest rewrites the assertions of this file ─────────────────


def compiled(source: str) -> dict[str, Any]:
    """Return the names that ``source`` defines."""
    names: dict[str, Any] = {}
    exec(compile(source, "checks.py", "exec", dont_inherit=True), names)
    return names


def test_an_assert_of_python_is_an_assertion() -> None:
    names = compiled("def check(case, run): assert run.answer\ndef none(case, run): run.answer")
    assert has_assertion(names["check"])
    assert not has_assertion(names["none"])


@given(st.data())
def test_an_assertion_is_found_however_functions_call_one_another(data: st.DataObject) -> None:
    """Also where several call the same one, or call each other in a circle."""
    places = range(data.draw(st.integers(1, 6)))
    calls = [data.draw(st.lists(st.sampled_from(places), max_size=4)) for _ in places]
    asserting = [data.draw(st.booleans()) for _ in places]
    names = compiled(
        "".join(
            f"def f{place}(run):\n    run\n"
            + "".join(f"    f{other}(run)\n" for other in calls[place])
            + ("    assert run\n" if asserting[place] else "")
            for place in places
        )
    )
    reached, waiting = set[int](), [0]
    while waiting:
        place = waiting.pop()
        if place not in reached:
            reached.add(place)
            waiting += calls[place]
    assert has_assertion(names["f0"]) is any(asserting[place] for place in reached)


_KINDS_OF_CALLABLES = """
import functools
class Base:
    def far(self): ASSERT
    def near(self): self.far()
    @classmethod
    def make(cls): cls.far(None)
    @staticmethod
    def alone(): ASSERT
class Suite(Base):
    def check(self, case, run): self.near()
    @classmethod
    def of_class(cls, case, run): cls.make()
class Called:
    def __call__(self, case, run): self.look()
    def look(self): ASSERT
class Counted(type):
    def __call__(cls, *parts): ASSERT
class Settings(metaclass=Counted): answer = 1
settings = object.__new__(Settings)
def plain(case, run): ASSERT
@functools.lru_cache
def remembered(case, run): ASSERT
def wrapped(function):
    @functools.wraps(function)
    def inner(*parts): pass
    return inner
@wrapped
def decorated(case, run): ASSERT
def by_static(case, run): Base.alone()
def by_method_of_class(case, run): Base().near()
def by_partial(case, run): part()
part = functools.partial(functools.partial(plain, 1), 2)
class Outer:
    class Inner:
        @staticmethod
        def look(): ASSERT
    def check(self, case, run): self.Inner.look()
nested = Outer().check
method, of_class, called = Suite().check, Suite.of_class, Called()
"""


@pytest.mark.parametrize(
    "name",
    [
        "plain",
        "remembered",
        "decorated",
        "by_static",
        "by_method_of_class",
        "by_partial",
        "part",
        "method",
        "of_class",
        "called",
    ],
)
def test_an_assertion_is_found_through_whatever_can_be_called(name: str) -> None:
    assert has_assertion(compiled(_KINDS_OF_CALLABLES.replace("ASSERT", "assert 1 > 0"))[name])
    assert not has_assertion(compiled(_KINDS_OF_CALLABLES.replace("ASSERT", "1 > 0"))[name])


def test_a_value_asserts_nothing_whatever_its_class_does_when_it_is_called() -> None:
    source = _KINDS_OF_CALLABLES.replace("ASSERT", "assert 1 > 0")
    names = compiled(f"{source}\ndef check(case, run): run.answer == settings.answer")
    assert not has_assertion(names["check"])
