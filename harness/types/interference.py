"""Data in which one withheld value is altered, as a suite declares it for ``harness probe``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.types.basics import JsonObject, Location, ScriptedCall


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """One of the two sets of data: the server as it is configured, and what is added to that."""

    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables of its process; they come over those of the configuration and may be secrets."""
    args: tuple[str, ...] = field(default=(), repr=False)
    """Arguments that come after its own; they may be secrets."""
    setup: tuple[ScriptedCall, ...] = ()
    """Calls that make the data what it is to be, before anybody asks."""

    @property
    def starts_anew(self) -> bool:
        """Whether it takes a process of its own."""
        return bool(self.env or self.args)


@dataclass(frozen=True, slots=True, kw_only=True)
class DependentTool:
    """A tool whose answers may depend on the altered value, whoever asks."""

    tool: str
    """Its name."""
    fields: tuple[str, ...] = ()
    """The fields of its results that may; empty: all of its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alteration:
    """A value that is withheld from somebody, and two sets of data that differ in it alone."""

    field: str
    """The field that has it in the results of those who may see it."""
    description: str | None = None
    """What it is, in words: ``what Ada earns``."""
    a: DataSet
    """The data as it is."""
    b: DataSet
    """The same data with another value."""
    setup_as: str | JsonObject | None = None
    """Who makes the calls of `DataSet.setup`: the name of an identity, or its attributes."""
    withheld_from: tuple[str, ...] = ()
    """Identities that must not see it although they get the field itself."""
    may_depend: tuple[DependentTool, ...] = ()
    """Answers that may depend on it: what a policy gives away on purpose."""
    at: Location | None = None
    """Where the suite declares it."""

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"{self.description} ({self.field})" if self.description else self.field
