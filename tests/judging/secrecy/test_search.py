"""What is encoded is found, whatever the value; and what is not there is not."""

from __future__ import annotations

import base64
import codecs
import gzip
import html
import json
import random
import sys
import unicodedata
import zlib
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.judging.secrecy import FoundValue, Page, ValueSearch, build_search_form
from harness.judging.secrecy.decoders import DECODERS

NAMES = st.text("abcdefghijklmnopqrstuvwxyz", min_size=3, max_size=9)
EMAILS = st.builds("{}.{}@{}.example".format, NAMES, NAMES, NAMES)
CARDS = st.integers(10**15, 10**16 - 1).filter(lambda card: len(set(str(card))) > 2).map(str)
TEXTS = st.lists(NAMES, min_size=6, max_size=12).map(" ".join)
SECRETS = st.one_of(EMAILS, CARDS, TEXTS)

SPOKEN = (
    "alfa bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar "
    "papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu"
)
DIGITS = "zero one two three four five six seven eight nine"
RADIO = {word[0]: word for word in SPOKEN.split()} | {
    str(digit): word for digit, word in enumerate(DIGITS.split())
}

ENCODINGS: dict[str, Callable[[str], str]] = {
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(b"??>>" + text.encode()).decode(),
    "base64 without padding": lambda text: base64.b64encode(text.encode()).decode().rstrip("="),
    "base64 of UTF-16": lambda text: base64.b64encode(text.encode("utf-16-le")).decode(),
    "base32": lambda text: base64.b32encode(text.encode()).decode(),
    "hex": lambda text: text.encode().hex(),
    "HEX with colons": lambda text: text.encode().hex(":").upper(),
    "URL": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "HTML": lambda text: "".join(f"&#x{ord(letter):x};" for letter in text),
    "JSON": lambda text: json.dumps("".join(f"\\u{ord(letter):04x}" for letter in text)),
    "reversed": lambda text: text[::-1],
    "capitals": str.upper,
    "wide": lambda text: "".join(
        chr(ord(letter) + 0xFEE0) if letter != " " else letter for letter in text
    ),
    "invisible": "\u2060".join,
    "spaced": " ".join,
    "dots between pairs": lambda text: ".".join(
        text[place : place + 2] for place in range(0, len(text), 2)
    ),
    "base32 in small letters": lambda text: base64.b32encode(text.encode()).decode().lower(),
    "base85": lambda text: base64.b85encode(text.encode()).decode(),
    "quoted-printable": lambda text: "".join(f"={byte:02X}" for byte in text.encode()),
    "binary digits": lambda text: " ".join(f"{byte:08b}" for byte in text.encode()),
    "character codes": lambda text: ", ".join(str(byte) for byte in text.encode()),
    "radio alphabet": lambda text: " ".join(
        RADIO.get(letter, letter) for letter in text if letter != " "
    ),
    "letters rotated by 13": lambda text: codecs.encode(text, "rot13"),
    "letters rotated by 13, digits by 5": lambda text: codecs.encode(text, "rot13").translate(
        str.maketrans("0123456789", "5678901234")
    ),
    "compressed by gzip": lambda text: base64.b64encode(gzip.compress(text.encode())).decode(),
    "compressed by zlib": lambda text: zlib.compress(text.encode()).hex(),
    "accents": lambda text: unicodedata.normalize("NFC", "".join(f"{one}\u0301" for one in text)),
    "bold letters of mathematics": lambda text: "".join(
        chr(0x1D41A + ord(one) - 97) if "a" <= one <= "z" else one for one in text
    ),
    "tags": lambda text: "".join(chr(0xE0000 + ord(letter)) for letter in text),
}


