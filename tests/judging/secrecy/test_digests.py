"""A digest without a salt stands for its value."""

from __future__ import annotations

import hashlib

from harness.judging.secrecy import Page, ValueSearch
from harness.judging.secrecy.values import ALGORITHMS, iterate_digests


def test_a_digest_of_a_value_is_found_by_the_name_of_its_algorithm() -> None:
    search = ValueSearch((form, name) for name, form in iterate_digests("207374479"))
    for name, algorithm in ALGORITHMS.items():
        page = Page()
        page.add("etag", f'W/"{hashlib.new(algorithm, b"207374479").hexdigest().upper()}"')
        assert [found.owner for found in search.search_page(page)] == [name]


def test_an_address_is_hashed_in_small_letters_too() -> None:
    small = hashlib.md5(b"ines@example.org", usedforsecurity=False).hexdigest()
    assert small in {form.text for _, form in iterate_digests(" Ines@Example.org")}


def test_a_digest_of_something_else_is_not_found() -> None:
    page = Page()
    page.add("etag", hashlib.sha256(b"207374478").hexdigest())
    assert [
        *ValueSearch((form, name) for name, form in iterate_digests("207374479")).search_page(page)
    ] == []
