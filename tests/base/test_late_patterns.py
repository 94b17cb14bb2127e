"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import re

import pytest

from harness.base import compile_late


def test_a_late_pattern_finds_what_the_other_finds() -> None:
    late, usual = compile_late(r"(a+)(b?)", re.IGNORECASE), re.compile(r"(a+)(b?)", re.IGNORECASE)
    for text in ("xAab", "aB", ""):
        assert late.findall(text) == usual.findall(text)
        assert late.sub("-", text) == usual.sub("-", text)
        assert bool(late.fullmatch(text)) == bool(usual.fullmatch(text))
    assert (late.pattern, late.groups, late.flags) == (usual.pattern, usual.groups, usual.flags)


def test_it_is_compiled_at_its_first_use_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_now = re.compile

    def count(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return compile_now(pattern, flags)

    monkeypatch.setattr(re, "compile", count)
    late = compile_late("a+")
    assert (late.pattern, compiled) == ("a+", [])
    for _ in range(3):
        assert late.search("caab") is not None
    assert compiled == ["a+"]


def test_what_is_no_pattern_is_an_error_when_it_is_used() -> None:
    late = compile_late("(")
    with pytest.raises(re.error):
        late.search("")
