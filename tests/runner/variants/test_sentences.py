from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.runner.variants.edits import remove_sentences, split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("One.", ("One.",)),
        ("One. Two! Three?", ("One.", "Two!", "Three?")),
        ("Ids, e.g. C001, i.e. codes. Next.", ("Ids, e.g. C001, i.e. codes.", "Next.")),
        ("Costs 3.50 a piece. End", ("Costs 3.50 a piece.", "End")),
        ("Modes:\n- fast\n- slow", ("Modes:", "- fast", "- slow")),
        ("One.\n\nTwo.", ("One.", "Two.")),
    ],
)
def test_a_description_falls_into_its_sentences(text: str, expected: tuple[str, ...]) -> None:
    assert split_sentences(text) == expected


def test_sentences_are_taken_out_by_their_numbers_and_the_rest_stays_as_written() -> None:
    text = "One.\n\nTwo. Three."
    assert remove_sentences(text, {2}) == "One. Three."
    assert remove_sentences(text, {1}) == "Two. Three."
    assert remove_sentences(text, {3}) == "One.\n\nTwo."
    assert remove_sentences(text, {1, 2, 3}) == ""
    assert remove_sentences(text, {9}) == text


@given(st.text(alphabet="ab. !\n-e.g", max_size=60))
def test_without_nothing_the_text_is_itself_and_sentences_hold_all_of_it(text: str) -> None:
    assert remove_sentences(text, ()) == text.strip()
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())
