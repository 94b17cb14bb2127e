"""Tool lists to draft from: a small shop, and whatever a server could ever send."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from harness.types import Tool, ToolList


def tool(
    name: str, description: str = "", properties: dict[str, Any] | None = None, **facts: Any
) -> Tool:
    """Return a tool; ``required`` lists names of properties, separated by spaces."""
    required = facts.pop("required", "").split()
    schema = {
        "type": "object",
        "properties": properties or {},
        **({"required": required} if required else {}),
    }
    return Tool(name=name, description=description, input_schema=schema, **facts)


ORDER_ID = {"type": "string", "pattern": "^ORD_[0-9]{4}$"}
GET_ORDER = tool(
    "get_order",
    "Returns one order by id.",
    {"order_id": ORDER_ID},
    required="order_id",
    read_only=True,
)
CANCEL_ORDER = tool(
    "cancel_order",
    "Cancel an order for good.",
    {"order_id": ORDER_ID},
    required="order_id",
    destructive=True,
)
SHOP = ToolList(tools=(GET_ORDER, CANCEL_ORDER))

_TEXTS = st.text(st.characters(), max_size=60)
_WORDS = st.sampled_from(
    [
        "get", "order", "customer", "id", "date", "from", "path", "$gt", "<<", "no", "1e5", "${X}",
        "ü", "a b",
    ]
)  # fmt: skip
_NAMES = st.one_of(_TEXTS, _WORDS, st.lists(_WORDS, min_size=1, max_size=3).map("_".join))
_JSON: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), _TEXTS),
    lambda parts: st.one_of(
        st.lists(parts, max_size=3), st.dictionaries(_NAMES, parts, max_size=3)
    ),
    max_leaves=8,
)
_KEYWORDS = st.sampled_from(
    ["type", "enum", "const", "default", "examples", "pattern", "format", "items", "properties",
     "anyOf",
     "allOf", "$ref", "minimum", "maxLength", "multipleOf", "description", "$defs",
     "patternProperties"]
)  # fmt: skip
_ANY_SCHEMA = st.tuples(
    st.dictionaries(_KEYWORDS, _JSON, max_size=5),
    st.one_of(st.just({}), st.lists(_NAMES, max_size=2).map(lambda names: {"required": names})),
).map(lambda parts: {**parts[0], **parts[1]})


def _described(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(st.just(schema), _TEXTS.map(lambda text: {**schema, "description": text}))


_BOUNDS = st.tuples(st.integers(-1000, 1000), st.integers(0, 1000)).map(
    lambda pair: (pair[0], sum(pair))
)
_SIMPLE_VALUES: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({"type": "string"}),
    st.sampled_from(["date", "date-time", "email", "uri", "uuid"]).map(
        lambda name: {"type": "string", "format": name}
    ),
    st.lists(
        st.text("abcXYZ 019", min_size=1, max_size=8), min_size=1, max_size=4, unique=True
    ).map(lambda values: {"type": "string", "enum": values}),
    st.sampled_from(
        [
            r"^CUST_[0-9]{5}$",
            r"^[a-z]{2}-[A-Z]{2}$",
            r"^\d+(\.\d+)?$",
            "^(open|closed)$",
            r"^#[0-9a-f]{6}$",
        ]
    ).map(lambda pattern: {"type": "string", "pattern": pattern}),
    st.integers(1, 40).map(lambda length: {"type": "string", "maxLength": length}),
    st.integers(1, 30).map(lambda length: {"type": "string", "minLength": length}),
    _BOUNDS.map(lambda pair: {"type": "integer", "minimum": pair[0], "maximum": pair[1]}),
    _BOUNDS.map(lambda pair: {"type": "number", "minimum": pair[0]}),
    st.just({"type": "boolean"}),
    st.just({"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}),
)
_SIMPLE_PARTS = st.one_of(
    _SIMPLE_VALUES,
    _SIMPLE_VALUES.map(lambda items: {"type": "array", "items": items}),
    st.dictionaries(st.sampled_from(["from", "to", "text"]), _SIMPLE_VALUES, min_size=1).map(
        lambda parts: {"type": "object", "properties": parts, "required": list(parts)}
    ),
).flatmap(_described)


@st.composite
def simple_tools(draw: st.DrawFn) -> Tool:
    """Any tool whose schema says plainly what it takes."""
    names = st.sampled_from(
        ["order_id", "path", "limit", "q", "fromDate", "note", "$gt", "tags", "e-mail", "no"]
    )
    properties = draw(st.dictionaries(names, _SIMPLE_PARTS, max_size=4))
    required = [name for name in properties if draw(st.booleans())]
    schema = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    return Tool(name=draw(_NAMES), description=draw(_TEXTS), input_schema=schema)


@st.composite
def tool_lists(draw: st.DrawFn) -> ToolList:
    """Whatever a server could list."""
    tools = draw(
        st.lists(
            st.one_of(
                simple_tools(),
                st.builds(
                    Tool,
                    name=_NAMES,
                    description=_TEXTS,
                    input_schema=_ANY_SCHEMA,
                    read_only=st.sampled_from([None, True, False]),
                    destructive=st.sampled_from([None, True, False]),
                ),
            ),
            min_size=1,
            max_size=5,
            unique_by=lambda one: one.name,
        )
    )
    return ToolList(tools=tuple(tools))