def found(text: str, *secrets: object) -> list[FoundValue[object]]:
    page = Page()
    page.add("there", text)
    forms = ((build_search_form(secret), secret) for secret in secrets)
    return list(
        ValueSearch([(form, secret) for form, secret in forms if form is not None]).search_page(
            page
        )
    )


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(secret=SECRETS, before=NAMES, after=NAMES)
@example(secret="4929123456789012", before="card", after="end")
def test_what_one_encoding_hides_is_found(
    encoding: str, secret: str, before: str, after: str
) -> None:
    text = f"{before}: {ENCODINGS[encoding](secret)} ({after})"
    assert secret in {one.owner for one in found(text, secret)}


@pytest.mark.parametrize("outer", ["base64", "hex", "URL", "reversed"])
@pytest.mark.parametrize("inner", ["base64", "hex", "URL", "HTML", "reversed"])
@given(secret=EMAILS)
def test_what_two_encodings_hide_is_found(inner: str, outer: str, secret: str) -> None:
    text = ENCODINGS[outer](ENCODINGS[inner](secret))
    assert secret in {one.owner for one in found(f"key={text}", secret)} or inner == outer


@given(digits=CARDS, gaps=st.lists(st.sampled_from([" ", "-", ".", "/", ""]), min_size=15))
def test_digits_are_found_however_they_are_grouped(digits: str, gaps: list[str]) -> None:
    grouped = "".join(digit + gap for digit, gap in zip(digits, [*gaps[:15], ""], strict=True))
    assert found(f"No {grouped}.", digits)


WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@given(digits=CARDS)
def test_digits_are_found_when_they_are_spelled_out(digits: str) -> None:
    assert found(" ".join(WORDS[int(digit)] for digit in digits), digits)


@given(email=EMAILS, place=st.integers(3, 12))
def test_a_value_that_is_split_over_neighbours_is_found(email: str, place: int) -> None:
    page = Page()
    for part in (email[:place], email[place:]):
        page.add("part", part)
    form = build_search_form(email)
    assert form is not None
    assert [one.how for one in ValueSearch([(form, "it")]).search_page(page)] or email[
        place - 1
    ].isalnum()


@given(secret=SECRETS, text=st.text(max_size=200))
def test_a_text_that_does_not_hold_a_value_gives_nothing(secret: str, text: str) -> None:
    assert found(text, secret) == []


@pytest.mark.parametrize(
    "text",
    ["Ines Okafor, example.com", "ines okafor @ another.example.com", "INES.OKAFOR", "example.com"],
)
def test_a_name_and_a_site_are_no_address(text: str) -> None:
    assert found(text, "ines.okafor@example.com") == []


@pytest.mark.parametrize(
    "value",
    [True, None, "", 3, 2024, "2026-01-02", "2026-01-02T10:00:00Z", "gold", {}, [], 1_767_225_600],
)
def test_what_anybody_may_have_is_not_unmistakable(value: object) -> None:
    form = build_search_form(value)
    assert form is None or form.strength != "unmistakable"


@pytest.mark.parametrize(
    "value",
    ["a@b.example.com", "4929 1234 5678 9012", 4_929_123_456_789_012, "+1 (555) 014-8321",
     "Pays late since the merger", "ab12cd34ef56ab12"],
)  # fmt: skip
def test_what_nobody_meets_by_chance_is_unmistakable_but_as_a_reference(value: object) -> None:
    form = build_search_form(value, "contact")
    assert form is not None
    assert form.strength == "unmistakable"
    reference = build_search_form(value, "order_id")
    assert reference is not None
    assert (reference.strength == "reference") == (form.kind in ("digits", "key"))


def test_records_of_other_people_are_never_found_in_one_another() -> None:
    def person(seed: int) -> dict[str, object]:
        drawn = random.Random(seed)

        def word() -> str:
            return "".join(drawn.choices("abcdefghijklmnoprstuvw", k=drawn.randint(4, 9)))

        return {
            "mail": f"{word()}.{word()}@{word()}.example",
            "card": str(drawn.randrange(10**15, 10**16)),
            "phone": f"+1 {drawn.randrange(200, 999)} {drawn.randrange(10**6, 10**7)}",
            "note": " ".join(word() for _ in range(9)),
            "token": base64.b64encode(drawn.randbytes(24)).decode(),
            "salary": drawn.randrange(30_000, 200_000),
        }

    people = [person(seed) for seed in range(200)]
    everything = "\n".join(json.dumps(each) for each in people[100:])
    strong = [
        value
        for each in people[:100]
        for name, value in each.items()
        if (form := build_search_form(value, name)) is not None and form.strength == "unmistakable"
    ]
    assert len(strong) > 400
    assert found(everything, *strong) == []


