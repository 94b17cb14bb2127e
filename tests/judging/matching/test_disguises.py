"""What a reader sees of a text is found in it, however it is written; nothing else is."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.base.safe_text import list_readings, render_text, without_hidden
from harness.judging.matching.texts import contains_text, find_passage
from harness.judging.secrecy.search import Page, ValueSearch
from harness.judging.secrecy.values import build_search_form
from tests.clock import is_in_proportion
from tests.judging.checks.scenes import call, judge, scene
from tests.often import often

SECRET = "CUST_00042 owes $5"


def _escaped(text: str) -> str:
    return "".join(
        f"\\{sign}" if sign.isascii() and unicodedata.category(sign)[0] in "PS" else sign
        for sign in text
    )


def _inside(before: str, after: str = "") -> Callable[[str], str]:
    """Return a disguise that puts something into the first word, and after two more letters."""
    return lambda text: f"{text[:1]}{before}{text[1:3]}{after}{text[3:]}"


def _bold(text: str) -> str:
    return "".join(chr(0x1D400 + ord(sign) - 65) if "A" <= sign <= "Z" else sign for sign in text)


DISGUISES: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "small letters": str.lower,
    "Markdown escapes": _escaped,
    "bold": _inside("**", "**"),
    "bold italics": _inside("***", "***"),
    "bold and italics, ended apart": lambda text: (
        f"{text[:1]}***{text[1:2]}**{text[2:3]}*{text[3:]}"
    ),
    "italics": _inside("*", "*"),
    "struck out": _inside("~~", "~~"),
    "code": _inside("`", "`"),
    "bold in code": _inside("`**", "**`"),
    "all bold": lambda text: f"**{text}**",
    "all in underscores": lambda text: f"_{text}_",
    "all in double underscores": lambda text: f"__{text}__",
    "a link": _inside("[", "](https://example.com/a_(b))"),
    "a link with a title": _inside("[", '](https://example.com "there")'),
    "a reference": _inside("[", "][1]"),
    "an image": _inside("![", "](a.png)"),
    "a link without words": _inside("[](x)"),
    "tags": _inside("<b>", "</b>"),
    "a tag with attributes": _inside('<span class="a_b">', "</span>"),
    "an empty tag": _inside("<wbr/>"),
    "a comment": _inside("<!-- a > b -->"),
    "decimal entities": lambda text: "".join(f"&#{ord(sign)};" for sign in text),
    "hexadecimal entities": lambda text: "".join(f"&#x{ord(sign):X};" for sign in text),
    "entities with zeros": lambda text: "".join(f"&#{ord(sign):012};" for sign in text),
    "entities escaped again": lambda text: "".join(f"&amp;#{ord(sign)};" for sign in text),
    "LaTeX": lambda text: f"\\text{{{_escaped(text)}}}",
    "LaTeX in two parts": _inside("\\textbf{", "}"),
    "named entities": lambda text: (
        text.replace("_", "&lowbar;").replace("$", "&dollar;").replace(" ", "&nbsp;")
    ),
    "an entity of a hidden character": _inside("&shy;", "&ZeroWidthSpace;"),
    "full-width letters": lambda text: "".join(
        chr(ord(sign) + 0xFEE0) if sign != " " else "\u3000" for sign in text
    ),
    "letters of mathematics": _bold,
    "a soft hyphen": _inside("\u00ad"),
    "left to right": _inside("\u200e", "\u200f"),
    "a filler": _inside("\u3164", "\uffa0"),
    "selectors": _inside("\ufe0f", "\U000e0101"),
    "tag characters": _inside("\U000e0041\U000e0042"),
    "joiners": "\u200d".join,
    "a line through it": lambda text: "".join(f"{sign}\u0336" for sign in text),
    "another colour": _inside("\x1b[31m", "\x1b[0m"),
    "written backwards and turned": lambda text: f"\u202e{text[::-1]}\u202c",
    "two lines": lambda text: text.replace(" ", "\\\n"),
    "Cyrillic letters": lambda text: text.translate(str.maketrans("CUSTowe", "СUЅТоwе")),
    "a Greek letter in bold": lambda text: f"**{text[:1]}**{text[1:].replace('T', 'Τ')}",
    "several at once": lambda text: _inside("**<i>", "\u200b</i>**")(text[:3]) + _escaped(text[3:]),
}


def _answer_not_contains(text: str) -> bool:
    return judge("answer_not_contains", SECRET, scene(answer=text)).verdict == "failed"


def _not_matches(text: str) -> bool:
    value = {"answer_matches": r"(?i)cust_00042\s+owes\s+\$5"}
    return judge("not", value, scene(answer=text)).verdict == "failed"


def _tool_result_not_contains(text: str) -> bool:
    evidence = scene(call("get_orders", text=text))
    return judge("tool_result_not_contains", SECRET, evidence).verdict == "failed"


def _structured_result(text: str) -> bool:
    evidence = scene(call("get_orders", structured={"note": [text]}))
    return judge("tool_result_not_contains", SECRET, evidence).verdict == "failed"


def _answer_contains(text: str) -> bool:
    return judge("answer_contains", SECRET, scene(answer=text)).verdict == "passed"


def _answer_equals(text: str) -> bool:
    return judge("answer_equals", SECRET, scene(answer=text)).verdict == "passed"


def _remembers(text: str) -> bool:
    return judge("remembers", SECRET, scene(answer=text)).verdict == "passed"


def _is_leak(text: str) -> bool:
    page = Page()
    page.add("there", text)
    form = build_search_form(SECRET)
    return form is not None and bool(list(ValueSearch([(form, "owner")]).search_page(page)))


FINDERS = (
    _answer_not_contains,
    _not_matches,
    _tool_result_not_contains,
    _structured_result,
    _answer_contains,
    _answer_equals,
    _remembers,
    _is_leak,
)


@pytest.mark.parametrize(
    ("disguise", "find_in"),
    [
        (disguise, find_in)
        for disguise in DISGUISES
        for find_in in FINDERS
        # What may occur by chance is not looked for across lines.
        if (disguise, find_in) != ("two lines", _is_leak)
    ],
)
def test_a_text_in_disguise_is_found_by_every_check(
    disguise: str, find_in: Callable[[str], bool]
) -> None:
    assert find_in(DISGUISES[disguise](SECRET))
    assert not find_in(DISGUISES[disguise](SECRET.replace("CUST", "DUST").replace("$5", "$6")))


WORDS = st.text("abcXYZ019$%.:,", min_size=2, max_size=12).filter(lambda text: text[0].isalnum())
AROUND = st.text("abc XYZ019 \n", max_size=12)


@given(
    st.lists(st.sampled_from(sorted(DISGUISES)), min_size=1, max_size=1),
    WORDS,
    WORDS,
    AROUND,
    AROUND,
)
def test_any_text_in_any_disguise_is_found_and_no_other_text(
    disguises: list[str], wanted: str, other: str, before: str, after: str
) -> None:
    shown = f"{before} {wanted} {after}"
    text = f"{before} {DISGUISES[disguises[0]](wanted)} {after}"
    assert contains_text(wanted, text)
    passage = find_passage(wanted, text)
    assert passage is not None
    assert passage.found.casefold() == wanted.casefold()
    if other.casefold() not in text.casefold():
        assert contains_text(other, text) == (other.casefold() in shown.casefold())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("snake_case_names", "snake_case_names"),
        ("_private and trailing_", "private and trailing"),
        ("`snake_case` and __init__", "snake_case and init"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("2*3 is 6", "2*3 is 6"),
        ("2**3", "2**3"),
        ("*a**b*", "a**b"),
        ("***a** b*", "a b"),
        ("a * b*", "a * b*"),
        ("*a\n\nb*", "*a\n\nb*"),
        ("~5 and ~6", "~5 and ~6"),
        ("[1] and [2](x)", "[1] and 2"),
        ("a](b)", "a](b)"),
        ("x < y and y > z", "x < y and y > z"),
        ("<https://example.com/a>", "<https://example.com/a>"),
        ("<a@example.com>", "<a@example.com>"),
        ("one<br>two", "one two"),
        ("&lt;b&gt; &amp;amp; \\&amp;", "<b> &amp; &amp;"),
        ("\\*not bold\\*", "*not bold*"),
        ("AT&T; 5 & 6 &", "AT&T; 5 & 6 &"),
        ("<!-- never ended", "<!-- never ended"),
        (r"C:\Users\ann", r"C:\Users\ann"),
        ("* one\n* two", "* one\n* two"),
    ],
)
def test_what_is_no_mark_stays(text: str, shown: str) -> None:
    assert render_text(text) == shown
    assert list_readings(text)[0] == text
    assert contains_text(text, text)


@pytest.mark.parametrize(
    ("forbidden", "text"),
    [
        ("snakecase", "the snake_case name"),
        ("23", "2*3 and 2**3"),
        ("abc", "a b c"),
        ("amp", "R&D"),
        ("bold", "<em>plain</em>"),
        ("résumé", "resume"),
        ("≠", "="),
        ("HOC", "нос"),
        ("kai", "και"),
    ],
)
def test_what_does_not_stand_there_is_not_found(forbidden: str, text: str) -> None:
    assert not contains_text(forbidden, text)


@pytest.mark.parametrize("wanted", ["ISTANBUL", "istanbul", "İSTANBUL", "ıstanbul", "İstanbul"])
@pytest.mark.parametrize("text", ["İstanbul", "ISTANBUL", "istanbul", "i\u0307stanbul", "ıSTANBUL"])
def test_the_letter_i_is_the_same_with_and_without_its_dot(wanted: str, text: str) -> None:
    assert contains_text(wanted, text)


IGNORABLE = (  # Other_Default_Ignorable_Code_Point and Variation_Selector of Unicode
    {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFFA0}
    | {*range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE1000), *range(0x180B, 0x1810)}
    | set(range(0xFE00, 0xFE10))
)
SHOWN_FORMATS = {
    *range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD,
}  # fmt: skip
"""Format characters that are drawn: signs before numbers of Arabic, Syriac and Kaithi."""


def test_no_hidden_character_of_unicode_parts_a_word() -> None:
    hidden = [
        chr(code)
        for code in range(sys.maxunicode + 1)
        if code in IGNORABLE or unicodedata.category(chr(code)) in {"Cf", "Cc", "Cs"}
        if code not in SHOWN_FORMATS and not chr(code).isspace()
    ]
    assert len(hidden) > 4000
    assert without_hidden("".join(hidden)) == ""
    assert [one for one in hidden if not contains_text("CUST", f"CU{one}ST")] == []


@pytest.mark.parametrize(
    "text",
    often(
        [
            "*a",
            "**a ",
            "a*",
            "[",
            "](",
            "[a](",
            "<a ",
            "<!--",
            "&#",
            "_a",
            "`",
            "\\",
            "](a(",
            "\x1b[",
        ],
        4,
    ),
    ids=repr,
)
def test_a_long_text_is_rendered_in_time_in_proportion_to_its_length(text: str) -> None:
    assert is_in_proportion(lambda times: render_text(text * times), 20_000)


@given(st.text("*_~`[]()<>!&#;\\-ab \n\x1b\u202e"))
@example("](")
def test_any_text_can_be_rendered(text: str) -> None:
    assert len(render_text(text)) <= len(text)
