"""Registries: named members that other packages can extend.

A `Registry` knows its built-in members by import path, so that nothing is imported before it is
used, and finds further members in the entry points of installed packages.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from harness.base.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

T = TypeVar("T")


def find_members(
    folder: Path, package: str, attribute: str, *, ending: str = "", dashes: bool = True
) -> dict[str, str]:
    """Return ``module:attribute`` of each file in ``folder``, the folder of ``package``, by name.

    A file is named like its member, followed by ``ending``; with ``dashes``, ``_`` in it stands for
    ``-``. Nothing is imported.
    """
    sign = "-" if dashes else "_"
    return {
        module.name.removesuffix(ending).replace("_", sign): f"{package}.{module.name}:{attribute}"
        for module in iter_modules([str(folder)])
        if module.name.endswith(ending)
    }


class Registry(Generic[T]):
    """Members of one kind, by name.

    ``Registry("harness.models", "provider", {"openai": "harness.models.openai:Chat"})``.
    """

    def __init__(
        self,
        group: str,
        noun: str,
        builtin: Mapping[str, str] | Callable[[], Mapping[str, str]],
        *,
        unlisted: Callable[[], Mapping[str, str]] = dict,
        base: type[T] | None = None,
    ) -> None:
        """``group`` is the entry-point group, ``noun`` the kind of member in messages.

        ``builtin`` maps a name to ``module:attribute``, or is called for that when it is first
        needed; so is ``unlisted``, for members that only the program itself may name. With
        ``base``, members of other packages must be instances of it.
        """
        self.group = group
        self._noun = noun
        self._given = builtin
        self._find_unlisted = unlisted
        self._base = base
        self._loaded: dict[str, T] = {}

    @property
    def built_in_names(self) -> tuple[str, ...]:
        """The names of the members that come with harness."""
        return tuple(self._builtin)

    def list_names(self) -> tuple[str, ...]:
        """Return every name, the built-in ones first."""
        return (*self._builtin, *(name for name in self._entry_points if name not in self._builtin))

    def get(self, name: str) -> T:
        """Return the member of that name, importing it on first use.

        Raises:
            UsageError: there is none, or its package cannot be imported.
        """
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def __contains__(self, name: str) -> bool:
        """Whether there is a member of that name."""
        return name in self._builtin or name in self._entry_points

    def get_reference(self, name: str) -> str:
        """Return ``module:attribute`` of an existing member, without importing it."""
        return self._builtin.get(name) or self._entry_points[name].value

    def add_unlisted(self, name: str, member: T) -> None:
        """Add a member that only the program itself may name."""
        self._loaded[name] = member

    def build_unknown_error(self, name: str) -> UsageError:
        """Return the error message for an unknown name."""
        names = self.list_names()
        meant = did_you_mean(name, names) or f"Known: {', '.join(names)}."
        return UsageError(f"there is no {self._noun} named {name!r}", meant=meant)

    def _load(self, name: str) -> Any:
        # Our own first: no package can put something else under a built-in name.
        own = self._builtin.get(name) or self._unlisted_members.get(name)
        if own is not None:
            module, attribute = own.split(":")
            # Outside of the `try`: a mistake in our own module is no fault of a package.
            return getattr(import_module(module), attribute)
        if name not in self._entry_points:
            raise self.build_unknown_error(name)
        words = f"{self._noun} {name!r} ({self._entry_points[name].value})"
        try:
            member = self._entry_points[name].load()
        except Exception as error:  # another package's code may raise anything while it is imported
            why = f"{type(error).__name__}: {error}"
            raise UsageError(f"{words} cannot be loaded: {why}") from error
        if self._base is not None and not isinstance(member, self._base):
            base = f"{self._base.__module__}.{self._base.__qualname__}"
            raise UsageError(f"{words} is no {base}", meant=f"Let it be an instance of {base}.")
        return member

    @cached_property
    def _builtin(self) -> Mapping[str, str]:
        return self._given if isinstance(self._given, Mapping) else self._given()

    @cached_property
    def _unlisted_members(self) -> Mapping[str, str]:
        return self._find_unlisted()

    @cached_property
    def _entry_points(self) -> dict[str, EntryPoint]:
        # The path is a key of the cache: with another folder on it there may be other packages.
        installed = _find_entry_points(tuple(sys.path))
        return {point.name: point for point in installed.select(group=self.group)}


@cache
def _find_entry_points(_path: tuple[str, ...]) -> EntryPoints:
    """Return the entry points of all packages that are installed on the path.

    They are read once for all registries: a look at every package takes milliseconds.
    """
    from importlib.metadata import entry_points  # brings the whole of `email`: a sixth of `--help`

    return cast("EntryPoints", entry_points())  # 3.11 has another class with the same `select`
