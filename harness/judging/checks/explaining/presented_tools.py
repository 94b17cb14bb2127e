"""Tools and parameters as the model saw them: under a variant, these are not the server's words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from harness.judging.checks.evidence import Evidence
from harness.types import JsonObject, PresentedTool, Tool


def _find_presented(name: str, evidence: Evidence) -> PresentedTool | None:
    return None if evidence.presented is None else evidence.presented.tools.get(name)


def find_seen_tool(name: str, evidence: Evidence) -> Tool | None:
    """Return the tool that the server calls ``name`` as the model saw it, without a prefix.

    ``None`` if it was not offered.
    """
    presented = _find_presented(name, evidence)
    if presented is None:
        return evidence.tools.get(name)
    return replace(presented.tool, name=presented.plain_name)


def find_shown_name(name: str, evidence: Evidence) -> str:
    """Return the model's name of the tool that the server calls ``name``."""
    presented = _find_presented(name, evidence)
    return name if presented is None else presented.tool.name


def format_tool_name(name: str, evidence: Evidence) -> str:
    """Return the model's name of a tool, and the server's ``name`` if that is another one."""
    return _format_both_names(name, find_shown_name(name, evidence))


def spoken_parameter(path: str, tool: str, evidence: Evidence) -> str:
    """Return the model's name of a parameter of ``tool``, and the server's if it is another one.

    ``path`` may lead into the parameter: ``filter.tags[0]``.
    """
    presented = _find_presented(tool, evidence)
    name = re.split(r"[.\[]", path, maxsplit=1)[0]
    shown = name if presented is None else presented.parameters.get(name, name)
    return _format_both_names(path, f"{shown}{path[len(name) :]}")


def _format_both_names(own: str, shown: str) -> str:
    return own if own == shown else f"{shown} ({own} on the server)"


def seen_properties(tool: str, evidence: Evidence) -> JsonObject:
    """Return the server's name of each parameter of ``tool`` → its schema as the model saw it."""
    presented = _find_presented(tool, evidence)
    if presented is None:
        return server_properties(tool, evidence)
    # A variant may rename parameters; checks use the server's names.
    own_names = {shown: own for own, shown in presented.parameters.items()}
    properties = _read_properties(presented.tool)
    return {own_names.get(name, name): schema for name, schema in properties.items()}


def server_properties(tool: str, evidence: Evidence) -> JsonObject:
    """Return the properties of the input schema of ``tool``, as the server declares them."""
    return _read_properties(evidence.tools.get(tool))


def _read_properties(tool: Tool | None) -> JsonObject:
    # A server's schema may have anything there.
    properties = tool.input_schema.get("properties") if tool else None
    return properties if isinstance(properties, Mapping) else {}


def find_hiding_variant(name: str, evidence: Evidence) -> str | None:
    """Return the name of the variant that does not show ``name`` to the model, if one does so."""
    presented = evidence.presented
    return presented.variant if presented is not None and name in presented.hidden else None
