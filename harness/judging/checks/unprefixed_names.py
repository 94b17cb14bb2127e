"""Tools under their own names, whatever an identity that sees several joined servers calls them."""

from __future__ import annotations

from dataclasses import replace

from harness.judging.checks.evidence import Evidence
from harness.judging.checks.named_tools import tool_names
from harness.types import Check


def strip_server_prefixes(check: Check, evidence: Evidence) -> Evidence:
    """Return ``evidence`` in which each tool that ``check`` names has that name on every server.

    A check that names ``wipe`` finds the calls of ``shop__wipe`` and ``mail__wipe`` under that
    name, too. Names that the check itself has in full stay as they are.
    """
    names = {named.tool for named in tool_names(check)}
    own = {
        f"{prefix}{name}": name
        for prefix in evidence.tools.prefixes
        for name in names
        # What the check names in full is one server's tool alone.
        if f"{prefix}{name}" not in names
    }
    if not own:
        return evidence
    calls = tuple(
        replace(made, tool=own.get(made.tool, made.tool)) for made in evidence.transcript.tool_calls
    )
    tools = tuple(
        replace(tool, name=own.get(tool.name, tool.name)) for tool in evidence.tools.tools
    )
    presented = evidence.presented
    if presented is not None:
        renamed = {own.get(name, name): tool for name, tool in presented.tools.items()}
        presented = replace(presented, tools=renamed)
    return replace(
        evidence,
        transcript=replace(evidence.transcript, tool_calls=calls),
        tools=replace(evidence.tools, tools=tools),
        presented=presented,
    )
