"""The base of the APIs: construction, state, refusals, their tools and calls of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import field, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from harness.base import UsageError
from harness.leaderboards.bfcl.data import CLASS_FILES, class_functions
from harness.leaderboards.bfcl.functions import json_schema
from harness.types import JsonObject, dataclass

Reply = dict[str, Any]
"""The result of a method: usually a JSON object."""

Scenario = Mapping[str, Any]
"""The part of a case's ``initial_config`` that belongs to one class."""

Tables = Mapping[str, Any]
"""The leaderboard's fixed tables by name."""


class Api:
    """A stateful API. Its public attributes are its state, its public methods are the tools.

    Internal attributes of a subclass start with an underscore: every other attribute is
    compared. Those that a subclass annotates are taken from the scenario, else from the table of
    defaults.
    """

    def __init__(self, scenario: Scenario, tables: Tables, *, long_context: bool = False) -> None:
        """Initialise from ``scenario``, which the instance may change from now on.

        ``tables`` are shared and stay unchanged.
        """
        self._scenario = scenario
        self._tables = tables
        self.long_context = long_context
        for name in type(self).__annotations__:
            setattr(self, name, self._initial_value(name))

    def _share_state(self, other: Api) -> None:
        """Share with ``other`` the state that instances of this class share upstream.

        By default there is none.
        """

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


class NotACall(ValueError):
    """A text is not one call with literal arguments."""


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One call of a tool."""

    name: str
    """The tool's name."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Arguments by name; a nested call is executed first."""
    positional: tuple[Any, ...] = ()
    """Arguments by position; some ground truth uses them."""


def parse_call(text: str) -> ApiCall:
    """Parse ``name(value, key=value)``, where every value is a literal or such a call.

    Nothing is evaluated.

    Raises:
        NotACall: ``text`` is anything else.
    """
    try:
        node = ast.parse(text.strip(), "<string>", "eval").body
        call = _literal_call(node) if isinstance(node, ast.Call) else None
    # Deeply nested text ends in a RecursionError or a MemoryError, and is no call either.
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as problem:
        raise NotACall(str(problem)) from None
    if call is None:
        raise NotACall(f"this is no call: {text}")
    return call


def _literal_call(node: ast.Call) -> ApiCall:
    arguments: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise ValueError("arguments cannot be unpacked")
        if keyword.arg in arguments:
            raise ValueError(f"keyword argument repeated: {keyword.arg}")
        arguments[keyword.arg] = _evaluate_literal(keyword.value)
    return ApiCall(ast.unparse(node.func), arguments, tuple(map(_evaluate_literal, node.args)))


def _evaluate_literal(node: ast.expr) -> Any:
    return _literal_call(node) if isinstance(node, ast.Call) else ast.literal_eval(node)


_SPACE_BEFORE_PARENTHESIS = re.compile(r"\b([A-Za-z_]\w*)\s+(?=\()")


def remove_call_spaces(text: str) -> str:
    """Return ``text`` as the official checker executes it: no space between a word and ``(``.

    The checker finds function names by pattern, inside strings too: ``echo('draft (old)')`` writes
    ``draft(old)``. This applies to ground truth and model alike, and a verdict may depend on it.
    """
    return _SPACE_BEFORE_PARENTHESIS.sub(r"\1", text)


def reparse_call(name: str, arguments: Mapping[str, Any]) -> ApiCall:
    """Return a model's call as the official checker executes it: as text that is parsed again.

    Raises:
        NotACall: the call cannot be written, for example with an argument named ``a b``.
    """
    written = ",".join(f"{key}={value!r}" for key, value in arguments.items())
    return parse_call(remove_call_spaces(f"{name}({written})"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiTool:
    """One tool, as it is offered to a model."""

    name: str
    """The tool's name, and that of the method."""
    description: str
    """Description, as in the leaderboard's data."""
    parameters: JsonObject
    """A JSON Schema of an object."""
    class_name: str
    """The class that has the method."""
    from_turn: int = 0
    """First turn, counted from 0, in which the tool is offered."""


def list_class_tools(class_name: str, data: Path) -> tuple[ApiTool, ...]:
    """Return the tools of one class, described in the fetched release at ``data``.

    Raises:
        UsageError: there is no such class.
        InvalidInput: the description was not fetched, or is damaged.
    """
    if class_name not in CLASS_FILES:
        raise UsageError(
            f"BFCL has no API {class_name!r} here", meant=f"There are {', '.join(CLASS_FILES)}."
        )
    return tuple(
        ApiTool(
            name=entry["name"],
            description=entry["description"],
            parameters=json_schema(entry["parameters"]),
            class_name=class_name,
        )
        for entry in class_functions(class_name, data)
    )


def list_case_tools(
    class_names: Iterable[str], missed_function: Mapping[str, Sequence[str]], data: Path
) -> tuple[ApiTool, ...]:
    """Return every tool of a case, with the turn (in ``missed_function``) from which it is offered.

    A case's ``excluded_function`` has no effect, because upstream does not read it.
    """
    held_out = {name: int(turn) for turn, names in missed_function.items() for name in names}
    return tuple(
        replace(tool, from_turn=held_out.get(tool.name, 0))
        for class_name in class_names
        for tool in list_class_tools(class_name, data)
    )


def filter_by_turn(tools: Iterable[ApiTool], turn: int) -> tuple[ApiTool, ...]:
    """Return those of ``tools`` that are offered in ``turn``, counted from 0."""
    return tuple(tool for tool in tools if tool.from_turn <= turn)
