"""What a tool's own text says of its parameters counts, in whatever layout."""

from __future__ import annotations

from typing import Any

import pytest

from harness.descriptions.linting.findings import lint_tools
from harness.descriptions.linting.parameter_texts import read_parameter_texts, remove_literals
from harness.descriptions.linting.repeats import collect_repeats
from harness.types import Tool, ToolList
from tests.descriptions.linting.test_lint import good, of_rule

LAYOUTS = {
    "google": "Args:\n    order_id (str, optional): {id}\n    size: {size}\n",
    "parameters": "Parameters:\n- order_id: {id}\n- size (int): {size}\n",
    "numpy": (
        "Parameters\n----------\norder_id : str\n    {id}\nsize : int, optional\n    {size}\n"
    ),
    "rest": ":param order_id: {id}\n:type order_id: str\n:param int size: {size}\n",
    "jsdoc": "@param {{string}} order_id - {id}\n@param {{number}} [size] - {size}\n",
    "list": "- **order_id** (`string`, required): {id}\n* `size` - {size}\n",
    "numbers": "1. `order_id`: {id}\n2. size – {size}\n",
    "table": "| name | text |\n|---|---|\n| `order_id` | {id} |\n| size | {size} |\n",
    "headings": "### order_id\n{id}\n\n### size\n{size}\n",
    "one line": "Args: order_id: {id}; size: {size}",
    "tags": '<param name="order_id">{id}</param>\n<param name="size">{size}</param>\n',
    "bare": "order_id: {id}\nsize: {size}\n",
    "next line": "Args:\n    order_id:\n        {id}\n    size:\n        {size}\n",
    "several": "- **order_id**, **size**, and **note** – {id} and {size}",
    "inside": "Returns up to `size` rows of one. The order `order_id` is one such as ORD_17.",
    "bullets": "NOTE:\n- 'order_id' must be that of an order, as ORD_17\n- 'size' must be integer",
    "called so": "NEEDED: order_id parameter must be one as ORD_17. The size field tells how many.",
    "values": "Valid 'order_id' values: ORD_17, ORD_18\nPossible values for size: 1 or more",
    "plain": "Reads up to size (the size parameter is for rows). Every order_id is one as ORD_17.",
    "sentences": "Pass `order_id` of the order, such as ORD_17. Use `size` to say how many follow.",
}


def taking_two(description: str) -> Tool:
    properties = {"order_id": {"type": "string"}, "size": {"type": "integer"}}
    return good(
        description=f"Show one order.\n\n{description}",
        input_schema={"type": "object", "properties": properties},
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_parameter_that_the_tool_describes_is_not_called_undescribed(layout: str) -> None:
    text = LAYOUTS[layout].format(id="Which order, such as ORD_17", size="How many rows follow")
    assert of_rule("undescribed-parameter", taking_two(text)) == []
    assert of_rule("id-without-example", taking_two(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Args:\n    order_id: str\n    size: int (optional)\n",
        "Returns:\n    order_id: The order that was found.\n    size: Its number of rows.\n",
        "Parameters\n----------\norder_id : str\nsize : int\n",
        'Example: {"order_id": "ORD_17", "size": 3}',
        "```yaml\norder_id: one of the shop\nsize: as in the list\n```",
        "Needs order_id and size.",
        "Required: action, order_id, size and the rest of it\nOptional: order_id, size, more, less",
    ],
)
def test_a_name_without_a_text_describes_nothing(text: str) -> None:
    (found,) = of_rule("undescribed-parameter", taking_two(text))
    assert found.parameters == ("order_id", "size")


def test_an_example_below_an_argument_does_not_end_the_arguments() -> None:
    text = "Args:\n    kind: Which.\n        Example: large\n    size: How many.\n"
    assert read_parameter_texts(text, ["kind", "size"]).texts == {
        "kind": "Which. Example: large",
        "size": "How many.",
    }


@pytest.mark.parametrize(
    ("name", "description", "of_tool"),
    [
        ("order_id", "Which order.", 'For example {"order_id": "1234567"}.'),
        ("order_id", "Which order.", "Call get_order(order_id='A-1')."),
        ("order_id", "The UUID of the order.", ""),
        ("order_id", "12-digit number of the order.", ""),
        ("order_id", "Order (ORD-17).", ""),
        ("project_id", "ID or full path of the project.", ""),
        ("order_id", "Which order; get_order lists them.", ""),
        ("new_key", "Name to give it.", ""),
        ("code", "Python to run.", ""),
        ("api_key", "Of your account.", ""),
        ("key", "Where the value is stored.", ""),
    ],
)
def test_an_id_whose_form_is_said_needs_no_example(
    name: str, description: str, of_tool: str
) -> None:
    properties = {name: {"type": "string", "description": description}}
    tool = good(
        description=f"Show one order. {of_tool}",
        input_schema={"type": "object", "properties": properties},
    )
    assert of_rule("id-without-example", tool) == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cve_id", "Filter by CVE ID."),
        ("session_id", "The active session (automatically injected by the host)."),
        ("uuid", "The job."),
        ("job_id", "Identifier of the job, as returned by the list."),
        ("search_key", "What to look for."),
        ("dry_run_ref", "Branch or tag in which to run."),
    ],
)
def test_a_known_scheme_or_an_id_that_nobody_sends_needs_no_example(name: str, said: str) -> None:
    properties = {name: {"type": "string", "description": said}}
    tool = good(input_schema={"type": "object", "properties": properties})
    assert of_rule("id-without-example", tool) == []


def test_an_id_that_one_tool_shows_is_known_in_the_others() -> None:
    def cancel(text: str) -> list[Any]:
        properties = {"order_id": {"type": "string", "description": text}}
        other = good(name="cancel_it", input_schema={"type": "object", "properties": properties})
        return of_rule("id-without-example", good(), other)

    assert cancel("Which order.") == []
    assert len(of_rule("id-without-example", taking_two("order_id: Which of them."))) == 1


def test_objects_and_fenced_code_are_no_statements() -> None:
    text = 'Set {"type": {"a": 1}} or {string}.\n```\nx: 1\n```\nEnd {"cut": '
    assert remove_literals(text) == "Set  or {string}.\n\nEnd "


def test_what_many_tools_share_is_one_line() -> None:
    properties = {
        "path": {"type": "string"},
        "note": {"type": "string"},
    }
    tools = [
        good(name=f"get_order_{letter}", input_schema={"type": "object", "properties": properties})
        for letter in "ab"
    ]
    more = {"type": "object", "properties": {"path": {"type": "string"}}}
    tools.append(good(name="get_order_c", input_schema=more))
    found = [
        finding
        for finding in lint_tools(ToolList(tools=tuple(tools)))
        if finding.rule == "undescribed-parameter"
    ]
    repeats, others = collect_repeats(found)
    assert [one.message for one in repeats] == ["No description: path: 3 tools."]
    assert [(one.tool, one.message) for one in others] == [
        ("get_order_a", "No description: note."),
        ("get_order_b", "No description: note."),
    ]


@pytest.mark.parametrize("told", ["pass reveal: true when you", "use `reveal`=true to", "reveal:"])
def test_a_value_with_its_purpose_describes_a_parameter(told: str) -> None:
    text = f"Values are masked by default; {told} need them."
    assert ("reveal" in read_parameter_texts(text, ["reveal"]).texts) == (told != "reveal:")
