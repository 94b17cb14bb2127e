"""What `lexical` says it cannot fill is true of the parameter, or it says nothing."""

from __future__ import annotations

import pytest

from harness.models.lexical.arguments import beyond_filling
from harness.models.tool_text.parameters import read_params
from harness.types import Tool


def limit_of(name: str, description: str = "", about: str = "", **schema: object) -> str | None:
    properties = {name: {"type": "string", "description": description, **schema}}
    tool = Tool(
        name="do_it", description=about, input_schema={"type": "object", "properties": properties}
    )
    (param,) = read_params(tool)
    return beyond_filling(param, tool)


@pytest.mark.parametrize(
    ("name", "description", "limit"),
    [
        ("sql", "", "write SQL"),
        ("query", "SQL query to run", "write SQL"),
        ("statement", "An INSERT statement, written in SQL", "write SQL"),
        ("script", "JavaScript code to run in the page", "write code"),
        ("code", "Python code to execute", "write code"),
        ("regex", "", "write code"),
        ("function", "The function to execute in the page", "write code"),
        ("expression", "Mathematical expression to evaluate", "work out what is to be calculated"),
        ("formula", "What to calculate", "work out what is to be calculated"),
    ],
)
def test_a_text_that_no_prompt_contains_is_named(name: str, description: str, limit: str) -> None:
    assert limit_of(name, description) == limit


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("source_timezone", "Source IANA timezone name (e.g. 'America/New_York')"),
        ("source_language", "Language of the text"),
        ("source", "Where the order came from"),
        ("country_code", "ISO code of the country"),
        ("code", "Code of the airport, such as BER"),
        ("discount_code", ""),
        ("program", "Loyalty program of the customer"),
        ("program_id", "Id of the program"),
        ("function", "Function of the employee, such as sales"),
        ("table", "Name of the SQL table"),
        ("query", "What to search for (not SQL)"),
        ("query", "Words to search for. Use the tool run for SQL queries"),
        ("sql_dialect", "postgres or sqlite"),
        ("expression", "Cron expression of the schedule"),
        ("formula", "Chemical formula of the substance"),
        ("manifest", "Id of the shipping manifest"),
    ],
)
def test_a_word_that_is_often_something_else_is_no_reason(name: str, description: str) -> None:
    assert limit_of(name, description) is None


def test_objects_are_built_by_no_prompt() -> None:
    assert limit_of("filter", type="object") == "build objects"
    rows = limit_of("rows", type="array", items={"type": "object"})
    assert rows == "build lists of objects"


def test_the_tool_speaks_for_a_parameter_without_a_description() -> None:
    assert limit_of("query", about="Runs one SQL query") == "write SQL"
    assert limit_of("expression", about="Calculates a sum") == "work out what is to be calculated"
    assert limit_of("query", "Words to find", about="Runs one SQL query") is None
