"""Rules on the list as clients and providers get it: form, annotations, size."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from harness.descriptions.linting.evidence import LONG_LISTS, by_the_specification, reported
from harness.descriptions.linting.findings import Family, LintFinding, Rule
from harness.models import (
    Dialect,
    Offer,
    built_in_providers,
    only_reads,
    places_by_refusal,
    places_in_words,
    plainly_does,
    tokens_in,
    translate,
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
            rule="no-tools",
            tool=None,
            message="The server lists no tool that can be offered.",
            instead="If it shows tools only to some users, name a user: --user-context "
            "'{\"role\": …}'.",
        )
        return
    yield from _problems(tools)
    yield from _provider_forms(tools)
    yield from _marks(tools.tools)
    yield from _size(tools.tools)
    yield from _output_schemas(tools.tools)


def estimated_tokens(tool: Tool) -> int:
    """Return an estimate of the tokens that ``tool`` takes in every request."""
    sent = {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
    return tokens_in(json.dumps(sent, default=dict, ensure_ascii=False))


def _problems(tools: ToolList) -> Iterator[LintFinding]:
    for problem in tools.problems:
        if problem.unknown:
            yield LintFinding(
                rule="unchecked-schema",
                tool=problem.tool,
                message=f"{problem.problem[:1].upper()}{problem.problem[1:]}.",
                instead="Simplify the schema: fewer alternatives, references and levels.",
            )
            continue
        yield LintFinding(
            rule="listing-problem" if problem.usable else "unusable-tool",
            tool=problem.tool,
            message=f"{problem.problem[:1].upper()}{problem.problem[1:]}.",
            instead="Answer tools/list as the MCP specification has it: unique names, and an "
            "inputSchema that is an "
            'object with "type": "object".',
        )


def _provider_forms(tools: ToolList) -> Iterator[LintFinding]:
    providers = [traits for traits in built_in_providers().values() if traits.dialect]
    dialects = [traits.dialect for traits in providers if traits.dialect]
    longest = min(dialect.longest_name for dialect in dialects)
    said: set[tuple[str, str]] = set()
    for dialect in (*dialects, *(other for one in providers for other in one.further_dialects)):
        offers, problems = translate(tools, dialect)
        yield from _refused(offers, dialect.provider)
        yield from _too_many(tools, dialect)
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
                instead=f"Name tools with 1 to {longest} of A-Z a-z 0-9 _ and -, and let a "
                "schema's top be a plain object "
                'with "properties", without anyOf, oneOf, allOf or $ref.',
            )


def _refused(offers: Sequence[Offer], provider: str) -> Iterator[LintFinding]:
    for what, places in places_by_refusal(offers).items():
        yield LintFinding(
            rule="provider-refuses",
            tool=None,
            tools=tuple(dict.fromkeys(tool for tool, _ in places)),
            message=f"{provider} takes no {what}: {places_in_words(places)}.",
            instead="Say it in the description, and let the server check it; harness leaves it out "
            "for this provider, and other clients break.",
        )


def _too_many(tools: ToolList, dialect: Dialect) -> Iterator[LintFinding]:
    if dialect.most_tools is not None and len(tools.tools) > dialect.most_tools:
        yield LintFinding(
            rule="provider-refuses",
            tool=None,
            message=f"{dialect.provider} takes at most {dialect.most_tools} tools in a request; "
            f"the server lists {len(tools.tools)}.",
            instead="Show each user only the tools that they may use, or split the server.",
        )


def _marks(tools: Sequence[Tool]) -> Iterator[LintFinding]:
    unmarked = [tool.name for tool in tools if tool.read_only is None and tool.destructive is None]
    if unmarked:
        yield LintFinding(
            rule="unmarked",
            tool=None,
            tools=tuple(unmarked),
            message=f"{_counted(unmarked, tools)} neither readOnlyHint nor destructiveHint: "
            f"{_listed(unmarked)}.",
            instead='Add "annotations": {"readOnlyHint": true} to what only reads, and '
            '"destructiveHint": true '
            "or false to what changes something.",
        )
    for tool in tools:
        contradiction = _contradiction(tool)
        if contradiction:
            yield LintFinding(
                rule="contradictory-marks",
                tool=tool.name,
                message=contradiction,
                instead="Correct the annotation; or, if it is right, the name or the description.",
            )

        elif only_reads(tool) and tool.destructive and not tool.read_only:
            yield LintFinding(
                rule="reads-but-destructive",
                tool=tool.name,
                message="It is marked as destructive, but its words say that it only reads.",
                instead='Mark it "readOnlyHint": true; or, if it does change something, say so in '
                "its description.",
            )


def _contradiction(tool: Tool) -> str | None:
    action = plainly_does(tool)  # a noun does not count: "shows the latest updates" updates nothing
    if tool.read_only and tool.destructive:
        return "It is marked both read-only and destructive."
    if tool.read_only and action in ("update", "delete"):
        return f"It is marked read-only, but its words say that it does: {action}."
    if tool.destructive is False and not tool.read_only and action == "delete":
        return "It is marked as not destructive, but its words say that it deletes."
    return None


def _size(tools: Sequence[Tool]) -> Iterator[LintFinding]:
    for tool in tools:
        tokens = estimated_tokens(tool)
        if tokens > LARGE_TOOL:
            yield LintFinding(
                rule="large-tool",
                tool=tool.name,
                message=f"It takes about {tokens:,} tokens in every request; {LARGE_TOOL:,} is a "
                "lot.",
                instead="Move examples and reference material into a resource or another tool's "
                "result; split it if it does several things.",
            )
    total = sum(map(estimated_tokens, tools))
    if total > LARGE_LIST or len(tools) > MOST_TOOLS:
        yield LintFinding(
            rule="large-list",
            tool=None,
            message=f"{len(tools)} tools take about {total:,} tokens in every request; "
            f"{MOST_TOOLS} tools and {LARGE_LIST:,} tokens are a lot.",
            instead="Show each user only the tools that they may use, merge those that differ by "
            "one argument, or split the server.",
        )


def _output_schemas(tools: Sequence[Tool]) -> Iterator[LintFinding]:
    without = [tool.name for tool in tools if tool.output_schema is None]
    if without:
        yield LintFinding(
            rule="no-output-schema",
            tool=None,
            tools=tuple(without),
            message=f"{_counted(without, tools)} no outputSchema: {_listed(without)}.",
            instead="Declare the fields of the structured result.",
        )


def _counted(names: Sequence[str], tools: Sequence[Tool]) -> str:
    return f"{len(names)} of {len(tools)} tool{'s have' if len(tools) > 1 else ' has'}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{', '.join(names[:_MOST_NAMES])}{more}"


FAMILY = Family(
    check=check_listing,
    rules={
        "no-tools": Rule(
            severity="error",
            why="A model that is offered nothing can do nothing.",
            evidence=by_the_specification("a model can call only what tools/list returns"),
        ),
        "unusable-tool": Rule(
            severity="error",
            why="Clients leave such a tool out, or reject the whole list because of it.",
            evidence=by_the_specification(
                "a tool has a name, and an inputSchema that is an object"
            ),
        ),
        "listing-problem": Rule(
            severity="warning",
            why="Stricter clients refuse or misread what breaks the protocol.",
            evidence=by_the_specification("names are unique, and schemas are valid JSON Schemas"),
        ),
        "provider-form": Rule(
            severity="error",
            why=(
                "The provider rejects the tool, and with it the whole request. This "
                "harness translates it; many clients do not."
            ),
            evidence=reported(
                "a request with such a tool is refused with status 400",
                "API references of Anthropic and OpenAI, tools",
            ),
        ),
        "provider-refuses": Rule(
            severity="error",
            why=(
                "The provider rejects the tool for a part of its schema, and with it the whole "
                "request. This harness leaves the part out; many clients do not."
            ),
            evidence=reported(
                "a request with such a tool is refused with status 400",
                "API references of OpenAI and Gemini, source of llama.cpp",
            ),
        ),
        "unmarked": Rule(
            severity="warning",
            why=(
                "No client can tell what to ask about before it is done, and --read-only lets no "
                "call through."
            ),
            evidence=by_the_specification("a tool without marks counts as one that may destroy"),
        ),
        "contradictory-marks": Rule(
            severity="warning",
            why="Clients skip their confirmation for what is marked harmless.",
            evidence=by_the_specification("clients decide by the marks what to confirm"),
        ),
        "reads-but-destructive": Rule(
            severity="note",
            why="Clients ask before every call of it, and people learn to confirm without reading.",
        ),
        "large-tool": Rule(
            severity="note",
            why=(
                "All of it is sent with every request: it costs money, and attention for the "
                "others."
            ),
        ),
        "large-list": Rule(
            severity="warning",
            why=(
                "It is sent with every request; models choose worse among many and long "
                "descriptions."
            ),
            evidence=LONG_LISTS,
        ),
        "unchecked-schema": Rule(
            severity="note",
            why=(
                "harness gives up a schema that takes too much work to examine; other clients may "
                "stop responding."
            ),
        ),
        "no-output-schema": Rule(
            severity="note",
            why="With an outputSchema, clients get checked structured data, and results can be "
            "asserted by path.",
        ),
    },
)
"""The rules on the list as a whole."""
