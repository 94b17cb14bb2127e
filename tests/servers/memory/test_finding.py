"""The arithmetic of finding: vectors and ranks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servers.memory.embedding import DIMENSIONS, embed, similarities
from servers.memory.ranking import ranked


@given(st.text(), st.text())
def test_a_text_is_most_like_itself_and_every_similarity_is_a_share(one: str, other: str) -> None:
    assert embed(one) == embed(one)
    assert len(embed(one)) == 4 * DIMENSIONS
    same, different = similarities(one, [embed(one), embed(other)])
    assert same == pytest.approx(1.0 if any(embed(one)) else 0.0)
    assert -1e-9 <= different <= same + 1e-6


def test_words_in_common_count_word_stems_less_and_meaning_not_at_all() -> None:
    entries = ["repair the violin", "repairing violins", "mend the fiddle"]
    same, alike, other = similarities("repair violin", [embed(entry) for entry in entries])
    assert same > alike > other
    assert similarities("car", [embed("automobile")]) == [0.0]


def test_a_rare_word_says_more_than_one_that_all_entries_have() -> None:
    entries = [
        "the town is Porto",
        "the town is Lisbon",
        "the town is Rome, and it is the town of the popes",
    ]
    scores = similarities("is the town Lisbon", [embed(entry) for entry in entries])
    assert scores.index(max(scores)) == 1


def test_nothing_is_like_an_empty_query_and_nothing_is_found_among_nothing() -> None:
    assert similarities("", [embed("x")]) == [0.0]
    assert similarities("x", []) == []
    assert ranked("x", [], 5) == []


def test_keys_are_ranked_by_how_many_and_how_rare_words_they_share() -> None:
    keys = ["dog_name", "cat_name", "dog_food_brand", "rent"]
    assert [key for _, key in ranked("name of the dog", keys, 3)] == [
        "dog_name",
        "cat_name",
        "dog_food_brand",
    ]
    assert ranked("Rent", keys, 1)[0][1] == "rent"
    assert ranked("boat", keys, 2) == [(0.0, "dog_name"), (0.0, "cat_name")]


@given(st.text(), st.lists(st.text()), st.integers(min_value=1, max_value=9))
def test_ranks_never_rise_and_no_more_come_than_asked_for(
    query: str, keys: list[str], most: int
) -> None:
    found = ranked(query, keys, most)
    assert len(found) == min(most, len(keys))
    assert [score for score, _ in found] == sorted((score for score, _ in found), reverse=True)
