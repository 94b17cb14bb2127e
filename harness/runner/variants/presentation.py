"""What a model saw of each tool under a variant, for explanations of failed checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.runner.variants.clients import client_name
from harness.types import (
    JsonObject,
    Presentation,
    PresentedTool,
    ToolEdit,
    ToolList,
    Variant,
)

if TYPE_CHECKING:
    pass


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
    return Presentation(variant=variant.name, tools=tools, hidden=hidden)


def read_logged_variant(described: JsonObject | None) -> Variant | None:
    """Return the variant of a model in a log's header; ``None`` if it has none.

    ``described`` has the variant's name and edits. Edits that this version cannot read are ignored.
    """
    from pydantic import TypeAdapter, ValidationError  # slow to load, and few logs have variants

    try:
        return TypeAdapter(Variant).validate_python(described.get("edits")) if described else None
    except ValidationError:
        return None
