"""Suites in YAML: MXCP's format with our additions (`harness.suites.mxcp` reads it)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from harness.suites.formats import BOM, HEAD, SuiteFormat

# By patterns: to parse every YAML file of a project would take too long.
_KEY = rb"[\"']?([a-z_]+)[\"']?[ \t]*:(?=\s|$)"
_TOP_KEY = re.compile(rb"^" + _KEY, re.MULTILINE)
_NESTED_KEY = re.compile(rb"(?:^[ \t]+(?:-[ \t]+)*|^(?:-[ \t]+)+|[{,][ \t]*)" + _KEY, re.MULTILINE)
_QUOTED_KEY = re.compile(rb"[\"']([a-z_]+)[\"'][ \t]*:")
_ASSERTIONS = frozenset(
    {b"must_call", b"must_not_call", b"answer_contains", b"answer_not_contains", b"user_context"}
)
"""Keys that only our tests have, and keys of MXCP's tests, which are suites too."""
_OF_TESTS = frozenset({b"prompt", b"turns", b"ingest", b"assertions"})
"""Keys that our tests have beside their names; other tools with ``suite:`` have no prompts."""


def _is_suite(_path: Path, file: BinaryIO) -> bool:
    head = file.read(HEAD).removeprefix(BOM)
    as_json = head.lstrip().startswith(b"{")
    top = set((_QUOTED_KEY if as_json else _TOP_KEY).findall(head))
    if not top & {b"suite", b"tests"}:
        return False
    # In JSON the depth of a key cannot be told by its line.
    below = top if as_json else set(_NESTED_KEY.findall(head))
    if b"suite" in top:
        asks = b"tests" in top and b"name" in below and bool(below & _OF_TESTS)
        return b"mxcp" in top or asks or bool(below & _ASSERTIONS)
    return b"mxcp" in top or bool(below & {b"must_call", b"must_not_call"})


FORMAT = SuiteFormat(
    extensions=(".yml", ".yaml"),
    recognises=_is_suite,
    looks_for="'suite:' and 'tests:' at the top, each test with a name and a prompt",
    reads="harness.suites.mxcp:read_suite",
)
"""``evals/shop.yml``."""
