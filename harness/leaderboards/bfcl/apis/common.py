"""The base class of the APIs: construction, comparable state and refusals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from functools import reduce
from operator import add
from typing import Any

Reply = dict[str, Any]
"""The result of a method: usually a JSON object."""

Scenario = Mapping[str, Any]
"""The part of a case's ``initial_config`` that belongs to one class."""


class Api:
    """A stateful API. Its public attributes are its state, its public methods are the tools.

    Internal attributes of a subclass start with an underscore: every other attribute is
    compared.
    """

    def __init__(
        self, scenario: Scenario, tables: Mapping[str, Any], *, long_context: bool = False
    ) -> None:
        """Initialise from ``scenario``, which the instance may change from now on.

        ``tables`` are shared and stay unchanged.
        """
        self._scenario = scenario
        self._tables = tables

    def _share_state(self, other: Api) -> None:
        """Share with ``other`` the state that instances of this class share upstream.

        By default there is none.
        """

    def _set_initial(self, *names: str) -> None:
        """Set the attributes ``names`` from the scenario, else from the table of defaults."""
        for name in names:
            setattr(self, name, self._initial_value(name))

    def _initial_value(self, name: str) -> Any:
        if name in self._scenario:
            return self._scenario[name]
        # The table is shared, and methods change what they are given.
        return deepcopy(self._tables["DEFAULT_STATE"][name])


def share_state(instances: Mapping[str, Api], others: Mapping[str, Api]) -> None:
    """Let ``instances`` share with ``others`` the state that upstream keeps once per process."""
    for name, instance in instances.items():
        instance._share_state(others[name])  # noqa: SLF001 - a public method would be a tool


def add_rounded(numbers: Iterable[float]) -> float:
    """Return the sum, rounded after each addition.

    `sum` of Python 3.12 and later corrects rounding errors. The leaderboard's own results are those
    of earlier versions.
    """
    return reduce(add, numbers, 0)


def refuse_request(reason: str) -> Reply:
    """Return the reply of a method that refuses its request."""
    return {"error": reason}


def get_public_state(instance: Api) -> dict[str, Any]:
    """Return the attributes of ``instance`` that a checker compares."""
    return {name: value for name, value in vars(instance).items() if not name.startswith("_")}
