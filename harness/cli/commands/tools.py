"""List a server's tools as a model sees them."""

from __future__ import annotations

import json
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from harness.base import make_printable
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
    return {
        "server": spec.name,
        "tools": [
            {
                "name": tool.name,
                "title": tool.title,
                "description": tool.description,
                "input_schema": tool.input_schema,
                "output_schema": tool.output_schema,
                "read_only": tool.read_only,
                "destructive": tool.destructive,
                "estimated_tokens": estimated_tokens(tool),
            }
            for tool in tools.tools
        ],
        "problems": [
            {"tool": problem.tool, "problem": problem.problem} for problem in tools.problems
        ],
        "estimated_tokens": sum(map(estimated_tokens, tools.tools)),
    }


def _print_tools(spec: ServerSpec, tools: ToolList, console: Console) -> None:
    for tool in tools.tools:
        head = Text(make_printable(tool.name), style="bold")
        head.append(f"  {_format_annotations(tool)}", style="dim")
        print_text(console, head)
        if tool.description:
            print_text(console, Text(make_printable(tool.description)), 2)
        for line in _format_parameters(tool):
            print_text(console, Text(make_printable(line), style="cyan"), 4)
    for problem in tools.problems:
        print_text(
            console, Text(make_printable(f"! {problem.tool}: {problem.problem}"), style="yellow")
        )
    total = sum(map(estimated_tokens, tools.tools))
    plural = "" if len(tools.tools) == 1 else "s"
    told = (
        f"{spec.name}: {len(tools.tools)} tool{plural}, about {total:,} tokens in every request "
        "(estimated)"
    )
    print_text(console, Text(make_printable(told)))


def _format_annotations(tool: Tool) -> str:
    marks = [f"about {estimated_tokens(tool):,} tokens"]
    if tool.read_only:
        marks.append("read-only")
    elif tool.destructive:
        marks.append("destructive")
    return ", ".join(marks)


def _format_parameters(tool: Tool) -> list[str]:
    properties = tool.input_schema.get("properties")
    required = tool.input_schema.get("required") or ()
    if not isinstance(properties, dict):
        return []
    return [
        f"{name}{'' if name in required else '?'}: {_format_type(schema)}  "
        f"{_format_constraints(schema)}".rstrip()
        for name, schema in properties.items()
    ]


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


def _format_constraints(schema: Any) -> str:
    return str(schema.get("description", "")) if isinstance(schema, dict) else ""
