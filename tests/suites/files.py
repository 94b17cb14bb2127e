"""Helpers that write a suite and read it back."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from harness.base.errors import InvalidInput
from harness.suites.readers import Vocabulary, read_suite
from harness.types import Suite
from tests.suites.vocabulary import PlainVocabulary

TESTS = """\
tests:
  - name: one
    prompt: Do it.
    assertions:
      must_call: [do_it]
"""
"""The smallest valid ``tests:``, to stand below other keys."""


def write(path: Path, text: str) -> Path:
    """Write a file, its folders included."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text), encoding="utf-8")
    return path


def read(folder: Path, text: str, vocabulary: Vocabulary | None = None) -> Suite:
    """Read a suite that stands in ``text``."""
    return read_suite(write(folder / "shop.yml", text), vocabulary or PlainVocabulary())


def problems(folder: Path, text: str, vocabulary: Vocabulary | None = None) -> list[str]:
    """Return what the reader says of a suite: ``line:column: message``, without the advice."""
    return [
        f"{problem.at.line}:{problem.at.column}: {problem.message}"
        for problem in refusal(folder, text, vocabulary).problems
    ]


def refusal(folder: Path, text: str, vocabulary: Vocabulary | None = None) -> InvalidInput:
    """Return the error that reading ``text`` ends in."""
    with pytest.raises(InvalidInput) as caught:
        read(folder, text, vocabulary)
    return caught.value
