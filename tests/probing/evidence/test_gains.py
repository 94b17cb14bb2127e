"""A text that names its record, and the order of rows, give away what no field has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from harness.judging.policy import View
from harness.probing.gains import Gain, Withheld
from harness.types import JsonObject, ToolCall

ROWS: list[dict[str, Any]] = [
    {"case_id": f"C-{1000 + n}", "title": f"Levy {word} {310 + n}", "settled": amount}
    for n, (word, amount) in enumerate(
        zip(
            ("appeal", "audit", "breach", "claim", "dispute", "estate"),
            (310_447, 905_112, 288_690, 777_031, 512_846, 640_209),
            strict=True,
        )
    )
]
BY_AMOUNT = sorted(ROWS, key=lambda row: row["settled"])


def shown(rows: Sequence[Mapping[str, Any]], *names: str) -> dict[str, Any]:
    return {"cases": [{name: row[name] for name in names} for row in rows]}


def call(tool: str, arguments: JsonObject, **answer: Any) -> ToolCall:
    return ToolCall(
        **{"tool": tool, "arguments": arguments, "outcome": "ok", "reply": 1, "text": "", **answer}
    )


def regular(usual: Sequence[Mapping[str, Any]] = ROWS) -> Withheld:
    """Return what is withheld where a clerk's list has neither amounts nor the last case."""
    whole = call("list_cases", {}, structured=shown(usual, "case_id", "title", "settled"))
    own = call("list_cases", {}, structured=shown(usual[:-1], "case_id", "title"))
    auditor = call("list_cases", {}, structured=shown(usual, "case_id", "title"))
    return Withheld(
        [
            View(identity="partner", calls=(whole,)),
            View(identity="clerk", calls=(own,)),
            View(identity="auditor", calls=(auditor,)),
        ]
    )


def gain(who: str, made: ToolCall, usual: Sequence[Mapping[str, Any]] = ROWS) -> Gain | None:
    return regular(usual).gain(who, made, made.arguments, {}, same=False)


def refusal(text: str) -> ToolCall:
    return call("get_case", {"case_id": "C-1005x"}, outcome="tool_error", text=text)


def test_a_refusal_that_proposes_a_hidden_record_by_its_title_is_a_gain() -> None:
    found = gain("clerk", refusal("There is no C-1005x; did you mean C-1005 (Levy estate 315)?"))
    assert found == Gain(("cases[].title",), ("partner", "auditor"))


@pytest.mark.parametrize(
    "text",
    [
        "There is no C-1005x; did you mean C-1005?",
        "There is no C-1005x; did you mean Levy estate 315?",  # whose title that is stays open
        "There is no C-1005x; did you mean C-1001 (Levy audit 311)?",  # that one is theirs
        "There is no C-1001 with Levy estate 315",
    ],
)
def test_a_refusal_without_a_withheld_value_beside_its_id_is_none(text: str) -> None:
    assert gain("clerk", refusal(text)) is None


def test_a_prompt_that_quotes_a_withheld_amount_of_the_record_it_is_about_is_a_gain() -> None:
    asked = {"name": "brief", "arguments": {"case_id": "C-1001"}}
    made = call("prompts/get", asked, text="Sum up {'case_id': 'C-1001', 'settled': 905112}")
    assert gain("clerk", made) == Gain(("cases[].settled",), ("partner",))
    other = call("prompts/get", asked, text="Sum up {'case_id': 'C-1002', 'fee': 905112}")
    assert gain("clerk", other) is None


def sorted_by(field: str, rows: Sequence[Mapping[str, Any]], *, twice: bool = False) -> ToolCall:
    answer = shown(rows, "case_id", "title")
    text = str(answer["cases"]).replace("'", '"') if twice else ""
    return call("list_cases", {"sort": field}, structured=answer, text=text)


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("rows", [BY_AMOUNT, BY_AMOUNT[::-1]])
def test_rows_in_the_order_of_a_withheld_field_are_a_gain(
    rows: Sequence[Mapping[str, Any]], *, twice: bool
) -> None:
    found = gain("auditor", sorted_by("settled", rows, twice=twice))
    assert found == Gain(("cases[].settled",), ("partner",))


@pytest.mark.parametrize(
    ("made", "usual"),
    [
        (sorted_by("settled", ROWS), ROWS),  # the wish is ignored
        (sorted_by("settled", BY_AMOUNT), BY_AMOUNT),  # the rows always come so
        (sorted_by("case_id", BY_AMOUNT), ROWS),  # nobody asked for that order
        (sorted_by("settled", BY_AMOUNT[:5]), ROWS),  # five may be in order by chance
    ],
)
def test_rows_in_an_order_that_shows_nothing_are_none(
    made: ToolCall, usual: Sequence[Mapping[str, Any]]
) -> None:
    assert gain("auditor", made, usual) is None
