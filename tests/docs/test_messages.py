"""The messages that the documentation explains are messages that harness gives."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import harness
from docs.site.pages import ROOT
from docs.site.reference.messages import messages, messages_page
from harness.base.errors import NothingToRun
from harness.suites.discovery import find_suites

pytestmark = pytest.mark.slow  # each worker would parse the whole code
PAGE = (ROOT / "docs" / "troubleshooting.md").read_text("utf-8")
EXPLAINED = re.findall(r"^### `(.*)`$", PAGE, re.MULTILINE)


@cache
def texts_in_code() -> str:
    """Return every text in the code, one after the other."""
    return "\n".join(
        " ".join(node.value.split())
        for path in Path(harness.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


@pytest.mark.parametrize("message", EXPLAINED)
def test_what_is_explained_is_said_by_the_code(message: str) -> None:
    parts = [part.strip() for part in message.split("…") if len(part.strip()) > 1]
    assert parts
    assert [part for part in parts if part not in texts_in_code()] == []


def test_messages_are_found_with_their_advice_and_with_dots_for_what_differs(
    tmp_path: Path,
) -> None:
    found = {one.said: one.advice for one in messages(("UsageError",))}
    assert found["the server's command cannot be read: …"] == "Check its quotation marks."
    assert "| `the server's command cannot be read: …` | Check its quotation marks. |" in (
        messages_page()
    )


def test_a_message_that_is_given_is_on_the_page(tmp_path: Path) -> None:
    with pytest.raises(NothingToRun) as given:
        find_suites([], [tmp_path / "evals"], vocabulary=None)  # type: ignore[arg-type]  # unused
    begin = str(given.value).split(str(tmp_path))[0]
    assert f"| `{begin}…" in messages_page()
