"""Each rule finds what it is for, says what to do, and leaves alone what is well described."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from harness.base.errors import UsageError
from harness.descriptions.linting.findings import (
    LintFinding,
    check_ignored,
    drop_ignored,
    has_finding_at,
    lint_tools,
    load_rules,
)
from harness.types import Tool, ToolList, ToolProblem
from tests.descriptions.drafting.toolsets import tool_lists

DESCRIPTION = "Show one order by its id. For all orders of a customer use search_orders."
ORDER_ID = {"type": "string", "description": "Id of the order, such as ORD_1042."}


PROSE = "It must be lowercase, alphanumeric or hyphenated"
NOUNS = (
    "settings",
    "edit_distance",
    "close_price",
    "update_history",
    "changes",
    "reset_status",
    "switch_port_status",
    "cancellation_policy",
    "drop_rate",
    "removed_items",
)
"""Names of tools that only read, made of words that are verbs elsewhere."""


def good(**changes: Any) -> Tool:
    facts: dict[str, Any] = {
        "name": "get_order",
        "description": DESCRIPTION,
        "input_schema": {
            "type": "object",
            "properties": {"order_id": ORDER_ID},
            "required": ["order_id"],
        },
        "output_schema": {"type": "object"},
        "read_only": True,
        "destructive": False,
    }
    return Tool(**{**facts, **changes})


def taking(name: str, schema: dict[str, Any]) -> Tool:
    """Return a good tool with one parameter."""
    return good(input_schema={"type": "object", "properties": {name: schema}})


def of_rule(rule: str, *tools: Tool, problems: tuple[ToolProblem, ...] = ()) -> list[LintFinding]:
    return [
        finding
        for finding in lint_tools(ToolList(tools=tools, problems=problems))
        if finding.rule == rule
    ]


def test_a_tool_that_says_everything_is_clean() -> None:
    assert lint_tools(ToolList(tools=(good(),))) == ()


def test_a_server_without_tools_is_an_error() -> None:
    assert [finding.rule for finding in lint_tools(ToolList(tools=()))] == ["no-tools"]


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        ("no-description", good(description=" ")),
        ("short-description", good(description="Get order.")),
        (
            "short-description",
            good(name="get_the_order_of_one", description="Get the order of one"),
        ),
        ("undescribed-parameter", taking("note", {"type": "string"})),
        (
            "undescribed-parameter",
            taking(
                "filter",
                {
                    "type": "object",
                    "description": "Which.",
                    "properties": {"x": {"type": "string"}},
                },
            ),
        ),
        ("undeclared-parameter", good(input_schema={"type": "object", "required": ["x"]})),
        (
            "id-without-example",
            taking("customer_id", {"type": "string", "description": "Whose orders."}),
        ),
        (
            "id-without-example",
            taking("userKey", {"type": "string", "description": "Whose orders."}),
        ),
        (
            "date-without-format",
            taking("start_date", {"type": "string", "description": "First day."}),
        ),
        ("date-without-format", taking("date_to", {"type": "string", "description": "Last day."})),
        (
            "choices-in-prose",
            taking("status", {"type": "string", "description": "One of: open, closed, paid."}),
        ),
        (
            "choices-in-prose",
            taking("unit", {"type": "string", "description": "Must be: metric or imperial"}),
        ),
        (
            "choices-in-prose",
            taking("unit", {"type": "string", "description": "Must be 'metric' or 'imperial'"}),
        ),
        (
            "choices-in-prose",
            taking("unit", {"type": "string", "description": "Either `metric` or `imperial`"}),
        ),
        ("opaque-choices", taking("unit", {"enum": ["c", "f"], "description": "Unit."})),
        ("opaque-choices", taking("level", {"enum": [1, 2], "description": "How much."})),
        ("provider-form", good(name="orders.get")),
        ("provider-form", good(name="g" * 100)),
        ("provider-form", good(input_schema={"type": "object", "anyOf": [{"required": ["a"]}]})),
        (
            "provider-form",
            taking("e mail", {"type": "string", "description": "Where to write to."}),
        ),
        ("unmarked", good(read_only=None, destructive=None)),
        ("contradictory-marks", good(read_only=True, destructive=True)),
        ("contradictory-marks", good(name="delete_order")),
        (
            "contradictory-marks",
            good(name="update_order", description="Update the status of one order."),
        ),
        ("contradictory-marks", good(name="order", description="Closes an order for good.")),
        (
            "contradictory-marks",
            good(description="Deletes one order.", read_only=False, destructive=False),
        ),
        ("opaque-choices", taking("kind", {"enum": ["no", "zq"], "description": "Kind."})),
        ("large-tool", good(description=f"{DESCRIPTION} {'More about it. ' * 400}")),
        ("large-tool", good(description="查看订单的详细信息。" * 100)),
        ("no-output-schema", good(output_schema=None)),
    ],
)
def test_a_rule_finds_what_it_is_for(rule: str, broken: Tool) -> None:
    assert of_rule(rule, good()) == []
    found = of_rule(rule, broken)
    assert found
    assert all(
        finding.message.endswith(".") and finding.instead and finding.rationale for finding in found
    )


@pytest.mark.parametrize(
    ("rule", "sound"),
    [
        (
            "contradictory-marks",
            good(description="Shows the latest updates of one order, and what was deleted."),
        ),
        *(("contradictory-marks", good(name=name)) for name in NOUNS),
        ("contradictory-marks", good(name="drop_rate", read_only=False)),
        (
            "contradictory-marks",
            good(name="edit_distance", description="Edit distance between two texts."),
        ),
        ("contradictory-marks", good(name="changes", description="Changes between two commits.")),
        (
            "contradictory-marks",
            good(description="Closing prices of a share, day by day, for a year."),
        ),
        (
            "id-without-example",
            taking("order_id", {"type": "string", "pattern": "^ORD", "description": "Id."}),
        ),
        ("id-without-example", taking("order_id", {"type": "integer", "description": "Id."})),
        *(
            ("id-without-example", taking("order_id", {"type": "string", "description": text}))
            for text in (
                "Id of the order; uses the latest order if not provided.",
                "Omit for the current order.",
                "From the order list items[].id.",
                "Given in the step before.",
                "Generated by the first call.",
                "Without it, all orders are listed.",
                "Bundle identifier of the order app.",
                "Id of the order. Read-only.",
                "Id of the order (default: primary)",
            )
        ),
        ("undescribed-parameter", taking("params", {"type": "object", "properties": {}})),
        ("opaque-choices", taking("margin", {"enum": ["none", "xs", "sm", "md", "lg", "xl"]})),
        ("undescribed-parameter", taking("minLatitude", {"type": "number"})),
        ("undescribed-parameter", taking("made_at", {"type": "string", "readOnly": True})),
        ("id-without-example", taking("external_id", {"type": "string", "description": "Yours."})),
        ("id-without-example", taking("order_id", {"type": "string", "readOnly": True})),
        ("date-without-format", taking("day", {"type": "string", "description": "YYYY-MM-DD"})),
        (
            "date-without-format",
            taking("day", {"type": "string", "format": "date", "description": "Day."}),
        ),
        (
            "date-without-format",
            taking("day", {"type": "string", "description": "First day, written MM/DD/YYYY."}),
        ),
        (
            "date-without-format",
            taking("day", {"type": "string", "description": "Written as in 31.12.2025."}),
        ),
        (
            "date-without-format",
            taking("day_of_week", {"type": "string", "description": "Monday, for example."}),
        ),
        (
            "date-without-format",
            taking("since_version2", {"type": "string", "description": "Of the interface."}),
        ),
        ("choices-in-prose", taking("name", {"type": "string", "description": f"Name. {PROSE}"})),
        (
            "choices-in-prose",
            taking("way", {"type": "string", "description": "Contact, either email or phone"}),
        ),
        (
            "opaque-choices",
            taking("paid", {"enum": ["no", "yes"], "description": "Whether it is paid."}),
        ),
        (
            "opaque-choices",
            taking("state", {"enum": ["up", "down"], "description": "Of the host."}),
        ),
        ("large-tool", good(description="Показать один заказ. " * 51)),
        (
            "choices-in-prose",
            taking(
                "status", {"type": "string", "enum": ["a", "b"], "description": "One of: a, b."}
            ),
        ),
        (
            "choices-in-prose",
            taking(
                "name", {"type": "string", "description": "Must be the full name of the person"}
            ),
        ),
        (
            "opaque-choices",
            taking("unit", {"enum": ["c", "f"], "description": "c (Celsius) or f (Fahrenheit)."}),
        ),
        (
            "opaque-choices",
            taking("period", {"enum": ["1d", "5d", "EUR"], "description": "How far back."}),
        ),
        ("undescribed-parameter", taking("status", {"enum": ["open", "closed"]})),
        ("unmarked", good(read_only=False, destructive=None)),
    ],
)
def test_a_rule_leaves_alone_what_is_said_otherwise(rule: str, sound: Tool) -> None:
    assert of_rule(rule, sound) == []


def test_two_tools_of_one_description_are_an_error_and_named_once() -> None:
    found = of_rule("same-description", good(), good(name="fetch_order"))
    assert [finding.tool for finding in found] == ["fetch_order"]
    assert "get_order" in found[0].message
    assert of_rule("confusable", good(), good(name="fetch_order")) == []


def test_tools_whose_words_fit_each_other_are_told_as_one_pair() -> None:
    more = (
        "Handles encodings, and reports errors in detail; the arguments head and tail give "
        "parts of it."
    )
    first = good(name="read_file", description="Read the contents of a file as text.")
    second = good(
        name="read_text_file", description=f"Read the contents of a file from disk as text. {more}"
    )
    found = of_rule("confusable", first, second, good())
    assert [(finding.tool, "read_text_file" in finding.instead) for finding in found] == [
        ("read_file", True)
    ]


def test_descriptions_that_share_most_of_their_words_are_told() -> None:
    papers = "parcels, carriers, weights, prices, insurance and customs papers"
    first = good(name="find_parcels", description=f"Find {papers}.")
    second = good(name="search_parcels", description=f"Search {papers}, quickly.")
    assert [finding.tool for finding in of_rule("confusable", first, second)] == ["find_parcels"]


def test_tools_that_say_what_sets_them_apart_are_not_confusable() -> None:
    orders = good(
        name="search_orders", description="Count and list orders by status, period or amount."
    )
    cancel = good(
        name="cancel_order", description="Cancel an order for good and refund it.", read_only=False
    )
    assert of_rule("confusable", good(), orders, cancel) == []


def test_what_the_listing_had_to_leave_out_is_an_error_and_what_it_repaired_a_warning() -> None:
    lost = ToolProblem(tool="x", problem="its inputSchema is missing")
    kept = ToolProblem(
        tool="get_order", problem="its title is not text and was dropped", usable=True
    )
    assert [one.severity for one in of_rule("unusable-tool", good(), problems=(lost, kept))] == [
        "error"
    ]
    assert [one.severity for one in of_rule("listing-problem", good(), problems=(lost, kept))] == [
        "warning"
    ]


@pytest.mark.slow
def test_a_list_that_is_too_long_is_told_once() -> None:
    tools = [
        good(name=f"get_{number}", description=f"{DESCRIPTION} {number}") for number in range(130)
    ]
    assert len(of_rule("large-list", *tools)) == 1


def test_what_a_provider_refuses_is_an_error_with_its_places() -> None:
    part = {"type": "array", "items": {"type": "string", "pattern": r"^\p{L}$"}}
    found = of_rule("provider-refuses", taking("a", part))
    (of_openai,) = (finding for finding in found if finding.message.startswith("OpenAI"))
    assert of_openai.message == (
        "OpenAI takes no 'pattern' that Python cannot compile, such as \\p{L}: "
        "get_order at properties/a/items."
    )
    assert {finding.severity for finding in found} == {"error"}
    many = of_rule("provider-refuses", *(good(name=f"get_{number}") for number in range(129)))
    assert [finding.message for finding in many] == [
        "OpenAI takes at most 128 tools in a request; the server lists 129."
    ]
    (named,) = of_rule("provider-form", good(name="3d_view"))
    assert named.message == "Gemini does not accept its name; it is offered as '_3d_view'."


def test_parameters_inside_others_are_named_by_their_path() -> None:
    edits = {
        "type": "array",
        "description": "What to change.",
        "items": {"type": "object", "properties": {"text": {"type": "string"}}},
    }
    assert of_rule("undescribed-parameter", taking("edits", edits))[0].parameters == (
        "edits[].text",
    )


def test_notes_alone_leave_a_server_clean() -> None:
    assert not has_finding_at(lint_tools(ToolList(tools=(good(output_schema=None),))), "warning")
    assert has_finding_at(lint_tools(ToolList(tools=(good(description=""),))), "warning")


def test_what_fails_can_be_chosen() -> None:
    warned = lint_tools(ToolList(tools=(good(description="Show it now."),)))
    assert {finding.severity for finding in warned} == {"warning"}
    assert [has_finding_at(warned, threshold) for threshold in ("error", "warning", "never")] == [
        False,
        True,
        False,
    ]
    assert not has_finding_at(lint_tools(ToolList(tools=(good(name="orders.get"),))), "never")


def test_findings_are_ignored_by_rule_by_tool_or_for_all() -> None:
    found = lint_tools(
        ToolList(
            tools=(good(description=""), good(name="other", description="", output_schema=None))
        )
    )
    rules = [
        (finding.tool, finding.rule)
        for finding in drop_ignored(found, {"other": ["no-description"]})
    ]
    assert rules == [(None, "no-output-schema"), ("get_order", "no-description")]
    assert drop_ignored(found, {"*": ["no-description", "no-output-schema"]}) == ()


@pytest.mark.parametrize(
    ("ignored", "said", "meant"),
    [
        ({"*": ["confusible"]}, "no rule 'confusible'", "'confusable'"),
        ({"get_ordr": ["confusable"]}, "no tool 'get_ordr'", "'get_order'"),
    ],
)
def test_a_rule_or_tool_that_there_is_not_is_told_with_the_nearest(
    ignored: Any, said: str, meant: str
) -> None:
    with pytest.raises(UsageError) as caught:
        check_ignored(ignored, ToolList(tools=(good(),)), "--ignore")
    assert said in str(caught.value)
    assert meant in str(caught.value.meant)


@pytest.mark.parametrize(
    ("description", "found"),
    [
        ("DEPRECATED: use get_order_v2. Show one order by its id.", 1),
        ("Show one order by its id. This tool is deprecated.", 1),
        ("(deprecated) Show one order by its id.", 1),
        ("Show one order by its id. Deprecated, use get_order_v2 instead.", 1),
        ("List the deprecated APIs that a cluster still uses.", 0),
        ("Show which fields of an order are deprecated.", 0),
    ],
)
def test_a_tool_that_says_that_it_is_deprecated_is_told(description: str, found: int) -> None:
    assert len(of_rule("deprecated", good(description=description))) == found
    assert len(of_rule("deprecated", good(title="Get order (DEPRECATED)"))) == 1


@pytest.mark.parametrize(
    ("name", "description", "found"),
    [
        ("get_order", "Show one order by its id.", 1),
        ("list_orders", "List all orders of a customer.", 1),
        ("API-post-search", "Notion | Search by title\nError Responses:\n400: Bad request", 1),
        ("query", "Query the database with SQL.", 0),
        ("get_order", "Get the next order and remove it from the queue.", 0),
        ("query", "Run an SQL statement.", 0),
        (
            "check_out",
            "Checks an order out, which is then marked as taken and deleted from the basket.",
            0,
        ),
        ("scale", "Get or update the scale of a resource.", 0),
        ("sync", "Bring both sides together.", 0),
    ],
)
def test_a_tool_that_is_marked_destructive_and_only_reads_is_told(
    name: str, description: str, found: int
) -> None:
    marked = good(name=name, description=description, read_only=False, destructive=True)
    assert len(of_rule("reads-but-destructive", marked)) == found


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("order_by", ["id", "name"]),
        ("country", ["AR", "AU", "AT"]),
        ("type", ["A", "AAAA", "CNAME", "MX", "TXT"]),
        ("days", [1, 7, 14, 30]),
        ("redirect", ["301", "302"]),
        ("version", [18, 20, 22]),
        ("agreed", ["Y", "y", "Yes", "yes"]),
    ],
)
def test_choices_that_are_known_or_are_what_they_are_need_no_text(
    name: str, choices: list[Any]
) -> None:
    choice = {"enum": choices, "description": "What to take."}
    assert of_rule("opaque-choices", taking(name, choice)) == []


def test_a_chinese_description_is_not_short_for_want_of_spaces() -> None:
    tool = good(name="maps_weather", description="根据城市名称或者标准adcode查询指定城市的天气")
    assert of_rule("short-description", tool) == []
    assert len(of_rule("short-description", good(description="天气"))) == 1


def test_an_object_whose_parts_are_described_needs_no_text() -> None:
    inside = {"order_id": {"type": "string", "description": "Which order, such as ORD_17."}}
    wrapper = {"type": "object", "properties": inside}
    tool = good(input_schema={"type": "object", "properties": {"params": wrapper}})
    assert of_rule("undescribed-parameter", tool) == []
    bare = {"type": "object", "properties": {"order_id": {"type": "string"}}}
    tool = good(input_schema={"type": "object", "properties": {"params": bare}})
    (found,) = of_rule("undescribed-parameter", tool)
    assert found.parameters == ("params", "params.order_id")


def test_an_option_name_and_a_wait_are_no_list_and_no_date() -> None:
    text = {"type": "string", "description": "Option name, e.g. Size."}
    assert of_rule("choices-in-prose", taking("name", text)) == []
    wait = {"type": "string", "description": "Which event to wait for."}
    assert of_rule("date-without-format", taking("waitUntil", wait)) == []


def test_a_schema_that_nobody_could_examine_is_a_note() -> None:
    told = ToolProblem(
        tool="get_order", problem="harness could not find out …", usable=True, unknown=True
    )
    assert [one.severity for one in of_rule("unchecked-schema", good(), problems=(told,))] == [
        "note"
    ]
    assert of_rule("listing-problem", good(), problems=(told,)) == []


def test_findings_come_in_the_servers_order_and_the_whole_list_first() -> None:
    tools = (good(name="b", description=""), good(name="a", description="", output_schema=None))
    assert [finding.tool for finding in lint_tools(ToolList(tools=tools))] == [None, "b", "a"]


@given(tool_lists())
def test_no_tool_list_breaks_a_rule(tools: ToolList) -> None:
    for finding in lint_tools(tools):
        assert finding.rule in load_rules()
        assert finding.message


def test_the_caller_chooses_the_id_of_what_it_creates() -> None:
    schema = taking("cluster_id", {"type": "string", "description": "Id."}).input_schema
    assert not of_rule("id-without-example", good(name="create_cluster", input_schema=schema))
    assert of_rule("id-without-example", good(name="create_cluster_node", input_schema=schema))


def test_a_text_that_names_the_tool_with_an_id_says_where_it_comes_from() -> None:
    schema = taking("portal_id", {"type": "string", "description": "Id."}).input_schema
    said = "Use find_me to get the portalId. Then a link is made."
    tools = good(name="link", description=said, input_schema=schema), good(name="find_me")
    assert not of_rule("id-without-example", *tools)
    assert of_rule("id-without-example", tools[0])
