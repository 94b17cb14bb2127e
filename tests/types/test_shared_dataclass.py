"""The project's ``@dataclass`` beside the standard one: the same classes by both."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from harness.types.shared_dataclass import dataclass


def make_classes(decorator: Callable[..., Any]) -> dict[str, Any]:
    """Return the same classes, made by ``decorator``."""

    @decorator(frozen=True, slots=True, kw_only=True)
    class Full:
        a: int
        b: str = "x"
        c: list[int] = field(default_factory=list)
        d: float = field(default=1.5, compare=False)
        e: str = field(default="", repr=False)
        f: Any = field(default=None, hash=False)

    @decorator(frozen=True, slots=True)
    class Placed:
        a: Any
        b: Any = None
        c: Any = field(default=0, kw_only=True)

    @decorator(frozen=True)
    class Checked:
        a: int
        kind: ClassVar[str] = "checked"

        def __post_init__(self) -> None:
            if not isinstance(self.a, int):
                raise TypeError("no number")

        def __repr__(self) -> str:
            return "own"

    @decorator(frozen=True, slots=True, eq=False)
    class ByIdentity:
        a: Any

    @decorator(frozen=True, slots=True, kw_only=True)
    class Mixed:
        a: Any
        c: list[int] = field(default_factory=list)
        kind: ClassVar[str] = "mixed"

    @decorator(frozen=True)
    class Counted:
        a: Any
        c: list[int] = field(default_factory=list)
        b: Any = field(default=3, init=False)

    @decorator(frozen=True, slots=True)
    class Single:
        a: Any

    @decorator(frozen=True, slots=True)
    class Nothing:
        pass

    @decorator(frozen=True, slots=True)
    class Child(Placed):
        d: int = 4

    @decorator(frozen=True, slots=True)
    class OwnEquality:  # noqa: PLW1641 - that it has no hash is compared
        a: Any

        def __eq__(self, other: object) -> bool:
            return True

    @decorator(slots=True)
    class Changeable:
        a: Any

    plain = (Full, Placed, Single, Nothing, Mixed, Changeable)
    odd = (Checked, ByIdentity, Counted, Child, OwnEquality)
    return {made.__name__: made for made in (*plain, *odd)}


OURS, THEIRS = make_classes(dataclass), make_classes(dataclasses.dataclass)

values = st.one_of(st.integers(0, 3), st.just(float("nan")), st.lists(st.integers(0, 1)), st.none())
arguments = st.tuples(
    st.lists(values, max_size=3), st.dictionaries(st.sampled_from("abcdef"), values, max_size=4)
)


def attempt(do: Callable[[], Any]) -> Any:
    """Return the result, or the kind of the exception."""
    try:
        return do()
    except Exception as error:  # noqa: BLE001 - any kind is compared
        return type(error)


def describe(made: Any, one: Any, two: Any) -> list[Any]:
    """Return what can be seen of two instances of ``made``, as text where it may not be equal."""
    first = attempt(lambda: made(*one[0], **one[1]))
    second = attempt(lambda: made(*two[0], **two[1]))
    facts = [
        attempt(lambda: repr(first).replace("<locals>.", "")),
        attempt(lambda: first == second),
        attempt(lambda: hash(first) == hash(copy.copy(first))),
        attempt(lambda: dataclasses.asdict(first)),
        attempt(lambda: repr(dataclasses.replace(first, a=7))),
        # The standard one raises a TypeError here for a class without fields (Python 3.11).
        isinstance(attempt(lambda: setattr(first, "a", 1)), type),
        isinstance(attempt(lambda: delattr(first, "a")), type),
        attempt(lambda: repr(copy.deepcopy(first))),
    ]
    return [str(fact) for fact in facts]


@given(st.sampled_from(sorted(OURS)), arguments, arguments)
def test_instances_are_made_compared_and_shown_as_by_the_standard_decorator(
    name: str, one: Any, two: Any
) -> None:
    found = [describe(made, one, two) for made in (OURS[name], THEIRS[name])]
    if name == "ByIdentity":  # what it is equal to differs by instance, and so does its hash
        found = [[type(fact) for fact in facts] for facts in found]
    assert found[0] == found[1]


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_class_tells_the_same_of_itself(name: str) -> None:
    ours, theirs = OURS[name], THEIRS[name]
    assert [(one.name, one.type, one.kw_only) for one in dataclasses.fields(ours)] == [
        (one.name, one.type, one.kw_only) for one in dataclasses.fields(theirs)
    ]
    assert ours.__match_args__ == theirs.__match_args__
    assert hasattr(ours, "__slots__") == hasattr(theirs, "__slots__")
    assert (ours.__hash__ is None) == (theirs.__hash__ is None)
    assert ours.__dataclass_params__.frozen == theirs.__dataclass_params__.frozen
    attempt(lambda: ours(1))  # writes its `__init__`
    attempt(lambda: ours(a=1))
    assert list(inspect.signature(ours).parameters) == list(inspect.signature(theirs).parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A class that can be imported, for pickle and pydantic."""

    a: int
    b: tuple[str, ...] = ()


def test_an_instance_can_be_pickled_and_read_by_pydantic() -> None:
    sent = Sent(a=1, b=("x",))
    assert pickle.loads(pickle.dumps(sent)) == sent
    adapter = TypeAdapter(Sent)
    assert adapter.validate_python({"a": 1, "b": ["x"]}) == sent
    assert adapter.dump_python(sent) == {"a": 1, "b": ("x",)}


def test_a_value_of_a_field_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'a'"):
        Sent(a=1).a = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'a'"):
        del Sent(a=1).a


def test_a_value_that_is_not_equal_to_itself_is_the_same_value() -> None:
    unequal = float("nan")
    for made in (OURS["Single"], THEIRS["Single"]):
        assert made(unequal) == made(unequal)
        assert made(unequal) != made(float("nan"))


def test_a_plain_subclass_has_attributes_of_its_own() -> None:
    # As the standard one without slots; with them, it fails by a fault of its own (Python 3.11).
    kin: Any = type("Kin", (OURS["Single"],), {})(1)
    kin.more = 2
    assert kin.more == 2
    with pytest.raises(FrozenInstanceError):
        kin.a = 3


def test_an_instance_that_holds_itself_is_shown() -> None:
    held: list[Any] = []
    one = OURS["Placed"](held)
    held.append(one)
    assert repr(one).endswith("Placed(a=[...], b=None, c=0)")
