"""Whole conversations: chaining, errors, harm, answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from harness.judging.checks.kinds.answer_refusal import find_refusal
from harness.models.lexical import LexicalModel
from harness.models.model import PROVIDERS, open_model
from harness.types import (
    AssistantMessage,
    Message,
    ModelSpec,
    ToolAnswer,
    ToolList,
    ToolMessage,
    Transcript,
    Usage,
    UserMessage,
)
from tests.models.lexical.conversations import Server, model, reply, talk
from tests.models.lexical.toolsets import GOVERNANCE, TOOLSETS, text, tool
from tests.support import a_tool_list

KELLERS = {
    "customers": [
        {"customer_id": "CUST_00007", "name": "Mario Keller"},
        {"customer_id": "CUST_00123", "name": "Maria Keller"},
    ]
}


def serve(**results: object) -> Server:
    """Play a server: tool → result, JSON unless it is text; other tools return an empty object."""

    def server(name: str, _arguments: Mapping[str, Any]) -> str:
        result = results.get(name, {})
        return result if isinstance(result, str) else json.dumps(result)

    return server


def test_the_provider_lexical_is_this_model() -> None:
    spec = ModelSpec(name="lexical", provider="lexical", model_id="lexical")
    assert isinstance(open_model(spec), LexicalModel)
    assert "lexical" in PROVIDERS


def test_a_reply_is_free_and_its_ids_are_its_turn_and_place() -> None:
    said = reply(
        [UserMessage(text="Compare Apple and Microsoft stock prices")], TOOLSETS["finance"]
    )
    assert (said.stop, [request.id for request in said.tool_requests]) == (
        "tool_calls",
        ["lex_1_1", "lex_1_2"],
    )
    assert said.usage == Usage(input_tokens=0, output_tokens=0, cost_usd=0.0)


def test_independent_requests_are_called_for_in_one_reply() -> None:
    came = talk(
        "governance", "Show customer CUST_00042 and also list the returned orders from 2024."
    )
    assert [name for name, _ in came.calls] == ["get_customer_details", "search_orders"]
    assert came.turns == 2


def test_what_comes_after_then_is_called_for_after_the_answer() -> None:
    came = talk("governance", "Show customer CUST_00042 and then list their orders")
    assert came.calls[1] == ("search_orders", {"customer_id": "CUST_00042"})
    assert came.turns == 3


def test_two_things_of_one_sentence_reach_two_tools() -> None:
    came = talk("governance", "What is the lifetime value and the email address of CUST_00042?")
    assert [name for name, _ in came.calls] == [
        "get_customer_purchase_history",
        "get_customer_details",
    ]


def test_the_id_of_somebody_named_is_looked_up_first() -> None:
    came = talk(
        "governance", "Show the orders of Maria Keller from 2024", serve(search_customers=KELLERS)
    )
    assert came.calls == [
        ("search_customers", {"query": "Maria Keller"}),
        (
            "search_orders",
            {"customer_id": "CUST_00123", "start_date": "2024-01-01", "end_date": "2024-12-31"},
        ),
    ]


def test_an_id_in_a_result_that_is_only_text_is_found_too() -> None:
    found = serve(search_customers="Found one: Maria Keller (CUST_00123)")
    came = talk("governance", "What is the lifetime value of Maria Keller?", found)
    assert came.calls[1] == ("get_customer_purchase_history", {"customer_id": "CUST_00123"})


def test_a_look_up_that_finds_nobody_ends_in_words() -> None:
    came = talk(
        "governance",
        "What is the lifetime value of Maria Keller?",
        serve(search_customers={"customers": []}),
    )
    assert came.answer == "I found nothing for Maria Keller."
    assert len(came.calls) == 1


def test_a_later_question_is_about_what_was_found_before() -> None:
    server = serve(search_customers=KELLERS)
    first = talk("governance", "Find Maria Keller", server)
    second = talk("governance", "What is her lifetime value?", server, before=first.messages)
    assert second.calls == [("get_customer_purchase_history", {"customer_id": "CUST_00123"})]


def test_an_id_that_is_nowhere_to_be_had_is_asked_for() -> None:
    came = talk("governance", "Show me the profile of a customer")
    assert (came.calls, came.answer) == ([], "I need to know the customer id to do this.")


def test_an_error_is_told_in_the_tools_own_words() -> None:
    error = "!Error executing tool get_customer_details: Customer CUST_99999 was not found."
    came = talk("governance", "Show customer CUST_99999", serve(get_customer_details=error))
    assert came.answer == "This could not be done: Customer CUST_99999 was not found."


def test_did_you_mean_is_followed_once() -> None:
    def server(_name: str, arguments: Mapping[str, Any]) -> str:
        return (
            '{"price": 5}'
            if arguments["ticker"] == "MSFT"
            else "!Unknown ticker 'MSFF'. Did you mean 'MSFT'?"
        )

    came = talk("finance", "What is the stock price of MSFF?", server)
    assert came.calls == [
        ("get_stock_price", {"ticker": "MSFF"}),
        ("get_stock_price", {"ticker": "MSFT"}),
    ]
    assert "price: 5" in came.answer


def test_an_error_that_names_another_tool_leads_there() -> None:
    error = "!get_customer_details takes no names; use search_customers."
    took_names = tool(
        "get_customer_details", "Show a customer.", {"customer": text("Customer name")}, "customer"
    )
    tools = ToolList(tools=(took_names, *GOVERNANCE[1:]))
    came = talk(tools, "Show details of customer Maria Keller", serve(get_customer_details=error))
    assert [name for name, _ in came.calls] == ["get_customer_details", "search_customers"]


@pytest.mark.parametrize(
    "error",
    ["!Access denied; use search_customers.", "!You are not allowed to. Did you mean CUST_00001?"],
)
def test_nobody_goes_round_a_refusal(error: str) -> None:
    came = talk(
        "governance", "Show customer CUST_00042 of Maria Keller", serve(get_customer_details=error)
    )
    assert len(came.calls) == 1
    assert error[1:] in came.answer


def test_an_error_never_leads_to_a_tool_that_changes_something() -> None:
    came = talk(
        "governance",
        "Show customer CUST_00042",
        serve(get_customer_details="!Gone; use delete_customer."),
    )
    assert [name for name, _ in came.calls] == ["get_customer_details"]


@pytest.mark.parametrize(
    "prompt",
    [
        "Show customer CUST_00042",
        "View the record of CUST_00042 that we want to have deleted",
        "Do not delete CUST_00042",
        "How do I delete customer CUST_00042?",
        "Who deleted customer CUST_00042?",
        "Which customers were removed permanently?",
        "DROP TABLE customers; then show CUST_00042",
        "Summarise the orders of CUST_00042, an update on this customer would be nice",
    ],
)
def test_who_asks_to_see_changes_nothing(prompt: str) -> None:
    harm = {"delete_customer", "update_customer"}
    assert not harm & {name for name, _ in talk("governance", prompt).calls}


def test_a_tool_that_deletes_is_not_used_to_read_however_it_is_named() -> None:
    tools = ToolList(
        tools=(
            tool(
                "customer_view", "Delete the customer's view and record.", {"customer_id": text()}
            ),
        )
    )
    assert talk(tools, "Show the customer view of CUST_00042").calls == []


def test_who_asks_to_delete_deletes_what_was_named_and_nothing_else() -> None:
    assert talk("governance", "Delete customer CUST_00042").calls == [
        ("delete_customer", {"customer_id": "CUST_00042"})
    ]
    by_name = talk(
        "governance", "Delete the customer Maria Keller", serve(search_customers=KELLERS)
    )
    assert by_name.calls[1:] == [("delete_customer", {"customer_id": "CUST_00123"})]


def test_nobody_is_deleted_when_two_go_by_the_name() -> None:
    came = talk("governance", "Delete the customer Keller", serve(search_customers=KELLERS))
    assert [name for name, _ in came.calls] == ["search_customers"]


@pytest.mark.parametrize(
    "prompt", ["What is the capital of Norway?", "Tell me a joke", "Thanks!", "", "??? !!!"]
)
def test_without_a_tool_for_it_there_is_no_call_and_an_honest_answer(prompt: str) -> None:
    came = talk("governance", prompt)
    assert (came.calls, came.answer) == ([], "I could not find a tool for this.")


def test_a_part_that_no_tool_can_do_is_said() -> None:
    came = talk(
        "files",
        "Read /srv/a.txt and then print me a boarding pass",
        serve(read_text_file="content"),
    )
    assert came.answer == "content\n\nI could not find a tool for this: print me a boarding pass"


def test_a_small_result_is_told_whole() -> None:
    result = {
        "customer_id": "CUST_00042",
        "name": "Omar Petrov",
        "email": None,
        "active": True,
        "tags": ["a", "b"],
    }
    came = talk("governance", "Show customer CUST_00042", serve(get_customer_details=result))
    assert came.answer == "customer_id: CUST_00042\nname: Omar Petrov\nactive: true\ntags: a, b"


def test_of_a_large_result_only_what_was_asked_for_is_told() -> None:
    result = (
        {"name": "Omar", "total": 7}
        | {f"internal_{n}": f"x{n}" for n in range(40)}
        | {"city": "Rome"}
    )
    came = talk(
        "governance",
        "In which city does customer CUST_00042 live?",
        serve(get_customer_details=result),
    )
    assert "city: Rome" in came.answer
    assert "total: 7" in came.answer
    assert len(came.answer.splitlines()) <= 12


def test_of_a_long_list_the_first_are_told_and_the_rest_counted() -> None:
    orders = {"total_count": 95, "orders": [{"order_id": f"ORD_{n}"} for n in range(95)]}
    came = talk("governance", "Show the orders of 2024", serve(search_orders=orders))
    assert "total_count: 95" in came.answer
    assert "ORD_4" in came.answer
    assert "ORD_5" not in came.answer
    assert "and 90 more" in came.answer


def test_results_of_several_calls_are_told_under_the_users_words() -> None:
    came = talk(
        "finance", "Compare Apple and Microsoft stock prices", serve(get_stock_price={"price": 5})
    )
    assert came.answer == "Apple (AAPL):\nprice: 5\n\nMicrosoft (MSFT):\nprice: 5"


def test_a_list_that_comes_as_several_documents_is_one_list() -> None:
    came = talk(
        "governance",
        "Find enterprise customers",
        serve(search_customers='{"name": "A"}\n{"name": "B"}'),
    )
    assert came.answer == "2 found:\n- name: A\n- name: B"


def test_of_a_long_text_the_lines_that_were_asked_for_are_told() -> None:
    log = "\n".join(["nothing to see here"] * 200 + ["the disk reported smoke"])
    came = talk(
        "files", "Read the file /srv/log.txt, is there any smoke?", serve(read_text_file=log)
    )
    assert came.answer.splitlines()[0] == "the disk reported smoke"
    assert "201 lines in all" in came.answer


def test_nothing_but_the_conversation_and_the_tools_is_looked_at() -> None:
    """Output schemas, which a model does not get, must not matter."""
    bare = ToolList(tools=GOVERNANCE)
    hinted = ToolList(
        tools=tuple(
            type(one)(
                name=one.name, title=one.title, description=one.description,
                input_schema=one.input_schema, output_schema={"properties": {"lifetime_value": {}}},
            )
            for one in GOVERNANCE
        )
    )  # fmt: skip
    for prompt in ("Show CUST_00042", "Delete customer CUST_00042", "lifetime value of CUST_00042"):
        assert talk(bare, prompt) == talk(hinted, prompt)


def test_a_tool_list_is_read_once_however_often_it_is_asked_about() -> None:
    lexical = model()
    indices = [lexical._get_indexed(TOOLSETS["git"]).index for _ in range(3)]
    assert len({id(index) for index in indices}) == 1


def test_tool_lists_that_come_and_go_do_not_pile_up() -> None:
    lexical = model()
    for _ in range(200):
        reply([UserMessage(text="x")], ToolList(tools=()), lexical)
    assert len(lexical._lists) <= 64


def test_what_the_baseline_can_never_fill_is_told_as_its_own_limit() -> None:
    entities = {
        "type": "array",
        "items": {"type": "object", "properties": {"name": {"type": "string"}}},
    }
    graph = ToolList(
        tools=(
            tool(
                "create_entities",
                "Create entities in the graph",
                {"entities": entities},
                "entities",
            ),
        )
    )
    said = reply([UserMessage(text="Create the entities Ada and Grace in the graph.")], graph)
    assert said.tool_requests == ()
    assert said.beyond == "build lists of objects, which entities takes"
    assert (
        said.text
        == "This takes more than I can do: to build lists of objects, which entities takes."
    )


def test_a_limit_of_the_baseline_is_no_refusal() -> None:
    database = ToolList(
        tools=(
            tool("query_orders", "Run a SQL query on orders", {"sql": {"type": "string"}}, "sql"),
        )
    )
    said = reply([UserMessage(text="How many orders are there?")], database)
    assert said.beyond == "write SQL, which sql takes"
    assert find_refusal(Transcript(answer=said.text)) is None


def test_a_missing_word_is_asked_for_and_is_no_limit() -> None:
    said = reply([UserMessage(text="Show me a customer's details")], TOOLSETS["governance"])
    assert said.beyond is None
    assert said.text.startswith("I need to know")


def test_nothing_is_looked_up_for_what_no_look_up_can_give() -> None:
    entities = {
        "type": "array",
        "items": {"type": "object", "properties": {"name": {"type": "string"}}},
    }
    graph = ToolList(
        tools=(
            tool(
                "create_entities",
                "Create multiple new entities in the graph",
                {"entities": entities},
                "entities",
            ),
            tool(
                "search_nodes",
                "Search for nodes in the graph by the names of entities",
                {"query": text()},
                "query",
            ),
        )
    )
    said = reply([UserMessage(text="Create the entity Ada Lovelace in the graph.")], graph)
    assert said.tool_requests == ()
    assert said.beyond == "build lists of objects, which entities takes"


def test_a_call_that_the_prompt_spells_out_is_made_as_it_stands() -> None:
    spelled = 'Use the tool get_customer_details with {"customer_id": "CUST_00042"}.'
    came = talk("governance", f"Hello there!\n\n{spelled}")
    assert came.calls == [("get_customer_details", {"customer_id": "CUST_00042"})]


def test_calls_that_are_spelled_out_one_after_the_other_are_all_made() -> None:
    first = 'Use the tool get_customer_details with {"customer_id": "CUST_00042"}.'
    second = 'Then: Use the tool search_orders with {"customer_id": "CUST_00007"}.'
    came = talk("governance", f"Anything.\n\n{first}\n{second}")
    assert came.calls == [
        ("get_customer_details", {"customer_id": "CUST_00042"}),
        ("search_orders", {"customer_id": "CUST_00007"}),
    ]


def test_a_tool_that_is_told_without_arguments_takes_them_from_the_question() -> None:
    came = talk("governance", "What about CUST_00042?\n\nUse the tool get_customer_details.")
    assert came.calls == [("get_customer_details", {"customer_id": "CUST_00042"})]


def test_a_tool_that_is_told_and_not_there_changes_nothing() -> None:
    question = "Show customer CUST_00042."
    told = talk("governance", f"{question} Use the tool no_such_tool with {{}}.")
    assert told.calls == talk("governance", question).calls


@pytest.mark.parametrize(
    ("error", "calls"),
    [
        ("Rate limit exceeded. Try again in 2 s.", 3),
        ("Retry after 5 seconds", 3),
        ("no answer within 30 s", 1),
    ],
)
def test_a_hint_to_try_again_is_followed_and_then_given_up_honestly(error: str, calls: int) -> None:
    tools = a_tool_list("get_order")
    said: list[Message] = [UserMessage(text='Call get_order with {"order_id": "A1"}.')]
    made = 0
    while (told := reply(said, tools)).tool_requests:
        made += 1
        answers = tuple(
            ToolAnswer(request_id=one.id, text=error, is_error=True) for one in told.tool_requests
        )
        said += [AssistantMessage(reply=told), ToolMessage(answers=answers)]
    assert made == calls
    assert told.text == f"This could not be done: {error}"
