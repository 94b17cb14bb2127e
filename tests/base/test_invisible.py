"""Invisible characters are shown as escapes, except those that emoji and scripts need."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.safe_text import escape_hidden, make_printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("evil\u202egnp.exe", "evil\\u202egnp.exe"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("bell\x07", "bell\\x07"),
        ("soft\u00adhyphen", "soft\\xadhyphen"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("filler\u3164", "filler\\u3164"),
        ("joined\u200dletters", "joined\\u200dletters"),
        ("select\ufe01or", "select\\ufe01or"),
        ("é\ufe00\ufe01\ufe02", "é\ufe00\\ufe01\\ufe02"),
        ("half \ud800", "half \\ud800"),
    ],
)
def test_what_nobody_sees_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert escape_hidden(text) == shown
    assert make_printable(text) == shown


@pytest.mark.parametrize(
    "text",
    ["👩‍👩‍👧‍👦 🇺🇳 ❤️‍🔥 🏳️‍🌈 1️⃣ ☎️", "نامه‌ای", "क्‍ष", "naïve 漢字 עברית", "tab\tand\nline"],
)
def test_what_emoji_and_scripts_need_stays(text: str) -> None:
    assert escape_hidden(text) == text


@given(st.text())
def test_nothing_of_category_control_or_format_is_left_but_joiners(text: str) -> None:
    left = {
        sign
        for sign in escape_hidden(text)
        if unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
    }
    kept = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
    assert left <= set("\t\n\u200c\u200d") | {sign for sign in left if sign in kept}, left
    assert escape_hidden(escape_hidden(text)) == escape_hidden(text)
