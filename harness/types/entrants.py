"""Entrants: what the columns of a report stand for, a model and its place on every axis."""

from __future__ import annotations

from collections.abc import Mapping


class HasEntrant:
    """Base of all that belongs to one entrant of a run.

    What inherits has the fields ``model`` and ``axes``: axis → name of the value, without those
    that have the default. `harness.suites.axes` declares the axes.
    """

    __slots__ = ()
    model: str
    axes: Mapping[str, str]

    @property
    def entrant(self) -> str:
        """Its name, which is unique in a run and never taken apart: ``gpt-4o+clearer_search``."""
        return name_entrant(self.model, self.axes)


def name_entrant(model: str, axes: Mapping[str, str]) -> str:
    """Return the name of the entrant ``model`` with those values of ``axes``."""
    return "+".join((model, *axes.values()))
