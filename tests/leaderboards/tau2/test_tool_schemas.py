"""Schemas made of source text, on a source of our own making."""

from __future__ import annotations

import json

import pytest

from harness.base.errors import UsageError
from harness.base.json_text import digest_json
from harness.leaderboards.tau2.tool_schemas import build_tool_schemas
from tests.leaderboards.tau2.support import recordings

DATA_MODEL = '''
from typing import List, Literal

Size = Literal["small", "large"]


class Part(BaseModel):
    """A piece."""

    part_id: str = Field(description="Which one.")
    amount: int = Field(description="How " "many.")


class Unused(BaseModel):
    x: SomethingUnknown
'''
TOOLS = '''
import this_is_never_run


class ShopTools(ToolKitBase):
    """Tools."""

    def __init__(self, db):
        raise SystemExit

    def helper(self, x: int) -> int:
        """No tool."""

    @is_tool(ToolType.WRITE)
    def order(self, shop_id: str, size: Size, parts: List[Part | dict], notes: List[str],
              price: float = 1.0) -> str:
        """
        Order parts. Ask first,
        and then order.

        Only once.

        Args:
            shop_id: The shop, such as '#1'.
            size: How large: small or large.
            parts: The parts,
                one by one.
            notes: Words.
            price: Money.

        Returns:
            Something.

        Raises:
            ValueError: If not.
        """

    @is_tool(ToolType.READ)
    def look(self) -> str:
        """Look."""
'''


def test_a_tool_is_shown_by_its_signature_and_its_docstring() -> None:
    order, look = build_tool_schemas(TOOLS, DATA_MODEL)
    assert order == {
        "name": "order",
        "description": "Order parts. Ask first,\n\nand then order.\n\nOnly once.",
        "parameters": {
            "$defs": {
                "Part": {
                    "description": "A piece.",
                    "properties": {
                        "part_id": {
                            "description": "Which one.",
                            "title": "Part Id",
                            "type": "string",
                        },
                        "amount": {
                            "description": "How many.",
                            "title": "Amount",
                            "type": "integer",
                        },
                    },
                    "required": ["part_id", "amount"],
                    "title": "Part",
                    "type": "object",
                }
            },
            "properties": {
                "shop_id": {
                    "description": "The shop, such as '#1'.",
                    "title": "Shop Id",
                    "type": "string",
                },
                "size": {
                    "description": "How large: small or large.",
                    "enum": ["small", "large"],
                    "title": "Size",
                    "type": "string",
                },
                "parts": {
                    "description": "The parts,\none by one.",
                    "items": {
                        "anyOf": [
                            {"$ref": "#/$defs/Part"},
                            {"additionalProperties": True, "type": "object"},
                        ]
                    },
                    "title": "Parts",
                    "type": "array",
                },
                "notes": {
                    "description": "Words.",
                    "items": {"type": "string"},
                    "title": "Notes",
                    "type": "array",
                },
                "price": {
                    "default": 1.0,
                    "description": "Money.",
                    "title": "Price",
                    "type": "number",
                },
            },
            "required": ["shop_id", "size", "parts", "notes"],
            "title": "parameters",
            "type": "object",
        },
    }
    assert look == {
        "name": "look",
        "description": "Look.",
        "parameters": {"properties": {}, "title": "parameters", "type": "object"},
    }


@pytest.mark.parametrize(
    "tools", ["class", TOOLS.replace("Size,", "Colour,"), TOOLS.replace("notes: List[str]", "n: 5")]
)
def test_a_source_that_is_written_in_another_way_is_refused(tools: str) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        build_tool_schemas(tools, DATA_MODEL)


@pytest.mark.parametrize("domain", ["airline", "retail"])
def test_the_published_schemas_come_out_of_a_source_that_says_the_same(domain: str) -> None:
    published = json.loads((recordings() / domain / "tools.json").read_bytes())
    made = build_tool_schemas(_source(published), _records(published))
    assert digest_json(made) == digest_json(published)


def _source(tools: list[dict[str, object]]) -> str:
    """Write tools as the leaderboard's source does."""
    return "class Tools:\n" + "".join(_method(tool) for tool in tools)


def _method(tool: dict[str, object]) -> str:
    parameters = tool["parameters"]["properties"]  # type: ignore[index]
    taken = "".join(f", {name}: {_type(shape)}" for name, shape in parameters.items())
    first, _, rest = str(tool["description"]).partition("\n\n")
    lines = [first, *rest.split("\n"), *(["Args:"] if parameters else [])]
    for name, shape in parameters.items():
        first_line, *more = shape["description"].split("\n")
        lines += [f"    {name}: {first_line}", *(f"        {line}" for line in more)]
    body = "\n".join(f"        {line}" if line else "" for line in lines)
    head = f"    @is_tool(ToolType.READ)\n    def {tool['name']}(self{taken}) -> str:\n"
    return f'{head}        """\n{body}\n        """\n\n'


def _type(shape: dict[str, object]) -> str:
    if "enum" in shape:
        return f"Literal{shape['enum']!r}"
    if shape["type"] == "array":
        options = shape["items"].get("anyOf")  # type: ignore[attr-defined]
        return f"List[{options[0]['$ref'].rpartition('/')[2]} | dict]" if options else "List[str]"
    return {"string": "str", "integer": "int"}[str(shape["type"])]


def _records(tools: list[dict[str, object]]) -> str:
    found: dict[str, dict[str, object]] = {}
    for tool in tools:
        found |= tool["parameters"].get("$defs", {})  # type: ignore[attr-defined]
    return "".join(
        f"class {name}(BaseModel):\n"
        + "".join(
            f"    {field}: {_type(shape)} = Field(description={shape['description']!r})\n"
            for field, shape in record["properties"].items()  # type: ignore[attr-defined]
        )
        for name, record in found.items()
    )
