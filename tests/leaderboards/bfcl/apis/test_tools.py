from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.base.errors import InvalidInput, UsageError
from harness.leaderboards.bfcl.apis.common import filter_by_turn, list_case_tools, list_class_tools


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "multi_turn_func_doc"
    folder.mkdir(parents=True)
    for file, names in (("gorilla_file_system", ("cd", "ls")), ("ticket_api", ("logout",))):
        entries = (
            {
                "name": name,
                "description": f"Does {name}.",
                "parameters": {"type": "dict", "properties": {}, "required": []},
            }
            for name in names
        )
        (folder / f"{file}.json").write_text("\n".join(map(json.dumps, entries)), "utf-8")
    return tmp_path


def test_a_class_lists_its_tools_as_they_are_described(data: Path) -> None:
    (tool,) = list_class_tools("TicketAPI", data)
    assert (tool.name, tool.description, tool.class_name) == ("logout", "Does logout.", "TicketAPI")
    assert tool.parameters == {"type": "object", "properties": {}, "required": []}


def test_a_tool_that_is_held_out_comes_in_its_turn_and_stays(data: Path) -> None:
    tools = list_case_tools(["GorillaFileSystem", "TicketAPI"], {"2": ["ls"]}, data)
    offered = [[tool.name for tool in filter_by_turn(tools, turn)] for turn in range(4)]
    assert offered == [
        ["cd", "logout"],
        ["cd", "logout"],
        ["cd", "ls", "logout"],
        ["cd", "ls", "logout"],
    ]


def test_a_class_without_a_description_is_told(data: Path) -> None:
    with pytest.raises(UsageError, match="no API 'NoAPI'"):
        list_class_tools("NoAPI", data)
    with pytest.raises(InvalidInput, match=r"math_api\.json"):
        list_class_tools("MathAPI", data)
