from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.redaction import KNOWN
from harness.base.safe_text import HIDDEN
from harness.judging.matching.texts import (
    clean_text,
    clip_text,
    contains_text,
    find_nearest,
    find_passage,
    fold_text,
    fold_with_offsets,
    format_line,
    measure_likeness,
)


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("customer satisfaction", "The CUSTOMER  Satisfaction"),
        ("customer satisfaction", "customer\nsatisfaction"),
        ("customer satisfaction", "customer\u00a0satisfaction"),
        ("don't", "I don’t know"),
        ("don't", "I don´t know"),
        ('"yes"', "Write «yes» here"),
        ("customer satisfaction", "> the customer\n> satisfaction"),
        ("a - b", "a – b"),
        ("STRASSE", "in der Straße"),
        ("café", "cafe\u0301"),
        ("fine", "ﬁne"),
        ("98%", "**98**%"),
        ("98%", "９８％"),
        ("total: 5", "**Total:** `5`"),
        ("snake_case", "the snake_case name"),
        ("2*3", "2*3 is 6"),
        ("zero", "ze\u200bro"),
        ("first line\n", "first line."),
        (" no ", "no"),
    ],
)
def test_a_text_is_found_as_a_person_would_read_it(wanted: str, text: str) -> None:
    assert find_passage(wanted, text) is not None


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("98%", "98 %"),
        (" no ", "I know"),
        ("a b", "a c b"),
        ("10", "1 0"),
        ("résumé", "resume"),
        ("x", ""),
    ],
)
def test_a_text_is_not_found_where_it_does_not_stand(wanted: str, text: str) -> None:
    assert find_passage(wanted, text) is None


@given(
    st.text(),
    st.text(),
    st.text(min_size=1).filter(lambda text: bool(fold_text(text)) and text[0] not in "*_`~"),
)
def test_a_text_is_found_between_any_others(before: str, after: str, wanted: str) -> None:
    assert find_passage(wanted, f"{before} {wanted} {after}") is not None


@given(st.text(alphabet="aAß *`\u00a0\n", max_size=8), st.text(alphabet="aAß *`\u00a0\n"))
def test_asking_whether_and_asking_where_agree(wanted: str, text: str) -> None:
    assert contains_text(wanted, text) == (find_passage(wanted, text) is not None)


@given(st.text())
def test_every_folded_letter_leads_back_to_the_letter_that_it_came_from(text: str) -> None:
    folded = fold_with_offsets(text)
    for letter, place in zip(folded.folded, folded.offsets[:-1], strict=True):
        origin = folded.shown[place]
        assert letter in (" " if origin.isspace() else origin.casefold())


@given(st.text())
def test_folding_is_stable_and_leads_back_into_the_text(text: str) -> None:
    folded = fold_with_offsets(text)
    assert fold_text(text) == folded.folded.strip()
    assert len(folded.offsets) == len(folded.folded) + 1
    assert all(0 <= place <= len(folded.shown) for place in folded.offsets)
    assert list(folded.offsets) == sorted(folded.offsets)
    assert "  " not in folded.folded


def test_a_passage_shows_the_text_as_it_stands_with_what_surrounds_it() -> None:
    found = find_passage("SECRET", "x" * 100 + " before the Secret and after it " + "y" * 100)
    assert found is not None
    assert found.found == "Secret"
    assert found.context.startswith("…")
    assert "before the Secret and after it" in found.context
    assert found.context.endswith("…")


def test_the_nearest_passage_is_the_one_most_alike() -> None:
    near = find_nearest(
        "98 percent satisfaction", "We asked 300 people. We found 97 percent satisfaction in May."
    )
    assert near is not None
    assert near.found == "97 percent satisfaction"


@pytest.mark.parametrize("text", ["", "   ", "nothing of the sort here at all"])
def test_there_is_no_nearest_passage_in_a_text_that_is_nothing_like_it(text: str) -> None:
    assert find_nearest("98% Zufriedenheit", text) is None


@given(st.text(min_size=1, max_size=30), st.text(max_size=200))
def test_looking_for_the_nearest_passage_never_fails(wanted: str, text: str) -> None:
    find_nearest(wanted, text)


def test_escape_sequences_and_invisible_marks_are_spelled_out() -> None:
    assert clean_text("\x1b[31mred\u202e\ud800") == "\\x1b[31mred\\u202e\\ud800"
    assert clean_text("\U000e0041") == "\\U000e0041"
    assert clean_text("one\ntwo\u2028three") == "one two three"
    assert clean_text("👩\u200d🚀") == "👩\u200d🚀"


@given(st.text())
def test_an_excerpt_is_safe_by_the_same_rule_as_everything_that_is_printed(text: str) -> None:
    assert HIDDEN.search(clean_text(text)) is None


@given(st.text(), st.integers(1, 50))
def test_a_line_is_one_line_within_its_width(text: str, width: int) -> None:
    shown = format_line(text, width)
    assert len(shown) <= width
    assert "\n" not in shown


def test_a_cut_text_ends_in_an_ellipsis() -> None:
    assert clip_text("abcdef", 4) == "abc…"
    assert clip_text("abcd", 4) == "abcd"


