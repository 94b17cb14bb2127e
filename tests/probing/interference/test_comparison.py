"""Who may see an altered value, and which answers depend on it, from recorded calls."""

from __future__ import annotations

from typing import Any

from harness.judging.trial import judge_trial
from harness.probing.interference.answer_locations import Record, Stage, build_records
from harness.probing.interference.comparison import AlterationComparison
from harness.probing.interference.data_sets import AlterationDeclaration, Which
from harness.types import Caller, Case, DependentTool, ToolCall, ToolList, Transcript, Trial

EVERYTHING: dict[str, Any] = {
    "withheld_from": frozenset(),
    "may_depend": (),
    "refused": {},
    "granted": {},
}


def declared(field: str = "salary", **more: Any) -> AlterationDeclaration:
    return AlterationDeclaration(name=field, field=field, **{**EVERYTHING, **more})


def record(
    caller: str, which: Which, structured: Any, call: str = "list()", stage: Stage = "own"
) -> Record:
    data = {"which": which, "stage": stage, "call": call, "first": False, "left_out": 0}
    tool = call.partition("(")[0]
    metadata = {"probe": {"tool": tool, "arguments": {}, "bases": [], "data": data}}
    case = Case(
        name=call, prompt=call, checks=(), caller=Caller(identity=caller), metadata=metadata
    )
    trial = Trial(suite="probe", case=case, model="none", number=1, key=f"{caller}{which}{call}")
    made = ToolCall(tool=tool, arguments={}, outcome="ok", reply=1, structured=structured)
    transcript = Transcript(tool_calls=(made,), stop="answer")
    run = judge_trial(trial, transcript, ())
    (found,) = build_records(run, transcript, ToolList(tools=()))
    return found


def both(caller: str, a: Any, b: Any, **how: Any) -> list[Record]:
    asked: tuple[tuple[Which, Any], ...] = (("A", a), ("B", b), ("A", a))
    return [record(caller, which, one, **how) for which, one in asked]


ADMIN = both(
    "admin", {"rows": [{"id": 1, "salary": 61250}]}, {"rows": [{"id": 1, "salary": 99000}]}
)


def test_who_gets_the_field_may_see_it_and_everybody_else_must_not() -> None:
    found = AlterationComparison(declared(), [*ADMIN, *both("clerk", {"rows": []}, {"rows": []})])
    assert (found.may_see, found.must_not_see) == (("admin",), ("clerk",))
    a, b = found.collect_altered_fields()
    assert ([leaf.value for leaf in a], [leaf.value for leaf in b]) == ([61250], [99000])
    assert found.failure is None


def test_a_rounder_number_or_a_mask_of_the_same_name_is_not_the_field() -> None:
    for a, b in ((60000, 100000), ("61***", "99***"), ("*****", "******")):
        clerk = both("clerk", {"rows": [{"salary": a}]}, {"rows": [{"salary": b}]})
        found = AlterationComparison(declared(), [*ADMIN, *clerk])
        assert found.may_see == ("admin",), a
        assert found.list_suspects() == [("clerk", "list()")], a


def test_whoever_sees_fewer_rows_may_see_the_value_in_them() -> None:
    rows = [{"id": 2, "salary": 70001}]
    admin = both("admin", {"rows": [*rows, {"salary": 5}]}, {"rows": [*rows, {"salary": 7}]})
    manager = both("manager", {"rows": [{"salary": 5}]}, {"rows": [{"salary": 7}]})
    assert AlterationComparison(declared(), [*admin, *manager]).may_see == ("admin", "manager")


def test_another_row_that_moves_into_a_list_is_not_the_altered_one() -> None:
    ids = [{"id": one} for one in (1, 2, 3, 4)]
    admin = both("admin", {"rows": ids}, {"rows": [ids[0], *ids[2:]]})
    clerk = both("clerk", {"rows": ids[:1]}, {"rows": [ids[0], ids[3]]})
    found = AlterationComparison(declared("id"), [*admin, *clerk])
    assert found.may_see == ("admin",)
    assert found.list_suspects() == [("clerk", "list()")]


def test_an_expectation_or_a_declaration_outweighs_what_was_seen() -> None:
    clerk = both("clerk", {"rows": [{"salary": 61250}]}, {"rows": [{"salary": 99000}]})
    records = [*ADMIN, *clerk]
    assert AlterationComparison(declared(), records).must_not_see == ()
    assert AlterationComparison(declared(), records).failure is not None
    withheld = declared(withheld_from=frozenset({"clerk"}))
    assert AlterationComparison(withheld, records).must_not_see == ("clerk",)
    refused = declared(refused={"list()": ["clerk"]})
    assert AlterationComparison(refused, records).must_not_see == ("clerk",)


def test_who_is_expected_to_get_the_field_may_see_it_though_another_call_is_refused() -> None:
    a, b = ({"rows": [{"id": 1, "salary": pay}]} for pay in (61250, 99000))
    records = [*ADMIN, *both("admin", a, b, call="export()"), *both("clerk", a, b)]
    shut = {"export()": ["clerk"]}
    assert AlterationComparison(declared(refused=shut), records).must_not_see == ("clerk",)
    granted = declared(refused=shut, granted={"list()": ["clerk"]})
    assert AlterationComparison(granted, records).may_see == ("admin", "clerk")


def test_a_difference_counts_once_it_came_again_every_time() -> None:
    first = [*ADMIN, *both("clerk", {"count": 1}, {"count": 2})]
    again = both("clerk", {"count": 1}, {"count": 2}, stage="again")
    assert list(AlterationComparison(declared(), first).find_dependents()) == []
    (found,) = AlterationComparison(declared(), [*first, *again]).find_dependents()
    assert found.differences[0].description == "count is 1 in A, 2 in B"
    by_chance = record("clerk", "B", {"count": 1}, stage="again")
    comparison = AlterationComparison(declared(), [*first, *again, by_chance])
    assert list(comparison.find_dependents()) == []
    assert comparison.build_account().not_confirmed == 1


def test_what_may_depend_is_counted_and_no_suspect() -> None:
    records = [*ADMIN, *both("clerk", {"average": 1}, {"average": 2}, call="stats()")]
    released = declared(may_depend=(DependentTool(tool="stats", fields=("average",)),))
    found = AlterationComparison(released, records)
    assert found.list_suspects() == []
    assert found.build_account().may_depend == ("stats: average",)
    assert AlterationComparison(declared(), records).list_suspects() == [("clerk", "stats()")]


def test_nothing_compared_and_nothing_changed_are_faults() -> None:
    assert "not both sets" in str(AlterationComparison(declared(), ADMIN[:1]).failure)
    same = both("admin", {"salary": 1}, {"salary": 1})
    assert "changed nothing" in str(AlterationComparison(declared(), same).failure)
