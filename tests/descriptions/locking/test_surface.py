"""Which change of a server's surface breaks whoever uses it."""

from __future__ import annotations

from typing import Any

import pytest

from harness.descriptions.locking.surface import compare_surfaces, dump_lock


def a_tool(**parts: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {
            "id": {"type": "integer", "description": "Which.", "minimum": 1},
            "kind": {"enum": ["a", "b"]},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["id"],
    }
    output = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}
    base = {
        "description": "Reads.",
        "inputSchema": schema,
        "outputSchema": output,
        "annotations": {"readOnlyHint": True},
    }
    return {**base, **parts}


def compare(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[str, str]]:
    before, after = ({"user": {"tools": tools}} for tools in (old, new))
    return [(change.kind, change.words) for change in compare_surfaces(before, after)]


def changed_schema(side: str, *path: str, value: Any) -> dict[str, Any]:
    tool = a_tool()
    place = tool[side]
    for step in path[:-1]:
        place = place[step]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return tool


INPUT = ("inputSchema", "properties")
OUTPUT = ("outputSchema", "properties")


@pytest.mark.parametrize(
    ("now", "kind", "words"),
    [
        (a_tool(description="Reads it."), "wording", "description changed"),
        (a_tool(annotations={}), "breaking", "readOnlyHint was true, is absent"),
        (a_tool(annotations={"readOnlyHint": True, "destructiveHint": False}), "compatible", ""),
        (changed_schema(*INPUT, "id", "description", value="W"), "wording", "arguments.id"),
        (changed_schema(*INPUT, "id", "type", value="string"), "breaking", "type was integer"),
        (changed_schema(*INPUT, "id", "type", value="number"), "compatible", "is number"),
        (changed_schema(*INPUT, "id", "minimum", value=2), "breaking", "minimum was 1, is 2"),
        (changed_schema(*INPUT, "id", "minimum", value=0), "compatible", "minimum was 1, is 0"),
        (changed_schema(*INPUT, "kind", "enum", value=["a"]), "breaking", 'enum lost "b"'),
        (changed_schema(*INPUT, "kind", "enum", value=[*"abc"]), "compatible", 'gained "c"'),
        (changed_schema(*INPUT, "kind", "enum", value=[*"ba"]), "wording", "order or words"),
        (changed_schema(*INPUT, "note", "anyOf", value=[{"type": "null"}]), "breaking", "anyOf"),
        (changed_schema(*INPUT, "kind", value=None), "breaking", "arguments.kind was removed"),
        (changed_schema(*INPUT, "more", value={}), "compatible", "arguments.more is new"),
        (changed_schema("inputSchema", "required", value=["id", "kind"]), "breaking", "required"),
        (changed_schema("inputSchema", "required", value=[]), "compatible", "no longer required"),
        (changed_schema(*OUTPUT, "total", value=None), "breaking", "result.total was removed"),
        (changed_schema(*OUTPUT, "total", "type", value="integer"), "compatible", "type was"),
        (changed_schema(*OUTPUT, "total", "type", value="string"), "breaking", "is string"),
        (changed_schema("outputSchema", "required", value=[]), "breaking", "no longer required"),
        (changed_schema(*OUTPUT, "more", value={}), "compatible", "result.more is new"),
        (a_tool(outputSchema=None), "breaking", "outputSchema was removed"),
    ],
)
def test_each_change_is_of_one_kind(now: dict[str, Any], kind: str, words: str) -> None:
    ((found, said),) = compare({"get": a_tool()}, {"get": now})
    assert found == kind
    assert words in said


def test_tools_come_and_go_by_identity() -> None:
    assert compare({"get": a_tool()}, {}) == [("breaking", "was removed")]
    assert compare({}, {"get": a_tool()}) == [("compatible", "is new")]
    assert compare({"get": a_tool()}, {"get": a_tool()}) == []
    gone = [change.kind for change in compare_surfaces({"a": {}, "b": {}}, {"b": {}, "c": {}})]
    assert gone == ["breaking", "compatible"]


def test_a_change_names_its_line_in_the_file() -> None:
    old = {name: {"tools": {"get": a_tool()}} for name in ("a", "b")}
    text = dump_lock("shop", old)
    (change,) = compare_surfaces(old, {"a": old["a"], "b": {"tools": {}}}, text)
    assert change.sentence == "b: tool get: was removed"
    assert change.line is not None
    lines = text.splitlines()
    assert lines[change.line - 1].strip() == '"get": {'
    assert lines.index('    "b": {') < change.line