def test_an_excerpt_never_ends_within_a_secret() -> None:
    secret = "hunter2/and-a-long-tail-that-would-be-cut"
    KNOWN.add_secret(secret)
    for filler in range(1, 60):
        text = f"{secret} {'x' * filler} the needle {'y' * filler} {secret}"
        found = find_passage("needle", text)
        assert found is not None
        assert not any(
            secret[place : place + 6] in found.context for place in range(len(secret) - 5)
        )
        shown = clip_text(f"{'x' * filler} {secret}", 60).replace(
            secret, ""
        )  # a whole one is known to the log
        assert not any(secret[place : place + 6] in shown for place in range(len(secret) - 5))


@pytest.mark.parametrize(
    ("start", "end", "found", "context"),
    [
        (3, 5, "de", "abcdefgh…"),
        (4, 6, "ef", "…bcdefghi…"),
        (20, 23, "uvw", "…rstuvwxyz"),
        (19, 22, "tuv", "…qrstuvwxy…"),
        (2, 2, "c", "abcdef…"),
    ],
)
def test_a_passage_has_so_many_letters_on_both_sides_and_dots_where_there_is_more(
    start: int, end: int, found: str, context: str
) -> None:
    passage = fold_with_offsets("abcdefghijklmnopqrstuvwxyz").get_passage(start, end, around=3)
    assert (passage.found, passage.context) == (found, context)


def test_a_passage_is_found_with_fifty_letters_on_both_sides() -> None:
    found = find_passage("needle", "x" * 80 + "needle" + "y" * 80)
    assert found is not None
    assert found.context == "…" + "x" * 50 + "needle" + "y" * 50 + "…"


def test_what_surrounds_a_long_passage_is_cut_with_it() -> None:
    text = fold_with_offsets("x" * 400)
    assert text.get_passage(100, 258, around=5).context == "…" + "x" * 168 + "…"
    assert text.get_passage(100, 259, around=5).context == "…" + "x" * 168 + "…"
    assert len(text.get_passage(100, 259, around=5).context) == 170
    assert text.get_passage(100, 259, around=6).context == "…" + "x" * 170 + "…"


def test_a_nearest_passage_is_looked_for_in_the_first_twenty_thousand_characters() -> None:
    assert find_nearest("abcdef", "-" * 19_993 + " abcdef") is not None
    near = find_nearest("abcdef", "-" * 19_994 + " abcdef")
    assert near is not None
    assert near.found == "abcde"


def test_a_nearest_passage_is_as_long_as_what_is_looked_for_up_to_thirty_words() -> None:
    words = [f"w{place}" for place in range(40)]
    for size in (1, 29, 30, 31):
        near = find_nearest(" ".join(words[:size]), " ".join(words))
        assert near is not None
        assert near.found.split() == words[: min(size, 30)]


@pytest.mark.parametrize(
    ("left", "right", "share"),
    [
        ("ab", "ab", 1.0),
        ("abc", "abd", 0.5),
        ("ab", "cd", 0.0),
        ("", "", 1.0),
        ("a", "a", 1.0),
        ("a", "ab", 0.0),
    ],
)
def test_texts_are_alike_by_the_pairs_of_letters_that_they_share(
    left: str, right: str, share: float
) -> None:
    assert measure_likeness(left, right) == share


def test_a_passage_that_is_half_alike_is_not_worth_showing() -> None:
    assert find_nearest("abc", "abd") is None
    near = find_nearest("abcd", "abce xxx")
    assert near is not None
    assert near.found == "abce"


@pytest.mark.parametrize(
    ("left", "right", "alike"),
    [("a", "a", 1.0), ("a", "b", 0.0), ("abc", "xbc", 0.5), ("", "", 1.0), ("ab", "b", 0.0)],
)
def test_short_texts_are_alike_by_their_pairs_too(left: str, right: str, alike: float) -> None:
    assert measure_likeness(left, right) == alike


def test_a_line_has_160_characters_and_is_looked_for_in_eight_times_as_many() -> None:
    assert format_line("x" * 200) == "x" * 159 + "…"
    assert format_line("x" * 160) == "x" * 160
    assert format_line(" " * 79 + "x", 10) == "x"
    assert format_line(" " * 80 + "x", 10) == ""


def test_a_text_that_fits_is_left_as_it_is_and_one_that_is_cut_shows_no_part_of_a_secret() -> None:
    secret = "correct-horse-battery"
    KNOWN.add_secret(secret)
    assert clip_text(secret, len(secret)) == secret
    assert secret[:6] not in clip_text(f"{secret}!", len(secret))


def test_an_excerpt_of_a_text_with_a_secret_cuts_no_word() -> None:
    secret = "swordfish-and-more"
    KNOWN.add_secret(secret)

    def around(text: str) -> str:
        found = fold_with_offsets(f"{text} {secret}").find("needle")
        assert found is not None
        return found.context

    far = "y" * 60
    assert around(f"{'x' * 60} needle {far}") == f"{'x' * 60} needle {far}…"
    assert around(f"a {'x' * 60} needle {far} b") == f"…{'x' * 60} needle {far}…"
    # An end that is between two words stays there: no word is cut.
    assert around(f"a {'x' * 49} needle {'y' * 49} b") == f"…{'x' * 49} needle {'y' * 49}…"
    # One letter before the end, the way leads to the end and not beyond it.
    assert around(f"x{'x' * 50} needle") == f"{'x' * 51} needle {KNOWN.redact_text(secret)}"
