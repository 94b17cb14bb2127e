"""A variant applied to one user's tool list: the list that the model sees, and the mapping back."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.base import UsageError, digest_json
from harness.runner.variants.clients import client_name
from harness.runner.variants.facets import replace_facet
from harness.runner.variants.presentation import build_presentation
from harness.runner.variants.sentences import remove_sentences
from harness.runner.variants.tool_search import SearchedTools
from harness.types import (
    NOT_LOADED,
    NOT_SHOWN,
    JsonObject,
    ParameterEdit,
    Presentation,
    Tool,
    ToolEdit,
    ToolList,
    Variant,
)


class ShownTools:
    """One tool list as a model sees it under a variant."""

    def __init__(self, variant: Variant, tools: ToolList, decoys: Sequence[Tool] = ()) -> None:
        """Apply ``variant`` to the server's ``tools``; ``decoys`` are added.

        Edits of tools that are not in this user's list have no effect.

        Raises:
            UsageError: two tools, or two parameters of a tool, would have the same name.
        """
        self.variant = variant
        self._servers = frozenset(tool.name for tool in tools.tools)
        self._names: dict[str, str] = {}  # the server's name → the shown name
        self._keys: dict[str, dict[str, str]] = {}  # shown tool → its parameter → the server's
        shown = []
        for tool in tools.tools:
            edit = variant.tools.get(tool.name, ToolEdit())
            if edit is not None:
                edited, keys = _edit_tool(tool, edit, variant.prefix)
                self._names[tool.name] = edited.name
                self._keys[edited.name] = keys
                shown.append(edited)
        self._server_names = {new: old for old, new in self._names.items()}
        self.offered = _select_offered(tools, self._names)
        self._refuse_twins(shown)
        # A client prefixes all tools, so a decoy without it would stand out.
        named = {client_name(variant.prefix, decoy.name): decoy for decoy in decoys}
        decoys = [
            replace(decoy, name=name)
            for name, decoy in named.items()
            # A decoy gives way to the real tool of its name.
            if name not in self._server_names and name != _search_name(variant)
        ]
        self.decoys = frozenset(decoy.name for decoy in decoys)
        if isinstance(variant.order, int):
            # By their plain names: a prefix must not make another order.
            plain = {name: decoy.name for name, decoy in named.items()} | self._server_names
            mixed = _shuffle_tools([*shown, *decoys], variant.order, plain)
        else:
            arranged = _arrange_tools(shown, variant.order, self._names)
            mixed = _insert_decoys(arranged, decoys, [each.seed for each in variant.add])
        self.search = self._build_search(mixed, tools)
        listed = mixed if self.search is None else [self.search.tool, *mixed]
        self.tools = _build_list(listed, tools)

    def map_to_server(self, tool: str, arguments: JsonObject) -> tuple[str, JsonObject]:
        """Return the model's call with the server's names; unknown names stay unchanged.

        If the model uses the server's name of a tool that is shown under another name or not at
        all, the name gets the suffix `NOT_SHOWN`: the call must neither reach the server nor count
        as a call of the tool.
        """
        keys = self._keys.get(tool)
        if keys is None:
            made_up = tool in self._servers and tool not in self.decoys
            return (f"{tool}{NOT_SHOWN}" if made_up else tool), arguments
        return self._server_names[tool], {keys.get(key, key): arguments[key] for key in arguments}

    def map_to_model(self, tool: str, arguments: JsonObject) -> tuple[str, JsonObject]:
        """Return the server's call with the model's names; the inverse of `map_to_server`."""
        # The model sees its own earlier calls under the name that it used.
        if tool.endswith(NOT_LOADED):
            plain = tool.removesuffix(NOT_LOADED)
            return self._names.get(plain, plain), arguments
        shown = self._names.get(tool)
        if shown is None:
            return tool.removesuffix(NOT_SHOWN), arguments
        keys = {old: new for new, old in self._keys[shown].items()}
        return shown, {keys.get(key, key): arguments[key] for key in arguments}

    @property
    def presentation(self) -> Presentation:
        """What the model sees of each of the server's tools."""
        return build_presentation(self.variant, self.offered, self.tools)

    def is_shown(self, tool: str) -> bool:
        """Whether the model sees the tool that the server calls ``tool``."""
        return tool in self._names

    def is_search(self, tool: str) -> bool:
        """Whether a call of ``tool`` is a search for tools."""
        return self.search is not None and tool == self.search.tool.name

    def server_name(self, tool: str) -> str:
        """Return the server's name of the tool that the model sees as ``tool``."""
        return self._server_names.get(tool, tool)

    def _build_search(self, mixed: Sequence[Tool], tools: ToolList) -> SearchedTools | None:
        """Return the search that replaces the list, if the list is long enough."""
        wanted = self.variant.tool_search
        if wanted is None or len(mixed) <= wanted.beyond:
            return None
        if wanted.name in self._servers or wanted.name in self._server_names:
            raise UsageError(
                f"{self._describe_place()}the search of variant {self.variant.name!r} has the "
                f"name of a "
                f"tool, {wanted.name!r}",
                meant="Give it another one: tool_search: {name: find_tools}.",
            )
        return SearchedTools(wanted, _build_list(mixed, tools))

    def _describe_place(self) -> str:
        return f"{self.variant.at}: " if self.variant.at else ""

    def _refuse_twins(self, shown: Iterable[Tool]) -> None:
        seen: set[str] = set()
        for tool in shown:
            if tool.name in seen:
                named = f"{self._describe_place()}variant {self.variant.name!r}"
                raise UsageError(
                    f"{named} shows two tools named {tool.name!r}",
                    meant="Give each tool a name of its own.",
                )
            seen.add(tool.name)