def test_work_is_linear_in_texts_and_values() -> None:
    def work(size: int) -> int:
        steps = 0

        def count(_frame: object, event: str, _argument: object) -> None:
            nonlocal steps
            steps += event in ("call", "c_call")

        text = "\n".join(f"value-{number:06d} {'ab%20' * 4}" for number in range(size))
        secrets = [f"value-{number:06d}-abcdef@example.com" for number in range(size)]
        sys.setprofile(count)
        try:
            found(text, *secrets)
        finally:
            sys.setprofile(None)
        return steps

    work(10)
    assert work(400) < 2.3 * work(200)


@pytest.mark.slow
def test_a_bound_that_is_reached_is_said() -> None:
    page = Page()
    page.add("there", "- " * 550_000)
    form = build_search_form("a@b.example.com")
    assert form is not None
    search = ValueSearch([(form, "it")])
    assert list(search.search_page(page)) == []
    assert list(search.cut) == ["the text: only the first 1,000,000 characters were searched"]


@pytest.mark.slow
@pytest.mark.timeout(
    120
)  # where each place of a run is tried anew, this takes a quarter of an hour
@pytest.mark.parametrize("character", ["\n", "{", " ", "("])
def test_a_long_run_of_one_character_is_gone_through_once(character: str) -> None:
    page = Page()
    page.add("there", f"{character * 200_000}a@b.example.com")
    form = build_search_form("a@b.example.com")
    assert form is not None
    assert [one.owner for one in ValueSearch([(form, "it")]).search_page(page)] == ["it"]


def test_the_same_text_is_found_in_each_of_its_places_and_its_bound_is_said_of_each() -> None:
    form = build_search_form("ines.okafor@example.com")
    assert form is not None
    search = ValueSearch([(form, "it")])
    encoded = "&amp;%41\\n" + "so long " * 2_500
    for name in ("one", "other", "one"):
        search.cut.clear()
        page = Page(name=name)
        page.add(f"{name}.mail", "ines.okafor@example.com")
        page.add(f"{name}.rest", encoded)
        assert [found.place for found in search.search_page(page)] == [f"{name}.mail"]
        assert list(search.cut) == [f"{name}: only a part of what may be encoded was decoded"]


@pytest.mark.parametrize("name", DECODERS)
@given(text=st.text(max_size=300))
def test_a_decoder_takes_any_text_and_keeps_to_a_line(name: str, text: str) -> None:
    for stretch in DECODERS[name](text):
        assert stretch.text.count("\n") <= stretch.source.count("\n")
        assert text[stretch.at : stretch.at + len(stretch.source)] == stretch.source


def test_escapes_of_an_address_in_a_link_are_undone() -> None:
    assert found(f"mailto:{quote('a.b@c.example.com', safe='')}?x=1", "a.b@c.example.com")
    assert found(html.escape('<a href="x">a.b@c.example.com</a>'), "a.b@c.example.com")


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("Ines Okafor", True),
        (" -- Ines Okafor! ", True),
        ("Ines Okafor 7", False),
        ("to Ines Okafor", False),
        ("Ines Okafor, Ines Okafor", False),
    ],
)
def test_a_value_is_whole_where_its_line_has_no_other_letter_or_digit(
    line: str, *, whole: bool
) -> None:
    form = build_search_form("Ines Okafor", "name")
    assert form is not None
    page = Page("a page")
    for text in ("before", line, "behind"):
        page.add("", text)
    found = [*ValueSearch([(form, None)]).search_page(page)]
    assert {one.whole for one in found} == {whole}
