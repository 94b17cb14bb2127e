"""What the package index shows: metadata that is true, and a description that stands by itself."""

from __future__ import annotations

from collections.abc import Iterator
from email import message_from_string
from email.message import Message
from zipfile import ZipFile

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from harness.version import DISTRIBUTION, __version__
from tests.packaging.conftest import ROOT, Release


@pytest.fixture(scope="module")
def metadata(release: Release) -> Message:
    with ZipFile(release.wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_string(archive.read(name).decode())


def description(metadata: Message) -> str:
    text = metadata.get_payload()
    assert isinstance(text, str)
    return text


def tokens(text: str) -> Iterator[Token]:
    for block in MarkdownIt("commonmark").enable("table").parse(text):
        yield block
        yield from block.children or ()


@pytest.mark.slow
def test_the_index_is_told_who_this_is(metadata: Message) -> None:
    assert metadata["Name"] == DISTRIBUTION
    assert metadata["Version"] == __version__
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Description-Content-Type"] == "text/markdown"


def test_the_oldest_python_that_is_named_is_the_oldest_that_is_allowed(metadata: Message) -> None:
    prefix = "Programming Language :: Python :: 3."
    named = [
        int(line.removeprefix(prefix))
        for line in metadata.get_all("Classifier", [])
        if line.startswith(prefix)
    ]
    assert named == list(range(min(named), max(named) + 1))
    assert metadata["Requires-Python"] == f">=3.{min(named)}"


def test_the_description_leads_to_nothing_that_the_index_does_not_have(metadata: Message) -> None:
    targets = [
        target
        for token in tokens(description(metadata))
        for target in (token.attrGet("href"), token.attrGet("src"))
        if target is not None
    ]
    assert [target for target in targets if not str(target).startswith("https://")] == []
    assert "\n!" not in description(metadata)  # what would be left of a picture


def test_the_description_asks_for_no_checkout(metadata: Message) -> None:
    first, *_ = [token.content for token in tokens(description(metadata)) if token.type == "fence"]
    assert first.startswith(f"pip install {DISTRIBUTION}\n")
    assert "git clone" not in description(metadata)
    assert "make evals" not in description(metadata)


def test_the_description_has_every_part_of_the_readme(metadata: Message) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert parts(description(metadata)) == parts(readme)


def parts(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("## ")]
