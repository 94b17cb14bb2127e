"""What a model saw of each tool under a variant, for explanations of failed checks."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from harness.runner.variants.clients import client_name
from harness.types import (
    JsonObject,
    Presentation,
    PresentedTool,
    Tool,
    ToolEdit,
    ToolList,
    Variant,
)

if TYPE_CHECKING:
    from pydantic import TypeAdapter


def build_presentation(variant: Variant, offered: ToolList, shown: ToolList) -> Presentation:
    """Return how ``variant`` presented the server's tools.

    Args:
        variant: The variant.
        offered: The server's tools that the model saw, as the server describes them.
        shown: The same tools as the model saw them; others, such as decoys, are ignored.
    """
    return Presentation(
        variant=variant.name,
        tools={
            tool.name: presented
            for tool in offered.tools
            if (presented := _present_tool(tool, variant, shown)) is not None
        },
        hidden=frozenset(name for name, edit in variant.tools.items() if edit is None),
    )


def _present_tool(tool: Tool, variant: Variant, shown: ToolList) -> PresentedTool | None:
    edit = variant.tools.get(tool.name) or ToolEdit()
    plain = edit.name or tool.name
    seen = shown.get(client_name(variant.prefix, plain))
    if seen is None:
        return None
    renamed = {
        name: change.name
        for name, change in edit.parameters.items()
        if change is not None and change.name
    }
    return PresentedTool(tool=seen, plain_name=plain, parameters=renamed)


def read_logged_variant(described: JsonObject | None) -> Variant | None:
    """Return the variant of a model in a log's header; ``None`` if it has none.

    ``described`` has the variant's name and edits. Edits that this version cannot read are ignored.
    """
    from pydantic import ValidationError

    if not described:
        return None
    edits: Any = described.get("edits")
    try:
        return _get_adapter().validate_python(edits)
    except ValidationError:
        return None


@cache
def _get_adapter() -> TypeAdapter[Variant]:
    from pydantic import TypeAdapter  # slow to load, and only a log with variants needs it

    return TypeAdapter(Variant)
