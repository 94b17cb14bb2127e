"""The calls that may show what depends on an altered value."""

from __future__ import annotations

from typing import Any

from harness.judging.policy.comparable_values import JsonRecord
from harness.judging.policy.views import Leaf
from harness.probing.callers import ProbeCaller
from harness.probing.interference.further_calls import (
    MOST_FURTHER,
    AlteredValue,
    is_paging_name,
    propose_further_calls,
)
from harness.probing.planned_calls import ProbeCall
from harness.types import Tool

CLERK = ProbeCaller(name="clerk", user_context={"role": "clerk"})
OTHER = ProbeCaller(name="other", user_context={"role": "clerk", "id": 2})
RECORD = JsonRecord({"person_id": "P-1003", "team": "blue", "salary": 61250})
ALTERED = AlteredValue(
    "salary",
    [Leaf("people[].salary", "salary", 61250, RECORD, "structured")],
    [Leaf("people[].salary", "salary", 123400, RECORD, "structured")],
)
LIST = ProbeCall(tool="list_people", arguments={"team": "green"}, changes=False)
RECORD_CALL = ProbeCall(tool="get_person", arguments={"person_id": "P-1001"}, changes=False)


def tool(name: str, **properties: Any) -> Tool:
    return Tool(name=name, input_schema={"properties": properties}, read_only=True)


PEOPLE = tool(
    "list_people",
    team={"type": "string"},
    query={"anyOf": [{"type": "string"}, {"type": "null"}]},
    least={"type": "integer"},
    limit={"type": "integer"},
    cursor={"type": "string"},
    filter={"type": "object"},
)
PERSON = tool("get_person", person_id={"type": "string"})


def arguments(*own: tuple[ProbeCall, Tool]) -> list[dict[str, Any]]:
    made, left_out = propose_further_calls([[CLERK]], own, ALTERED, {"clerk": ["page-2"]})
    assert left_out == 0
    assert all(call.tool in {one.name for _, one in own} for call in made["clerk"])
    return [dict(call.arguments) for call in made["clerk"]]


def test_the_value_is_searched_for_as_it_is_in_both_data() -> None:
    found = arguments((LIST, PEOPLE))
    for value in (61250, 123400):
        assert {"team": "green", "query": str(value)} in found
        assert {"query": str(value)} in found
        assert {"least": value} in found
        assert {"filter": {"salary": value}} in found
        assert {"query": f"salary={value}"} in found


def test_the_record_that_has_the_value_is_asked_for_and_rows_like_it() -> None:
    assert {"team": "blue"} in arguments((LIST, PEOPLE))
    assert {"person_id": "P-1003"} in arguments((RECORD_CALL, PERSON))
    assert {"person_id": "P-100"} in arguments((RECORD_CALL, PERSON))


def test_lists_are_sorted_by_the_field_cut_short_and_turned() -> None:
    found = arguments((LIST, PEOPLE))
    assert {"query": "salary"} in found
    assert any(one.get("sort_by") == "salary" for one in found)
    assert {"limit": 1} in found
    assert {"cursor": "page-2"} in found
    assert [name for name in ("next_cursor", "pageToken", "name") if is_paging_name(name)] == [
        "next_cursor",
        "pageToken",
    ]


def test_no_call_is_made_twice_nor_one_that_everybody_makes() -> None:
    found = arguments((LIST, PEOPLE), (RECORD_CALL, PERSON))
    assert LIST.arguments not in found
    assert RECORD_CALL.arguments not in found
    made, _ = propose_further_calls([[CLERK]], [(LIST, PEOPLE)], ALTERED, {})
    assert len({call.label for call in made["clerk"]}) == len(made["clerk"])


def test_what_is_left_out_is_counted_and_the_first_rank_comes_first() -> None:
    own = [
        (ProbeCall(tool=f"list_{number}", arguments={"team": "x"}, changes=False), PEOPLE)
        for number in range(20)
    ]
    made, left_out = propose_further_calls([[CLERK], [OTHER]], own, ALTERED, {})
    assert sum(map(len, made.values())) == MOST_FURTHER
    assert left_out > 0
    assert len(made["clerk"]) > len(made.get("other", []))


def test_a_choice_that_names_the_field_is_made_before_other_arguments_are_bent() -> None:
    choices = {"type": "string", "enum": ["name", "salary", "salary_desc", "-salary"]}
    own = [(LIST, tool("list_people", **PEOPLE.input_schema["properties"], order=choices))]
    crowd = [ProbeCaller(name=f"c{n}", user_context={"role": "clerk", "n": n}) for n in range(30)]
    made, left_out = propose_further_calls([crowd], own, ALTERED, {})
    assert left_out > 0
    for caller in crowd:
        asked = [call.arguments for call in made[caller.name]]
        for choice in ("salary", "salary_desc", "-salary"):
            assert {"team": "green", "order": choice} in asked
