"""What an identity can read all the same: a mask with holes, a twin beside, a figure per month."""

from __future__ import annotations

from typing import Any

import pytest

from harness.judging.policy import find_leaks
from harness.types import Tool, ToolList
from tests.judging.policy.views import call, view

PERSON = {"employee_id": "EMP_0042", "name": "Lucia Chen"}
NOTE = "asked that nobody in the team is told"


def leaks(withheld: dict[str, Any], given: dict[str, Any], **shared: Any) -> list[str]:
    """Return the fields that leak to a clerk who is given ``given`` in place of ``withheld``."""
    admin = view("admin", call(structured={**PERSON, **withheld, **shared}))
    clerk = view("clerk", call(structured={**PERSON, **given, **shared}))
    return [leak.field for leak in find_leaks([admin, clerk]) if leak.identity == "clerk"]


@pytest.mark.parametrize(
    "mask",
    ["*929 1330 5217 8846", "4929 13x0 5x17 8846", "4929 1330 52?7 8846", "4929 1330 5217 8…"],
)
def test_a_value_of_which_a_few_characters_are_covered_leaks(mask: str) -> None:
    assert leaks({"card": "4929 1330 5217 8846"}, {"card": mask}) == ["card"]


@pytest.mark.parametrize("other", ["4929 1330 5217 8847", "4929 1330 5217 88461", "4929 1330"])
def test_another_value_of_the_same_length_or_its_beginning_is_no_mask(other: str) -> None:
    assert leaks({"card": "4929 1330 5217 8846"}, {"card": other}) == []


@pytest.mark.parametrize(("value", "twin"), [(482_113.27, 482_113.27), (NOTE, NOTE)])
def test_the_same_figure_or_long_text_under_another_name_in_the_same_record_leaks(
    value: Any, twin: Any
) -> None:
    assert leaks({"held": value}, {}, owes=twin) == ["held"]


@pytest.mark.parametrize("value", [1_200, 12.5, "open", "Lucia Chen", "2024-05-01", 120_000])
def test_what_two_fields_may_have_in_common_by_chance_does_not_leak(value: Any) -> None:
    assert leaks({"held": value}, {}, owes=value) == []


def test_a_salary_per_month_gives_the_salary_away() -> None:
    assert leaks({"salary": 64_512}, {"monthly_salary": 5_376.0}) == ["salary"]
    assert leaks({"salary": 64_513}, {"monthly_salary": 5_376.08}) == ["salary"]
    assert leaks({"salary": 64_512}, {"monthly_salary": 5_377.0}) == []
    assert leaks({"salary": 64_512}, {"monthly_visits": 5_376}) == []


def test_the_name_of_a_record_that_one_may_not_list_leaks_by_the_choices_of_an_argument() -> None:
    def listed(*names: str) -> Any:
        rows = [{"id": f"E-{len(name)}", "name": name} for name in names]
        return call("search_people", {}, structured={"people": rows})

    choices = {"properties": {"name": {"enum": ["Lucia Chen", "Tom Berger"]}}}
    tools = ToolList(tools=(Tool(name="search_people", description="", input_schema=choices),))
    admin = view("admin", listed("Lucia Chen", "Tom A. Berger", "Tom Berger"))
    clerk = view("clerk", listed("Tom A. Berger"))
    shown = [leak.place for leak in find_leaks([admin, clerk]) if leak.identity == "clerk"]
    assert shown == []
    told = view("clerk", listed("Tom A. Berger"))
    told.__dict__["tools"] = tools
    assert find_leaks([admin, told])