def _build_list(shown: Sequence[Tool], tools: ToolList) -> ToolList:
    return ToolList(
        tools=tuple(shown),
        problems=tools.problems,
        digest=digest_json(list(map(_describe_facts, shown))),
    )


def _search_name(variant: Variant) -> str:
    return "" if variant.tool_search is None else variant.tool_search.name


def _select_offered(tools: ToolList, names: Mapping[str, str]) -> ToolList:
    """Return ``tools`` without those that are not shown."""
    if all(tool.name in names for tool in tools.tools):
        return tools
    left = tuple(tool for tool in tools.tools if tool.name in names)
    return replace(
        tools, tools=left, digest=digest_json([tools.digest, *(tool.name for tool in left)])
    )


def _edit_tool(tool: Tool, edit: ToolEdit, prefix: str) -> tuple[Tool, dict[str, str]]:
    """Return ``tool`` as shown, and the server's name of each renamed parameter."""
    description = tool.description if edit.description is None else edit.description
    schema, keys = _edited_schema(tool, edit.parameters)
    return (
        replace(
            tool,
            name=client_name(prefix, edit.name or tool.name),
            title=tool.title if edit.title is None else edit.title or None,
            description=remove_sentences(description, edit.without_sentences),
            input_schema=schema,
        ),
        keys,
    )


def _edited_schema(
    tool: Tool, edits: Mapping[str, ParameterEdit | None]
) -> tuple[JsonObject, dict[str, str]]:
    properties = tool.input_schema.get("properties")
    if not edits or not isinstance(properties, Mapping):
        return tool.input_schema, {}
    kept: dict[str, Any] = {}
    keys: dict[str, str] = {}
    for name, schema in properties.items():
        edit = edits.get(name, ParameterEdit())
        if edit is None:
            continue
        shown = edit.name or name
        if shown in kept:
            raise UsageError(f"tool {tool.name!r} would show two parameters named {shown!r}")
        if shown != name:
            keys[shown] = name
        kept[shown] = _edited_parameter(schema, edit)
    renamed = {old: new for new, old in keys.items()}
    gone = {name for name, edit in edits.items() if edit is None}
    schema = {**tool.input_schema, "properties": kept}
    required = tool.input_schema.get("required")
    if isinstance(required, list | tuple):
        # A parameter that is required and not there would make every call invalid.
        schema["required"] = [renamed.get(name, name) for name in required if name not in gone]
    return schema, keys


def _edited_parameter(schema: Any, edit: ParameterEdit) -> Any:
    # A server may write anything here, such as `true`, which is a schema as well.
    if not isinstance(schema, Mapping):
        return schema
    changed: JsonObject = dict(schema)
    if edit.description is not None:
        changed = {key: value for key, value in changed.items() if key != "description"}
        if edit.description:
            changed = {**changed, "description": edit.description}
    if edit.enum is not None:
        changed = replace_facet(changed, "enum", (list(edit.enum),) if edit.enum else ())
    if edit.examples is not None:
        changed = replace_facet(
            changed, "examples", (list(edit.examples),) if edit.examples else ()
        )
    if edit.default is not None:
        changed = replace_facet(changed, "default", edit.default)
    return changed


def _shuffle_tools(tools: Iterable[Tool], seed: int, server_names: Mapping[str, str]) -> list[Tool]:
    """Return ``tools`` in an order that depends only on the seed and their names.

    Two tools have the same order in every user's list, whatever other tools it has and whatever
    names are shown.
    """
    return sorted(
        tools, key=lambda tool: digest_json([seed, server_names.get(tool.name, tool.name)])
    )


def _arrange_tools(
    shown: Sequence[Tool], order: tuple[str, ...] | None, names: Mapping[str, str]
) -> list[Tool]:
    first = {names.get(name, name): place for place, name in enumerate(order or ())}
    # `sorted` is stable: tools that are not named keep the server's order behind the others.
    return sorted(shown, key=lambda tool: first.get(tool.name, len(first)))


def _insert_decoys(
    tools: Sequence[Tool], decoys: Sequence[Tool], seeds: Sequence[int]
) -> list[Tool]:
    """Insert the decoys at random positions; the tools keep their order."""
    # `Random` takes no list; a text is the same seed in every process.
    mixed, rng = list(tools), random.Random(repr(seeds))  # noqa: S311 - a place is no secret
    for decoy in decoys:
        mixed.insert(rng.randint(0, len(mixed)), decoy)
    return mixed


def _describe_facts(tool: Tool) -> JsonObject:
    """Return what a model gets to know about ``tool``."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "input_schema": tool.input_schema,
    }
