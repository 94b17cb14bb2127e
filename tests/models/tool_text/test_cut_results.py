"""A result that is too long for a model is cut, and says so."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.models.tool_text.terms import cut_note, cut_result, estimate_tokens, take_beginning


@given(st.text("ab c客户", max_size=80), st.integers(0, 40))
def test_the_beginning_of_a_text_is_the_longest_that_fits(text: str, most: int) -> None:
    kept = take_beginning(text, most)
    assert text.startswith(kept)
    assert estimate_tokens(kept) <= most
    assert kept == text or estimate_tokens(text[: len(kept) + 1]) > most


def test_the_note_of_a_cut_result_is_found_again() -> None:
    note = "[The result was cut here: it takes about 2,500 tokens, and 2 are shown.]"
    assert cut_note(cut_result("word" * 2_500, 2)) == note
    assert cut_note(cut_result("word", 2)) == ""
