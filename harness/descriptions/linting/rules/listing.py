"""Rules on the list as clients and providers get it: form, annotations, size."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from harness.descriptions.linting.findings import (
    LONG_LISTS,
    Family,
    LintFinding,
    Rule,
    reported_evidence,
    specification_evidence,
)
from harness.models import (
    Dialect,
    Offer,
    describe_places,
    estimate_tokens,
    find_plain_action,
    group_by_refusal,
    list_built_in_providers,
    only_reads,
    translate_tools,
)
from harness.types import Tool, ToolList

LARGE_TOOL = 1_000
"""Tokens from which one tool is too large."""
LARGE_LIST = 15_000
"""Tokens from which the whole list is too large."""
MOST_TOOLS = 128
"""Most tools in a list that is not too large."""

_MOST_NAMES = 6  # of tools in one message


def check_listing(tools: ToolList) -> Iterator[LintFinding]:
    """Yield problems that make clients or providers reject the list, or that cost tokens."""
    if not tools.tools:
        yield LintFinding(
            rule="no-tools", tool=None, message="The server lists no tool that can be offered."
        )
        return
    yield from _check_problems(tools)
    yield from _check_provider_forms(tools)
    yield from _check_annotations(tools.tools)
    yield from _check_size(tools.tools)
    yield from _check_output_schemas(tools.tools)


def estimated_tokens(tool: Tool) -> int:
    """Return an estimate of the tokens that ``tool`` takes in every request."""
    sent = {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
    # Schemas may hold read-only mappings, which JSON does not write by itself.
    return estimate_tokens(json.dumps(sent, default=dict, ensure_ascii=False))


def _check_problems(tools: ToolList) -> Iterator[LintFinding]:
    for problem in tools.problems:
        rule = "listing-problem" if problem.usable else "unusable-tool"
        yield LintFinding(
            rule="unchecked-schema" if problem.unknown else rule,
            tool=problem.tool,
            message=f"{problem.problem[:1].upper()}{problem.problem[1:]}.",
        )


def _check_provider_forms(tools: ToolList) -> Iterator[LintFinding]:
    providers = [traits for traits in list_built_in_providers().values() if traits.dialect]
    dialects = [traits.dialect for traits in providers if traits.dialect]
    # Clouds that host a provider's models have its rules.
    dialects = [
        dialect for place, dialect in enumerate(dialects) if dialect not in dialects[:place]
    ]
    further = [other for provider in providers for other in provider.further_dialects]
    # The advice has to hold for every provider.
    longest = min(dialect.longest_name for dialect in dialects)
    said: set[tuple[str, str]] = set()
    for dialect in (*dialects, *(other for other in further if other not in dialects)):
        offers, problems = translate_tools(tools, dialect)
        yield from _check_refusals(offers, dialect.provider)
        yield from _check_tool_count(tools, dialect)
        for problem in problems:
            # Most services have the rules for names and for the top of a schema in common.
            known = (problem.tool, problem.problem.partition(dialect.provider)[2])
            if dialect not in dialects and known in said:
                continue
            said.add(known)
            provider = "" if dialect.provider in problem.problem else f"For {dialect.provider}: "
            yield LintFinding(
                rule="provider-form",
                tool=problem.tool,
                message=f"{provider}{problem.problem}.",
                advice=f"Name tools with 1 to {longest} of A-Z a-z 0-9 _ and -, and let a "
                "schema's top be a plain object "
                'with "properties", without anyOf, oneOf, allOf or $ref.',
            )


def _check_refusals(offers: Sequence[Offer], provider: str) -> Iterator[LintFinding]:
    for what, places in group_by_refusal(offers).items():
        yield LintFinding(
            rule="provider-refuses",
            tool=None,
            tools=tuple(dict.fromkeys(tool for tool, _ in places)),
            message=f"{provider} takes no {what}: {describe_places(places)}.",
            advice="Say it in the description, and let the server check it; harness leaves it out "
            "for this provider, and other clients break.",
        )


def _check_tool_count(tools: ToolList, dialect: Dialect) -> Iterator[LintFinding]:
    if dialect.most_tools is not None and len(tools.tools) > dialect.most_tools:
        yield LintFinding(
            rule="provider-refuses",
            tool=None,
            message=f"{dialect.provider} takes at most {dialect.most_tools} tools in a request; "
            f"the server lists {len(tools.tools)}.",
            advice="Show each user only the tools that they may use, or split the server.",
        )


def _check_annotations(tools: Sequence[Tool]) -> Iterator[LintFinding]:
    if unmarked := [
        tool.name for tool in tools if tool.read_only is None and tool.destructive is None
    ]:
        yield LintFinding(
            rule="unmarked",
            tool=None,
            tools=tuple(unmarked),
            message=f"{_format_count(unmarked, tools)} neither readOnlyHint nor destructiveHint: "
            f"{_format_names(unmarked)}.",
        )
    for tool in tools:
        if contradiction := _find_contradiction(tool):
            yield LintFinding(rule="contradictory-marks", tool=tool.name, message=contradiction)
        elif only_reads(tool) and tool.destructive and not tool.read_only:
            problem = "It is marked as destructive, but its words say that it only reads."
            yield LintFinding(rule="reads-but-destructive", tool=tool.name, message=problem)


def _find_contradiction(tool: Tool) -> str | None:
    # A noun does not count: "shows the latest updates" updates nothing.
    action = find_plain_action(tool)
    if tool.read_only and tool.destructive:
        return "It is marked both read-only and destructive."
    if tool.read_only and action in ("update", "delete"):
        return f"It is marked read-only, but its words say that it does: {action}."
    if tool.destructive is False and not tool.read_only and action == "delete":
        return "It is marked as not destructive, but its words say that it deletes."
    return None


def _check_size(tools: Sequence[Tool]) -> Iterator[LintFinding]:
    for tool in tools:
        tokens = estimated_tokens(tool)
        if tokens > LARGE_TOOL:
            yield LintFinding(
                rule="large-tool",
                tool=tool.name,
                message=f"It takes about {tokens:,} tokens in every request; {LARGE_TOOL:,} is a "
                "lot.",
            )
    total = sum(map(estimated_tokens, tools))
    if total > LARGE_LIST or len(tools) > MOST_TOOLS:
        yield LintFinding(
            rule="large-list",
            tool=None,
            message=f"{len(tools)} tools take about {total:,} tokens in every request; "
            f"{MOST_TOOLS} tools and {LARGE_LIST:,} tokens are a lot.",
        )


def _check_output_schemas(tools: Sequence[Tool]) -> Iterator[LintFinding]:
    if without := [tool.name for tool in tools if tool.output_schema is None]:
        yield LintFinding(
            rule="no-output-schema",
            tool=None,
            tools=tuple(without),
            message=f"{_format_count(without, tools)} no outputSchema: {_format_names(without)}.",
        )


def _format_count(names: Sequence[str], tools: Sequence[Tool]) -> str:
    return f"{len(names)} of {len(tools)} tool{'s have' if len(tools) > 1 else ' has'}"


def _format_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{', '.join(names[:_MOST_NAMES])}{more}"


_AS_SPECIFIED = (
    "Answer tools/list as the MCP specification has it: unique names, and an inputSchema that is "
    'an object with "type": "object".'
)
FAMILY = Family(
    check=check_listing,
    rules={
        "no-tools": Rule(
            severity="error",
            why="A model that is offered nothing can do nothing.",
            instead="If it shows tools only to some users, name a user: --user-context "
            "'{\"role\": …}'.",
            evidence=specification_evidence("a model can call only what tools/list returns"),
        ),
        "unusable-tool": Rule(
            severity="error",
            why="Clients leave such a tool out, or reject the whole list because of it.",
            instead=_AS_SPECIFIED,
            evidence=specification_evidence(
                "a tool has a name, and an inputSchema that is an object"
            ),
        ),
        "listing-problem": Rule(
            severity="warning",
            why="Stricter clients refuse or misread what breaks the protocol.",
            instead=_AS_SPECIFIED,
            evidence=specification_evidence("names are unique, and schemas are valid JSON Schemas"),
        ),
        "provider-form": Rule(
            severity="error",
            why="The provider rejects the tool, and with it the whole request. This "
            "harness translates it; many clients do not.",
            evidence=reported_evidence(
                "a request with such a tool is refused with status 400",
                "API references of Anthropic and OpenAI, tools",
            ),
        ),
        "provider-refuses": Rule(
            severity="error",
            why="The provider rejects the tool for a part of its schema, and with it the whole "
            "request. This harness leaves the part out; many clients do not.",
            evidence=reported_evidence(
                "a request with such a tool is refused with status 400",
                "API references of OpenAI and Gemini, source of llama.cpp",
            ),
        ),
        "unmarked": Rule(
            severity="warning",
            why="No client can tell what to ask about before it is done, and --read-only lets no "
            "call through.",
            instead='Add "annotations": {"readOnlyHint": true} to what only reads, and '
            '"destructiveHint": true or false to what changes something.',
            evidence=specification_evidence("a tool without marks counts as one that may destroy"),
        ),
        "contradictory-marks": Rule(
            severity="warning",
            why="Clients skip their confirmation for what is marked harmless.",
            instead="Correct the annotation; or, if it is right, the name or the description.",
            evidence=specification_evidence("clients decide by the marks what to confirm"),
        ),
        "reads-but-destructive": Rule(
            severity="note",
            why="Clients ask before every call of it, and people learn to confirm without reading.",
            instead='Mark it "readOnlyHint": true; or, if it does change something, say so in its '
            "description.",
        ),
        "large-tool": Rule(
            severity="note",
            why="All of it is sent with every request: it costs money, and attention for the "
            "others.",
            instead="Move examples and reference material into a resource or another tool's "
            "result; split it if it does several things.",
        ),
        "large-list": Rule(
            severity="warning",
            why="It is sent with every request; models choose worse among many and long "
            "descriptions.",
            instead="Show each user only the tools that they may use, merge those that differ by "
            "one argument, or split the server.",
            evidence=LONG_LISTS,
        ),
        "unchecked-schema": Rule(
            severity="note",
            why="harness gives up a schema that takes too much work to examine; other clients may "
            "stop responding.",
            instead="Simplify the schema: fewer alternatives, references and levels.",
        ),
        "no-output-schema": Rule(
            severity="note",
            why="With an outputSchema, clients get checked structured data, and results can be "
            "asserted by path.",
            instead="Declare the fields of the structured result.",
        ),
    },
)
"""The rules on the list as a whole."""
