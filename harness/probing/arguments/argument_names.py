"""What the name of an argument or a field tells: an id, or a cursor; ids that may be tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from harness.judging import Leaf, Result, fold_text, is_masked, to_comparable
from harness.types import JsonObject, Tool

_MOST_OTHER_VALUES = 4
# The highest grade of `to_comparable`: a match is hardly chance.
_UNMISTAKABLE = 2
_LONGEST = 80
"""Longer values are texts, by which nothing is looked up."""


def find_ids(names: Iterable[str], leaves: Iterable[Leaf]) -> dict[str, list[str]]:
    """Return for each argument the ids among ``leaves``: the values of fields with its name.

    An argument such as ``person_id`` also takes the field ``id`` of a record.
    """
    found: dict[str, dict[str, None]] = {name: {} for name in names}
    for leaf in leaves:
        if isinstance(leaf.value, str) and leaf.value:
            for name, values in found.items():
                if names_id(name) and fold_text(leaf.name) in (fold_text(name), "id"):
                    values[leaf.value] = None
    return {name: list(values) for name, values in found.items()}


class OtherKeys:
    """What else than an id tells a record from all others.

    A server may look a record up by its email address, or by its number in another system, and
    check only what it calls the id.
    """

    def __init__(self, leaves: Iterable[Leaf]) -> None:
        """Index the records of ``leaves`` by the texts in their fields."""
        self._of: dict[str, dict[str, None]] = {}
        for leaf in leaves:
            if _tells_apart(leaf):
                for value in leaf.record.fields.values():
                    if isinstance(value, str) and value and value != leaf.value:
                        self._of.setdefault(value, {})[str(leaf.value)] = None

    def find_keys(self, arguments: JsonObject) -> Mapping[str, Sequence[str]]:
        """Return for each id in ``arguments`` further values that tell its record."""
        asked = {
            value: name for name, value in arguments.items() if isinstance(value, str) and value
        }
        found: dict[str, dict[str, None]] = {name: {} for name in asked.values()}
        for value, name in asked.items():
            found[name] |= self._of.get(value, {})
        return {name: list(values)[:_MOST_OTHER_VALUES] for name, values in found.items()}


def _tells_apart(leaf: Leaf) -> bool:
    value = to_comparable(leaf.value)
    if value is None or is_masked(leaf.value) or len(str(leaf.value)) > _LONGEST:
        return False
    # An amount is unmistakable, too, but nobody looks a record up by it.
    is_text = isinstance(leaf.value, str)
    return is_text and (value.grade == _UNMISTAKABLE or names_id(leaf.name))


def names_id(name: str) -> bool:
    """Whether an argument or a field of that name tells a record from others."""
    # Endings, since an id is mostly called after its table: "customer_id", "order_number".
    return fold_text(name).endswith(("id", "key", "number", "code", "name", "email"))


_TAKES = frozenset(
    {"cursor", "nextcursor", "pagetoken", "nextpagetoken", "nexttoken", "continuation"}
    | {"continuationtoken", "marker", "nextmarker", "startingafter", "after", "scrollid"}
)
"""Folded names of arguments that take a cursor."""
_GIVES = ("cursor", "pagetoken", "nexttoken", "continuation", "continuationtoken", "marker", "next")
"""Folded endings of the names of fields that hold a cursor; ``scroll_id`` is one, too."""
LISTS: Mapping[str, str] = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
"""Lists of the server itself, which take a ``cursor``: method → where its result has the list."""


def find_cursor_argument(tool: Tool) -> str | None:
    """Return the text argument of ``tool`` that takes a cursor; ``None`` if there is none."""
    declared = tool.input_schema.get("properties")
    for name, part in declared.items() if isinstance(declared, Mapping) else ():
        if _normalize_name(name) in _TAKES and _allows_text(part):
            return str(name)
    return None


def _allows_text(part: object) -> bool:
    """Whether a schema allows text."""
    kinds = part.get("type") if isinstance(part, Mapping) else None
    options = part.get("anyOf") if isinstance(part, Mapping) else None
    # Pydantic declares an optional text as "anyOf" of it and null.
    if isinstance(options, list):
        return any(map(_allows_text, options))
    # A schema that states no type allows every one.
    return kinds is None or kinds == "string" or (isinstance(kinds, list) and "string" in kinds)


def get_cursor(result: Result) -> str | None:
    """Return the cursor to the page after ``result``; ``None`` if there is none."""
    for leaf in result.leaves:
        if isinstance(leaf.value, str) and leaf.value and is_cursor_field(leaf.name):
            return leaf.value
    return None


def is_cursor_field(name: str) -> bool:
    """Whether a field of that name holds a cursor."""
    return _normalize_name(name).endswith(_GIVES) or _normalize_name(name) == "scrollid"


def _normalize_name(name: str) -> str:
    # Letters alone, so that "next_page_token" and "nextPageToken" are one name.
    return "".join(filter(str.isalpha, fold_text(name)))
