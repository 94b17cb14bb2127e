"""A variant applied to one user's tool list: the list that the model sees, and the mapping back."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.base import UsageError, digest_json
from harness.runner.variants.edits import (
    Facet,
    client_name,
    edit_instructions,
    remove_sentences,
    replace_facet,
)
from harness.runner.variants.host_resources import RESOURCE_TOOLS
from harness.runner.variants.tool_search import SearchedTools
from harness.types import (
    NOT_LOADED,
    NOT_SHOWN,
    JsonObject,
    ParameterEdit,
    Presentation,
    PresentedTool,
    Tool,
    ToolEdit,
    ToolList,
    Variant,
)


def build_presentation(variant: Variant, offered: ToolList, shown: ToolList) -> Presentation:
    """Return how ``variant`` presented the server's tools.

    Args:
        variant: The variant.
        offered: The server's tools that the model saw, as the server describes them.
        shown: The same tools as the model saw them; others, such as decoys, are ignored.
    """
    tools: dict[str, PresentedTool] = {}
    for tool in offered.tools:
        edit = variant.tools.get(tool.name) or ToolEdit()
        plain = edit.name or tool.name
        seen = shown.get(client_name(variant.prefix, plain))
        if seen is not None:
            edits = edit.parameters.items()
            renamed = {name: one.name for name, one in edits if one is not None and one.name}
            tools[tool.name] = PresentedTool(tool=seen, plain_name=plain, parameters=renamed)
    hidden = frozenset(name for name, edit in variant.tools.items() if edit is None)
    return Presentation(
        variant=variant.name, tools=tools, hidden=hidden, offers_resources=variant.offer_resources
    )


def read_logged_variant(described: JsonObject | None) -> Variant | None:
    """Return the variant of a model in a log's header; ``None`` if it has none.

    ``described`` has the variant's name and edits. Edits that this version cannot read are ignored.
    """
    from pydantic import TypeAdapter, ValidationError  # slow to load, and few logs have variants

    try:
        return TypeAdapter(Variant).validate_python(described.get("edits")) if described else None
    except ValidationError:
        return None


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
                shown.append(self._edit_tool(tool, edit))
        self._server_names = {new: old for old, new in self._names.items()}
        self._refuse_twins(shown)
        self.offered = self._edit_instructions(tools)
        if len(shown) < len(tools.tools):
            left = tuple(tool for tool in tools.tools if tool.name in self._names)
            digest = digest_json([self.offered.digest, *(tool.name for tool in left)])
            self.offered = replace(self.offered, tools=left, digest=digest)
        # A client prefixes all tools, so a decoy without it would stand out.
        named = {client_name(variant.prefix, decoy.name): decoy for decoy in decoys}
        # A decoy gives way to the real tool of its name, to the search and to the host's tools.
        taken = {*self._server_names, *([variant.tool_search.name] if variant.tool_search else [])}
        taken |= {tool.name for tool in self._list_host_tools()}
        added = [replace(decoy, name=name) for name, decoy in named.items() if name not in taken]
        self.decoys = frozenset(decoy.name for decoy in added)
        if isinstance(variant.order, int):
            # By the seed and their plain names alone: two tools have the same order in every list,
            # whatever other tools it has, and a prefix makes no other order.
            plain = {name: decoy.name for name, decoy in named.items()} | self._server_names
            mixed = sorted(
                [*shown, *added], key=lambda tool: digest_json([variant.order, plain[tool.name]])
            )
        else:
            first = {self._names.get(name, name): at for at, name in enumerate(variant.order or ())}
            # `sorted` is stable: tools that are not named keep the server's order, behind the rest.
            mixed = sorted(shown, key=lambda tool: first.get(tool.name, len(first)))
            # `Random` takes no list; a text is the same seed in every process.
            rng = random.Random(repr([each.seed for each in variant.add]))  # noqa: S311 - a place is no secret
            for decoy in added:
                mixed.insert(rng.randint(0, len(mixed)), decoy)
        self.search = self._build_search(mixed, tools)
        listed = mixed if self.search is None else [self.search.tool, *mixed]
        self.tools = _build_list([*listed, *self._list_host_tools()], self.offered)
        self._refuse_host_twins()

    def _edit_instructions(self, tools: ToolList) -> ToolList:
        """Return ``tools`` with the instructions that the model sees."""
        shown = edit_instructions(self.variant.instructions, tools.instructions)
        if shown == tools.instructions:
            return tools
        return replace(tools, instructions=shown, digest=digest_json([tools.digest, shown]))

    def _edit_tool(self, tool: Tool, edit: ToolEdit) -> Tool:
        """Return ``tool`` as shown, and note its names."""
        description = tool.description if edit.description is None else edit.description
        schema, keys = _edited_schema(tool, edit.parameters)
        name = client_name(self.variant.prefix, edit.name or tool.name)
        self._names[tool.name], self._keys[name] = name, keys
        return replace(
            tool,
            name=name,
            title=tool.title if edit.title is None else edit.title or None,
            description=remove_sentences(description, edit.without_sentences),
            input_schema=schema,
        )

    def map_to_server(self, tool: str, arguments: JsonObject) -> tuple[str, JsonObject]:
        """Return the model's call with the server's names; unknown names stay unchanged.

        If the model uses the server's name of a tool that is shown under another name or not at
        all, the name gets the suffix `NOT_SHOWN`: the call must neither reach the server nor count
        as a call of the tool.
        """
        if tool.endswith(NOT_LOADED):
            name, arguments = self.map_to_server(tool.removesuffix(NOT_LOADED), arguments)
            return f"{name}{NOT_LOADED}", arguments
        keys = self._keys.get(tool)
        if keys is None:
            made_up = tool in self._servers and tool not in self.decoys
            return (f"{tool}{NOT_SHOWN}" if made_up else tool), arguments
        return self._server_names[tool], {keys.get(key, key): arguments[key] for key in arguments}

    def map_to_model(self, tool: str, arguments: JsonObject) -> tuple[str, JsonObject]:
        """Return the server's call with the model's names; the inverse of `map_to_server`."""
        # The model sees its own earlier calls under the name that it used.
        if tool.endswith(NOT_LOADED):
            return self.map_to_model(tool.removesuffix(NOT_LOADED), arguments)
        shown = self._names.get(tool)
        if shown is None:
            return tool.removesuffix(NOT_SHOWN), arguments
        keys = {old: new for new, old in self._keys[shown].items()}
        return shown, {keys.get(key, key): arguments[key] for key in arguments}

    @property
    def presentation(self) -> Presentation:
        """What the model sees of each of the server's tools."""
        return build_presentation(self.variant, self.offered, self.tools)

    def rewords_errors(self, tool: str) -> bool:
        """Whether the model is shown other texts for some errors of ``tool``."""
        edit = self.variant.tools.get(tool)
        return edit is not None and bool(edit.errors)

    def reword_error(self, tool: str, text: str) -> str | None:
        """Return what the model is shown in place of an error of ``tool``; ``None``: the error."""
        edit = self.variant.tools.get(tool)
        errors = {} if edit is None else edit.errors
        return next((new for part, new in errors.items() if part in text), None)

    def is_shown(self, tool: str) -> bool:
        """Whether the model sees the tool that the server calls ``tool``."""
        return tool in self._names

    def is_search(self, tool: str) -> bool:
        """Whether a call of ``tool`` is a search for tools."""
        return self.search is not None and tool == self.search.tool.name

    def is_host_tool(self, tool: str) -> bool:
        """Whether ``tool`` is one of the host's: the server has none of these names."""
        return any(tool == own.name for own in self._list_host_tools())

    def _list_host_tools(self) -> Sequence[Tool]:
        return RESOURCE_TOOLS if self.variant.offer_resources else ()

    def _refuse_host_twins(self) -> None:
        taken = {*self._servers, *self._server_names}
        taken |= set() if self.search is None else {self.search.tool.name}
        for own in self._list_host_tools():
            if own.name in taken:
                raise UsageError(
                    f"{self._describe_place()}variant {self.variant.name!r} has 'offer_resources', "
                    f"and there is a tool named {own.name!r} already",
                    meant="Leave 'offer_resources' out, or give the other tool another name.",
                )

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
                f"{self._describe_place()}the search of variant {self.variant.name!r} has the name "
                f"of a tool, {wanted.name!r}",
                meant="Give it another one: tool_search: {name: find_tools}.",
            )
        return SearchedTools(wanted, _build_list(mixed, self.offered), self._list_host_tools())

    def _describe_place(self) -> str:
        return f"{self.variant.at}: " if self.variant.at else ""

    def _refuse_twins(self, shown: Sequence[Tool]) -> None:
        for name, times in Counter(tool.name for tool in shown).items():
            if times > 1:
                place = f"{self._describe_place()}variant {self.variant.name!r}"
                raise UsageError(
                    f"{place} shows two tools named {name!r}",
                    meant="Give each tool a name of its own.",
                )


def _build_list(shown: Sequence[Tool], tools: ToolList) -> ToolList:
    # What a model gets to know about a tool.
    names = ("name", "title", "description", "input_schema")
    facts: list[Any] = [{name: getattr(tool, name) for name in names} for tool in shown]
    if tools.instructions:
        facts.append(tools.instructions)
    return ToolList(
        tools=tuple(shown),
        problems=tools.problems,
        digest=digest_json(facts),
        instructions=tools.instructions,
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
    changed: dict[str, Any] = dict(schema)
    if edit.description is not None:
        changed.pop("description", None)
        changed |= {"description": edit.description} if edit.description else {}
    shown: JsonObject = changed
    values: dict[Facet, tuple[Any, ...] | None] = {"enum": edit.enum, "examples": edit.examples}
    for key, value in values.items():
        if value is not None:
            shown = replace_facet(shown, key, (list(value),) if value else ())
    return shown if edit.default is None else replace_facet(shown, "default", edit.default)
