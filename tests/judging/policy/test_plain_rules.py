"""What is found with indexes is what the tables say, one place after the other.

More leaks may be found, by the rules of `harness.judging.policy.value_scanner`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.base.json_text import digest_json
from harness.judging.policy import View, find_leaks
from harness.judging.policy.views import Result
from harness.judging.policy.withheld_values import compare_results, find_withheld
from harness.types import Outcome, Tool, ToolCall, ToolList
from tests.judging.policy.plain_rules import leaked, missing, secrets_from

PHONE, MAIL = "+1-619-555-0148", "lucia@example.com"
VALUES = (64_512, 4_711, 7, True, "Lucia Chen", "open", "ab-12", PHONE, MAIL)
NOTES = (
    "They earn 64,512 a year.",
    f"Call (619) 555-0148 or {PHONE}.",
    f"Mail to {MAIL} please.",
    "It is the code ab-12 again.",
    "Nothing to say here.",
)
NAMES = ("salary", "base_salary", "email", "phone", "status", "note", "id", "manager_id")
IDS = ("EMP_0042", "EMP_0043")

scalars = st.sampled_from((*VALUES, *NOTES, "***", "none", "", None))
records: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(NAMES, scalars) | {"employee_id": st.sampled_from(IDS)}
)
structures = (
    records
    | st.lists(records, max_size=3)
    | st.fixed_dictionaries({"rows": st.lists(records, max_size=3)}, optional={"total": scalars})
    | st.fixed_dictionaries({"person": records})
)


ARGUMENTS: tuple[dict[str, str], ...] = (
    {},
    {"employee_id": IDS[0]},
    {"employee_id": IDS[1]},
    {"q": MAIL},
)


def altered(draw: st.DrawFn, value: Any) -> Any:
    """Return most of ``value``: some fields and rows are left out, masked, or something else."""
    if isinstance(value, list):
        return [altered(draw, row) for row in value if draw(st.integers(0, 4))]
    if isinstance(value, dict):
        found = {key: altered(draw, part) for key, part in value.items()}
        return {key: part for key, part in found.items() if draw(st.integers(0, 4))}
    return value if draw(st.integers(0, 6)) else draw(scalars)


@st.composite
def answers(draw: st.DrawFn, about: Any) -> ToolCall:
    """Return a call of `get` whose answer is more or less ``about``."""
    outcome: Outcome = draw(st.sampled_from(("ok", "ok", "ok", "denied", "timeout")))
    structured = altered(draw, about) if draw(st.integers(0, 4)) else None
    texts = (json.dumps(structured), json.dumps(altered(draw, about)), draw(st.sampled_from(NOTES)))
    return ToolCall(
        tool="get",
        arguments={},
        outcome=outcome,
        reply=1,
        text=draw(st.sampled_from(texts)),
        structured=structured,
        refusal="tool_error" if outcome == "denied" else None,
    )


@st.composite
def worlds(draw: st.DrawFn) -> list[View]:
    """Return what some identities see of the same data."""
    keys = draw(
        st.lists(
            st.tuples(st.sampled_from(("get", "find")), st.sampled_from(ARGUMENTS)),
            min_size=1,
            max_size=2,
        )
    )
    data = [(tool, arguments, draw(structures)) for tool, arguments in keys]

    def made() -> ToolCall:
        tool, arguments, about = draw(st.sampled_from(data))
        return replace(draw(answers(about)), tool=tool, arguments=arguments)

    def view() -> View:
        names = draw(st.sets(st.sampled_from(("get", "find"))))
        described = draw(st.sampled_from(("", "", NOTES[0])))
        return View(
            identity=draw(st.sampled_from(("admin", "admin", "clerk", "guest"))),
            calls=tuple(made() for _ in range(draw(st.integers(0, 3)))),
            tools=ToolList(
                tools=tuple(
                    Tool(name=name, description=described, input_schema={})
                    for name in sorted(names)
                )
            ),
            answer=draw(st.sampled_from(("", *NOTES))),
            known=tuple(draw(st.lists(st.sampled_from(NOTES), max_size=1))),
            rightful=draw(st.sampled_from((True, True, True, False))),
        )

    return [view() for _ in range(draw(st.integers(1, 4)))]


@st.composite
def twins(draw: st.DrawFn) -> tuple[ToolCall, ToolCall]:
    """Return two answers to one question."""
    about = draw(structures)
    return draw(answers(about)), draw(answers(about))


@given(worlds())
def test_what_is_withheld_from_an_identity_is_what_the_rules_say(lived: list[View]) -> None:
    for identity, kept in find_withheld(lived).items():
        assert [
            (one.tool, one.leaf, one.reach, one.kept, one.keys, list(one.givers)) for one in kept
        ] == [
            (one.result.call.tool, one.leaf, one.reach, one.kept, one.keys, one.givers)
            for one in secrets_from(identity, lived)
        ]


@given(worlds())
def test_every_value_that_is_a_leak_by_the_table_is_found(lived: list[View]) -> None:
    lived = [replace(view, key=str(number)) for number, view in enumerate(lived)]
    found = find_leaks(lived)
    for view in lived:
        own = [leak for leak in found if leak.key == view.key]
        by_table = leaked(view, lived)
        # Several values of one field are one leak, which counts them and names the first.
        assert sum(leak.values for leak in own) >= len(by_table)
        names = {leak.value for leak in own}
        assert not by_table or names & {digest_json(["", text])[:8] for text in by_table}


@given(twins())
def test_one_answer_lacks_of_another_what_a_comparison_of_each_field_shows(
    answered: tuple[ToolCall, ToolCall],
) -> None:
    ours, theirs = (Result(call=made) for made in answered)
    found = [(one.leaf, one.kept) for one in compare_results(ours, theirs)]
    assert found == list(missing(ours, theirs))
