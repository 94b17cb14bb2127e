"""Configurations of promptfoo; `harness.suites.foreign.promptfoo` reads them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from harness.suites.formats import BOM, HEAD, SuiteFormat

# In block style at the top, or in JSON with one key a line, or all on one line.
_KEY = rb"^[{ \t]{0,4}[\"']?(?:%s)[\"']?[ \t]*:"
_ASKS = re.compile(_KEY % b"prompts|providers|targets", re.MULTILINE)
_TESTS = re.compile(_KEY % b"tests|scenarios|defaultTest", re.MULTILINE)
_PROMPTS = re.compile(_KEY % b"prompts", re.MULTILINE)
_PROVIDERS = re.compile(_KEY % b"providers|targets", re.MULTILINE)
_INLINE = re.compile(rb"[{,]\s*[\"']?(prompts|providers|targets|tests)[\"']?[ \t]*:")


def _is_configuration(_path: Path, file: BinaryIO) -> bool:
    head = file.read(HEAD).removeprefix(BOM)
    if head.lstrip().startswith(b"{"):
        keys = set(_INLINE.findall(head))
        return b"prompts" in keys and len(keys) > 1
    asks_and_tests = _ASKS.search(head) and _TESTS.search(head)
    return bool(asks_and_tests or (_PROMPTS.search(head) and _PROVIDERS.search(head)))


FORMAT = SuiteFormat(
    extensions=(".yml", ".yaml", ".json"),
    recognises=_is_configuration,
    looks_for="'prompts:' and 'providers:' or 'tests:' at the top",
    translates="harness.suites.foreign.promptfoo:translate_configuration",
)
"""``promptfooconfig.yaml``."""
