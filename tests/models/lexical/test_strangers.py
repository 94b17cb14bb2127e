"""What strangers' servers have taught it.

Cities as time zones, clauses that leave out, SQL, names of things.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.models.lexical.dates import find_zone
from harness.types import Tool, ToolList, UserMessage
from tests.models.lexical.conversations import reply
from tests.models.lexical.toolsets import text, tool

IANA = "IANA timezone name (e.g. 'America/New_York', 'Europe/London')"
CLOCK = tool(
    "convert_time",
    "Convert a time between timezones",
    {
        "source_timezone": text(f"Source {IANA}"),
        "time": text("24-hour time"),
        "target_timezone": text(f"Target {IANA}"),
    },
    "source_timezone time target_timezone",
)
TREE = tool(
    "directory_tree",
    "Show the tree of files in a directory",
    {
        "path": text("Path of the directory"),
        "exclude": {"type": "array", "items": {"type": "string"}},
    },
    "path",
)
SCALE = tool(
    "scale",
    "Scale a deployment",
    {"name": text("Name of the deployment to scale"), "replicas": {"type": "number"}},
    "name replicas",
)
DESCRIBE = tool(
    "describe",
    "Describe resources",
    {
        "resource_type": text("Type of resource (e.g., pods, services)"),
        "name": text(),
        "allNamespaces": {"type": "boolean"},
    },
    "resource_type name",
)
DATABASE = tool(
    "read_query",
    "Execute a SELECT query on the database",
    {"query": text("SQL to execute")},
    "query",
)


def arguments(prompt: str, *tools: Tool) -> list[dict[str, Any]]:
    asked = reply([UserMessage(text=prompt)], ToolList(tools=tools)).tool_requests
    return [dict(request.arguments) for request in asked]


@pytest.mark.parametrize(
    ("prompt", "source", "time", "target"),
    [
        (
            "If it is 8:15 in Oslo, what time is it in Chicago?",
            "Europe/Oslo",
            "08:15",
            "America/Chicago",
        ),
        (
            "What time is it in London when it is 9 am in Tokyo?",
            "Asia/Tokyo",
            "09:00",
            "Europe/London",
        ),
        ("Convert 18:00 from New York to Rome time.", "America/New_York", "18:00", "Europe/Rome"),
        (
            "Ali in Cairo starts at 7:30 am. When is that in Mexico City?",
            "Africa/Cairo",
            "07:30",
            "America/Mexico_City",
        ),
    ],
)
def test_the_words_around_a_city_tell_which_zone_it_is(
    prompt: str, source: str, time: str, target: str
) -> None:
    assert arguments(prompt, CLOCK) == [
        {"source_timezone": source, "time": time, "target_timezone": target}
    ]


def test_cities_are_zones_whatever_the_machine_has_installed() -> None:
    assert [find_zone(city) for city in ("new york", "São Paulo", "Sao Paulo", "Gotham")] == [
        "America/New_York",
        None,
        "America/Sao_Paulo",
        None,
    ]


@pytest.mark.parametrize(
    "prompt",
    [
        "Show the tree of /srv/data without /srv/data/old",
        "Show the tree of /srv/data, but do not include /srv/data/old.",
        "Do not read /srv/secret. Show the tree of /srv/data",
        "Except for /srv/data/old, show the tree of /srv/data",
    ],
)
def test_what_a_clause_leaves_out_is_no_argument(prompt: str) -> None:
    assert [call["path"] for call in arguments(prompt, TREE)] == ["/srv/data"]


def test_what_is_left_out_goes_to_the_parameter_that_excludes() -> None:
    (call,) = arguments('Show the tree of /srv/data without "node_modules"', TREE)
    assert call == {"path": "/srv/data", "exclude": ["node_modules"]}


def test_a_name_follows_what_it_is_the_name_of() -> None:
    assert arguments("Scale the deployment web to 4 replicas", SCALE) == [
        {"name": "web", "replicas": 4}
    ]
    assert arguments("Describe the service checkout", DESCRIBE) == [
        {"resource_type": "services", "name": "checkout"}
    ]


def test_a_flag_for_all_is_set_only_by_who_says_all() -> None:
    (call,) = arguments("Describe the service billing in all namespaces", DESCRIBE)
    assert call["allNamespaces"] is True
    (call,) = arguments("Describe the service billing in the namespace shop", DESCRIBE)
    assert "allNamespaces" not in call


def test_an_sql_statement_is_sent_as_it_stands() -> None:
    statement = "SELECT name, city FROM customers WHERE city = 'New York' AND id > 3"
    for prompt in (
        f"Run this query: {statement}",
        f"Please run {statement}.",
        f'Execute "{statement}" for me.',
    ):
        assert arguments(prompt, DATABASE) == [{"query": statement}]


def test_a_word_in_an_address_sets_no_flag() -> None:
    raw = {
        "type": "boolean",
        "description": "Return the HTML source as it is, without simplification",
    }
    fetch = tool(
        "fetch", "Fetch a page from the internet", {"url": text("URL to fetch"), "raw": raw}, "url"
    )
    assert arguments("Fetch https://example.com/index.html", fetch) == [
        {"url": "https://example.com/index.html"}
    ]
    assert arguments("Fetch the raw source of https://example.com/", fetch)[0]["raw"] is True
