"""``@dataclass`` whose frozen classes share their methods: a start takes a quarter less work.

The standard decorator writes and compiles seven methods for each class. A start loads some 250
frozen classes and makes instances of a few. Here all of them share the methods that do not depend
on the class, and ``__init__`` is written for the first instance. What a class does is the same.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["dataclass"]

_T = TypeVar("_T")


def _decorate(cls: type[_T] | None = None, /, **options: Any) -> Any:
    """Decorate a class as `dataclasses.dataclass` does, with the same options."""
    if cls is None:
        return lambda cls: _decorate(cls, **options)
    if not _is_plain(cls, options):
        return dataclasses.dataclass(**options)(cls)
    compares = options.pop("eq", True)
    made: Any = dataclasses.dataclass(
        **{**options, "frozen": False, "init": False, "repr": False, "eq": False}
    )(cls)
    fields = dataclasses.fields(made)
    made.__dataclass_params__.frozen = True
    shared: dict[str, Any] = {
        "__init__": _write_init_later(made),
        "__repr__": _represent,
        "__setattr__": _refuse_assignment,
        "__delattr__": _refuse_deletion,
    }
    if options.get("slots"):
        # Without them, pickle and copy would assign to the slots.
        shared |= {"__getstate__": _get_state, "__setstate__": _set_state}
    if compares:
        made.__dataclass_params__.eq = True
        made.__compared__ = _get_values(field.name for field in fields if field.compare)
        hashed = (one.name for one in fields if (one.compare if one.hash is None else one.hash))
        made.__hashed__ = _get_values(hashed)
        shared |= {"__eq__": _compare, "__hash__": _hash}
    for name, method in shared.items():
        # A class may have its own; one with its own __eq__ has no __hash__ until it defines one.
        if name not in cls.__dict__ or (name == "__hash__" and cls.__dict__[name] is None):
            setattr(made, name, method)
    return made


def _is_plain(cls: type, options: dict[str, Any]) -> bool:
    """Whether ``cls`` can share methods: frozen, its fields all its own and all of ``__init__``."""
    if not options.get("frozen") or options.keys() - {"frozen", "slots", "kw_only", "eq"}:
        return False
    if any(dataclasses.is_dataclass(base) for base in cls.__mro__[1:]):
        return False
    own = inspect.get_annotations(cls)
    # Annotations are text in this project; in other code they may be the types themselves.
    if any(word in str(one) for one in own.values() for word in ("ClassVar", "InitVar")):
        return False
    values = cls.__dict__.values()
    return all(one.init for one in values if isinstance(one, dataclasses.Field))


def _write_init_later(cls: Any) -> Callable[..., None]:
    """Return an ``__init__`` that writes the real one when the first instance is made."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it is one
        # Two threads may both write it: they write the same.
        cls.__init__ = _write_init(cls)
        cls.__init__(self, *args, **kwargs)

    return __init__


def _write_init(cls: Any) -> Any:
    scope: dict[str, Any] = {"_set": object.__setattr__, "_missing": dataclasses.MISSING}
    lines: list[str] = []
    positional, named = ["self"], list[str]()
    for field in dataclasses.fields(cls):
        name, value = field.name, field.name
        parameter = name
        if field.default_factory is not dataclasses.MISSING:
            scope[f"_make_{name}"] = field.default_factory
            parameter += "=_missing"
            value = f"_make_{name}() if {name} is _missing else {name}"
        elif field.default is not dataclasses.MISSING:
            scope[f"_default_{name}"] = field.default
            parameter += f"=_default_{name}"
        (named if field.kw_only else positional).append(parameter)
        lines.append(f" _set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    parameters = ", ".join([*positional, *(["*", *named] if named else [])])
    source = "\n".join([f"def __init__({parameters}):", *(lines or [" pass"])])
    exec(source, scope)  # noqa: S102 - made of names of fields alone, as the standard decorator does
    init = scope["__init__"]
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return init


def _get_values(names: Iterable[str]) -> Callable[[Any], Any]:
    """Return what gets the tuple of the values of the fields ``names``."""
    listed = tuple(names)
    # Two names at least: of one, `attrgetter` would return the value and no tuple.
    return attrgetter(*listed, *listed[:1]) if listed else lambda _: ()


def _compare(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    get = type(self).__compared__
    return get(self) == get(other)


def _hash(self: Any) -> int:
    return hash(type(self).__hashed__(self))


@recursive_repr()
def _represent(self: Any) -> str:
    shown = (
        f"{field.name}={getattr(self, field.name)!r}"
        for field in dataclasses.fields(self)
        if field.repr
    )
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_assignment(self: Any, name: str, value: Any) -> None:
    if _is_frozen(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _refuse_deletion(self: Any, name: str) -> None:
    if _is_frozen(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _is_frozen(self: Any, name: str) -> bool:
    """Whether ``name`` is a field, or ``self`` of the decorated class; a subclass may have more."""
    return name in self.__dataclass_fields__ or "__dataclass_params__" in type(self).__dict__


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


if TYPE_CHECKING:
    from dataclasses import dataclass  # to a type checker it is the standard one
else:
    dataclass = _decorate
