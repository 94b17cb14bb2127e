"""Expected outcomes per tool and identity for all tests: ``expect`` of ``defaults``.

A test with this tool under ``tool:`` uses them for each identity that its own ``expect`` does not
name, unless that has a ``*``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from harness.base import (
    DocumentReader,
    InvalidValue,
    Steps,
    build_field,
    describe_value,
    did_you_mean,
    mapping_of,
    parse_mapping,
    refer_to,
)
from harness.types import JsonObject

OTHERS = "*"
"""In ``expect``: each identity of the test that is not named there."""
_AT: Steps = ("defaults", "expect")


NO_VALUE = "Write what is expected, such as 'denied', or leave the name out."
"""Advice for an identity without an expectation."""


def _parse_by_tool(value: Any) -> dict[str, Any]:
    by_tool = parse_mapping(value)
    for tool, expected in by_tool.items():
        if not isinstance(expected, dict) or not expected:
            found = describe_value(expected)
            message = f"expected identities and what each gets of the tool, found {found}"
            meant = f"Write '{tool}: {{admin: allowed, \"*\": denied}}', by the tool's name."
            raise InvalidValue(message, path=(tool,), meant=meant)
    return by_tool


DEFAULT_EXPECT = build_field(
    "By the name of a tool: the expected outcome for each identity, and under '*' for all others, "
    "of every test that names the tool under 'tool:' and says nothing else.",
    mapping_of(mapping_of(refer_to("expectation"), minProperties=1)),
    _parse_by_tool,
)
"""``expect: {get_salary: {admin: allowed, "*": denied}}`` under ``defaults``."""


class DefaultExpectations:
    """The ``expect`` of ``defaults``, and its tools that some test names."""

    def __init__(self, reading: DocumentReader, identities: Collection[str]) -> None:
        """``identities`` are the names the suite knows; `store_expectations` reads the values."""
        self._reading = reading
        self._identities = identities
        self._by_tool: Mapping[str, JsonObject] = {}
        self._named: dict[str, None] = {}

    def store_expectations(self, by_tool: Mapping[str, JsonObject]) -> None:
        """Store the parsed values, and report unknown identities."""
        self._by_tool = by_tool
        for tool, expected in by_tool.items():
            for name, given in expected.items():
                known = (*self._identities, OTHERS)
                if name not in known:
                    meant = did_you_mean(name, known) or f"Known: {', '.join(known)}."
                    message = f"there is no identity {name!r}."
                    self._reading.add_key_problem((*_AT, tool, name), message, meant)
                # Null expects nothing: the identity would go unchecked although it is named.
                elif given is None:
                    message = f"{name}: there is no value."
                    self._reading.add_key_problem((*_AT, tool, name), message, NO_VALUE)

    def find_expectation(self, tool: str, name: str) -> tuple[Steps, Any] | None:
        """Return the expectation of identity ``name`` for ``tool``, with its path."""
        # Noted even without an expectation: the tool is known to some test.
        self._named[tool] = None
        expected = self._by_tool.get(tool, {})
        written = name if name in expected else OTHERS
        return ((*_AT, tool, written), expected[written]) if written in expected else None

    def refuse_unused(self) -> None:
        """Report tools that no test names: a misspelt tool would never be checked."""
        for tool in self._by_tool:
            if tool not in self._named:
                meant = did_you_mean(tool, self._named) or (
                    "Name it under 'tool:' of a test, or leave it out."
                )
                message = f"no test has the tool {tool!r} under 'tool:'."
                self._reading.add_key_problem((*_AT, tool), message, meant)
