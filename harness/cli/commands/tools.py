"""List a server's tools as a model sees them."""

from __future__ import annotations

import json
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from harness.base import format_count, make_printable
from harness.cli.server_tools import LISTED, ServerTools
from harness.descriptions import estimated_tokens
from harness.reports import print_text, stdout_console
from harness.types import ServerSpec, Tool, ToolList


@click.command("tools")
@LISTED
@click.option("--json-output", is_flag=True, help="One JSON document on stdout.")
def command(listed: ServerTools, *, json_output: bool) -> None:
    """List a server's tools as a model sees them, with the tokens that they take in every request.

    SERVER is the name of a configured or built-in server, or the URL of a running one.
    """
    if json_output:
        click.echo(json.dumps(_build_document(listed.server, listed.tools)))
    else:
        _print_tools(listed.server, listed.tools, stdout_console())


def _build_document(spec: ServerSpec, tools: ToolList) -> dict[str, Any]:
    names = ["name", "title", "description", "input_schema", "output_schema", "read_only"]
    names.append("destructive")
    return {
        "server": spec.name,
        "tools": [
            {name: getattr(tool, name) for name in names}
            | {"estimated_tokens": estimated_tokens(tool)}
            for tool in tools.tools
        ],
        "problems": [{"tool": one.tool, "problem": one.problem} for one in tools.problems],
        "estimated_tokens": sum(map(estimated_tokens, tools.tools)),
    }


def _print_tools(spec: ServerSpec, tools: ToolList, console: Console) -> None:
    for tool in tools.tools:
        marks = f"about {estimated_tokens(tool):,} tokens"
        marks += ", read-only" if tool.read_only else ", destructive" if tool.destructive else ""
        head = Text(make_printable(tool.name), style="bold")
        head.append(f"  {marks}", style="dim")
        print_text(console, head)
        if tool.description:
            print_text(console, Text(make_printable(tool.description)), 2)
        for line in _format_parameters(tool):
            print_text(console, Text(make_printable(line), style="cyan"), 4)
    for problem in tools.problems:
        text = make_printable(f"! {problem.tool}: {problem.problem}")
        print_text(console, Text(text, style="yellow"))
    total = sum(map(estimated_tokens, tools.tools))
    told = (
        f"{spec.name}: {format_count(len(tools.tools), 'tool')}, about {total:,} tokens in every "
        "request (estimated)"
    )
    print_text(console, Text(make_printable(told)))


def _format_parameters(tool: Tool) -> list[str]:
    properties = tool.input_schema.get("properties")
    required = tool.input_schema.get("required") or ()
    if not isinstance(properties, dict):
        return []
    lines = []
    for name, schema in properties.items():
        described = schema.get("description", "") if isinstance(schema, dict) else ""
        mark = "" if name in required else "?"
        lines.append(f"{name}{mark}: {_format_type(schema)}  {described}".rstrip())
    return lines


def _format_type(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "any"
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return " | ".join(_format_type(option) for option in options)
    kind = schema.get("type", "any")
    if kind == "array":
        return f"{_format_type(schema.get('items', {}))}[]"
    return " | ".join(kind) if isinstance(kind, list) else str(kind)
