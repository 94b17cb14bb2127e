"""Rules on the server's instructions: what a host shows a model of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from harness.base import make_one_line
from harness.descriptions.linting.findings import Family, LintFinding, Rule, reported_evidence
from harness.types import Tool, ToolList

SHOWN_CHARACTERS = 2_048
"""Characters of a server's instructions that Claude Code shows its model."""

_CALLED = re.compile(
    r"\b(?:call|use|run|invoke)s?\s+(?:the\s+)?`([A-Za-z][\w.-]*)`|`([A-Za-z][\w.-]*)`\s+tool\b",
    re.IGNORECASE,
)
"""A name in backticks that the words around it take for a tool."""


def check_instructions(tools: ToolList) -> Iterator[LintFinding]:
    """Yield problems of the instructions that came with ``tools``."""
    known = {name for tool in tools.tools for name in (tool.name, *_list_parameters(tool))}
    for server, text in tools.instructions.items():
        if len(text) > SHOWN_CHARACTERS:
            lost = make_one_line(text[SHOWN_CHARACTERS:][:60])
            yield LintFinding(
                rule="instructions-cut",
                tool=None,
                message=f"The instructions of {server} have {len(text):,} characters; Claude Code "
                f"shows the first {SHOWN_CHARACTERS:,}. What is cut begins: “{lost}”.",
            )
        named = dict.fromkeys(one or other for one, other in _CALLED.findall(text))
        if missing := [name for name in named if name not in known]:
            yield LintFinding(
                rule="instructions-unknown-tool",
                tool=None,
                message=f"The instructions of {server} name what is not offered: "
                f"{', '.join(missing)}.",
            )


def _list_parameters(tool: Tool) -> Iterator[str]:
    properties = tool.input_schema.get("properties")
    yield from properties if isinstance(properties, Mapping) else ()


FAMILY = Family(
    check=check_instructions,
    rules={
        "instructions-cut": Rule(
            severity="warning",
            why="A model never reads what the host cuts off.",
            instead="Say first what a model must know, in fewer than 2,048 characters, and put "
            "the rest into the descriptions of the tools that it is about.",
            evidence=reported_evidence(
                "instructions reach the model cut at 2,048 characters",
                "pvliesdonk/markdown-vault-mcp issue 1252; anthropics/claude-code issue 43474",
            ),
        ),
        "instructions-unknown-tool": Rule(
            severity="note",
            why="A model that looks for it calls a tool that does not exist.",
            instead="Write the tool's present name; or, if only some users have the tool, say so.",
        ),
    },
)
"""The rules on instructions."""
