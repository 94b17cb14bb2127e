"""Recognises the suites of other tools, to call them by their name instead of listing their keys.

Sources of the formats: promptfoo.dev/docs/configuration, the packages mcp-evals 2.0,
@gleanwork/mcp-server-tester 1.1 and testmcpy 0.11, github.com/mcpchecker/mcpchecker, and the
evaluation guide of the skill mcp-builder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.documents.files import shown
from harness.errors import Problem
from harness.types import Location

_MOST_READ = 1_000_000  # characters of a file; what identifies a format stands near its top
_AS_SUITE = (
    "Write each of its questions as a test of a suite: 'prompt', and 'assertions' on the calls and "
    "the answer."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Format:
    """The files of another tool, and what to do with one."""

    tool: str
    endings: tuple[str, ...]
    patterns: tuple[str, ...]
    """Regular expressions, each of which matches somewhere in every such file."""
    advice: str


def _key(*names: str, indent: str = r"\s*") -> str:
    """Return a pattern of a key in block style, in a list, or in braces."""
    return rf"""(?:^|[{{,]){indent}(?:-\s+)?["']?(?:{"|".join(names)})["']?\s*:"""


_DATA = (".yml", ".yaml", ".json")
_FORMATS = (
    _Format(
        tool="promptfoo",
        endings=_DATA,
        patterns=(
            _key("prompts", "providers", "targets", indent=r"(?: {0,4}|\t)"),
            _key("tests", "scenarios", "defaultTest", "redteam", indent=r"(?: {0,4}|\t)"),
        ),
        advice="docs/migrate/promptfoo.md has a script that converts its table of tests.",
    ),
    _Format(
        tool="mcp-evals",
        endings=_DATA,
        patterns=(_key("evals"), _key("expected_result")),
        advice=f"{_AS_SUITE} 'expected_result' becomes 'answer_judge'.",
    ),
    _Format(
        tool="mcp-evals",
        endings=(".ts", ".mts", ".js", ".mjs"),
        patterns=(r"""(?:from|require\()\s*["']mcp-evals["']""",),
        advice=f"{_AS_SUITE} What 'grade' is asked becomes 'prompt' with 'answer_judge'.",
    ),
    _Format(
        tool="mcpchecker",
        endings=_DATA,
        patterns=(
            _key("kind") + r"""\s*["']?(?:Eval|Task)\b""",
            _key("taskSets", "spec", "steps"),
        ),
        advice=f"{_AS_SUITE} An eval's 'toolsUsed' becomes 'must_call', a task's 'verify' becomes "
        "'end_state' or 'answer_judge'.",
    ),
    _Format(
        tool="testmcpy",
        endings=_DATA,
        patterns=(_key("questions", "tests"), _key("evaluators")),
        advice=f"{_AS_SUITE} The evaluator 'was_mcp_tool_called' becomes 'must_call', "
        "'execution_successful' becomes 'must_succeed', 'final_answer_contains' becomes "
        "'answer_contains'.",
    ),
    _Format(
        tool="mcp-server-tester of gleanwork",
        endings=_DATA,
        patterns=(_key("cases"), _key("toolName", "scenario", "toolsTriggered", "mcpHostConfig")),
        advice=f"{_AS_SUITE} 'scenario' becomes 'prompt', 'toolsTriggered' becomes 'must_call', "
        "'containsText' becomes 'answer_contains'. A case with 'toolName' asks no model: test it "
        "as the server's own unit test.",
    ),
    _Format(
        tool="mcp-builder",
        endings=(".xml",),
        patterns=("<qa_pair>",),
        advice=f"{_AS_SUITE} 'question' becomes 'prompt', 'answer' becomes 'answer_equals' or "
        "'answer_contains'.",
    ),
)
_OWN = re.compile(_key("suite", indent=r" ?"), re.MULTILINE)


def suite_of_another_tool(path: Path) -> Problem | None:
    """Return what to say of the file if another tool's suite is in it; ``None`` if not.

    Only to be asked of a file that is not a valid suite of harness.
    """
    formats = [one for one in _FORMATS if path.suffix.lower() in one.endings]
    if not formats or not path.is_file():
        return None
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            text = file.read(_MOST_READ)
    except OSError:
        return None
    if _OWN.search(text):
        return None
    for one in formats:
        if all(re.search(pattern, text, re.MULTILINE) for pattern in one.patterns):
            return Problem(
                at=Location(file=shown(path)),
                message=f"this is a suite of {one.tool}, which harness does not read.",
                meant=one.advice,
            )
    return None


def suites_of_other_tools(paths: Iterable[Path]) -> list[Problem]:
    """Return what to say of those of ``paths`` that are suites of other tools."""
    return [problem for path in paths if (problem := suite_of_another_tool(path)) is not None]
