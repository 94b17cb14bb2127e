"""A text that names its record gives away what no field has."""

from __future__ import annotations

import pytest

from harness.probing.gains import ForgeryGain
from harness.types import ToolCall
from tests.judging.policy.views import call
from tests.probing.evidence.hidden_cases import gain


def refusal(text: str) -> ToolCall:
    return call("get_case", {"case_id": "C-1005x"}, outcome="tool_error", text=text)


def test_a_refusal_that_proposes_a_hidden_record_by_its_title_is_a_gain() -> None:
    found = gain("clerk", refusal("There is no C-1005x; did you mean C-1005 (Levy estate 315)?"))
    assert found == ForgeryGain(("cases[].title",), ("partner", "auditor"))


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
    assert gain("clerk", made) == ForgeryGain(("cases[].settled",), ("partner",))
    other = call("prompts/get", asked, text="Sum up {'case_id': 'C-1002', 'fee': 905112}")
    assert gain("clerk", other) is None
