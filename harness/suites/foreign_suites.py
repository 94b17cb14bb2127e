"""Recognises the suites of other tools, to call them by their name instead of listing their keys.

Sources of the formats: promptfoo.dev/docs/configuration, the packages mcp-evals 2.0,
testmcpy 0.11, pydantic-evals and mcp-probe-cli; the suites in the
repositories of mcpchecker, mcp-eval of lastmile, mcp-server-tester of steviec, mcp-eval-runner and
MCPJam; the guides of the skill skill-creator, and of the Agent Development Kit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from harness.base import Problem, format_path
from harness.types import Location

_MOST_READ = 1_000_000  # characters of a file; what identifies a format stands near its top
_AS_SUITE = (
    "Write each of its questions as a test of a suite: 'prompt', and 'assertions' on the calls and "
    "the answer."
)


class _ForeignFormat(NamedTuple):
    """The files of another tool, and what to do with one."""

    tool: str
    endings: tuple[str, ...]
    patterns: tuple[str, ...]
    """Regular expressions, each of which matches somewhere in every such file."""
    advice: str


def _match_key(*names: str, indent: str = r"[ \t]*") -> str:
    """Return a pattern of a key in block style, in a list, or in braces."""
    # No blank may be a line break: every line would be searched to the end of the file.
    return rf"""(?:^|[{{,]){indent}(?:-[ \t]+)?["']?(?:{"|".join(names)})["']?[ \t]*:"""


_DATA = (".yml", ".yaml", ".json")
_JAVASCRIPT = (".ts", ".mts", ".cts", ".js", ".mjs", ".cjs")
_TOP = r"(?: {0,4}|\t)"
_PROMPTFOO = "Put its tests under 'tests:' of promptfooconfig.yaml, which harness reads."
_GRADED = f"{_AS_SUITE} What a judge grades becomes 'answer_judge'."
_CALLS = (
    "It calls tools without a model: test those as the server's own unit tests, and ask for the "
    "same in a suite, as a test with 'prompt' and 'assertions'."
)
_FORMATS = (
    _ForeignFormat(
        "promptfoo",
        _JAVASCRIPT,
        (
            _match_key("prompts", "providers", "targets", indent=_TOP),
            _match_key("tests", "scenarios", "defaultTest", "redteam", "prompts", indent=_TOP),
        ),
        "It is code. Written as promptfooconfig.yaml, harness reads it.",
    ),
    _ForeignFormat(
        "promptfoo",
        _DATA,
        (_match_key("targets", indent=_TOP), _match_key("redteam", indent=_TOP)),
        "The nearest is 'harness probe', which attacks a server without a model.",
    ),
    _ForeignFormat(
        "promptfoo", (*_DATA, ".jsonl"), (_match_key("vars"), _match_key("assert")), _PROMPTFOO
    ),
    _ForeignFormat(
        "promptfoo",
        (".csv",),
        (r"""\A(?:.*,)?["']?__(?:expected|description|threshold|metric)\d*["']?(?:,|$)""",),
        _PROMPTFOO,
    ),
    _ForeignFormat(
        "mcpchecker",
        _DATA,
        (
            _match_key("kind") + r"""[ \t]*["']?(?:Eval|Agent)\b""",
            _match_key("taskSets", "commands", "builtin"),
        ),
        "Its tasks are read, each as a file of its own. 'toolsUsed' becomes 'must_call'.",
    ),
    _ForeignFormat(
        "mcp-eval of lastmile",
        _DATA,
        (r"mcpeval\.config\.schema|" + _match_key("default_agent", indent=_TOP),),
        "It configures a run: servers and models stand in harness.yml here. Its datasets are read.",
    ),
    _ForeignFormat(
        "pydantic-evals",
        _DATA,
        (_match_key("cases", indent=_TOP), _match_key("inputs")),
        f"{_AS_SUITE} 'inputs' becomes 'prompt', 'expected_output' becomes 'answer_equals' "
        "or 'answer_judge'.",
    ),
    _ForeignFormat(
        "MCPJam",
        _DATA,
        (_match_key("query", "prompt"), _match_key("expectedToolCalls", "expectedTools")),
        f"{_AS_SUITE} 'query' becomes 'prompt', 'expectedToolCalls' becomes 'must_call'.",
    ),
    _ForeignFormat(
        "mcp-eval-runner",
        _DATA,
        (
            _match_key("steps", indent=_TOP),
            _match_key(
                r"output_\w+", "expected_output", "schema_match", "tool_called", "latency_under"
            ),
        ),
        _CALLS,
    ),
    _ForeignFormat(
        "mcp-probe",
        _DATA,
        (_match_key("tests"), _match_key("call") + r"""[ \t]*["']?(?:tools|resources|prompts)/"""),
        _CALLS,
    ),
    _ForeignFormat(
        "skill-creator",
        _DATA,
        (_match_key("skill_name"), _match_key("evals")),
        f"{_AS_SUITE} 'expected_output' and what is expected of it become 'answer_judge'.",
    ),
    _ForeignFormat(
        "the Agent Development Kit",
        _DATA,
        (_match_key("eval_cases", "expected_tool_use"),),
        f"{_AS_SUITE} Tool uses become 'must_call', a final response 'answer_judge'.",
    ),
    _ForeignFormat(
        "OpenAI Evals",
        (".jsonl",),
        (_match_key("input"), _match_key("ideal")),
        f"{_AS_SUITE} 'input' becomes 'prompt', 'ideal' 'answer_equals' or 'answer_judge'.",
    ),
    *(
        _ForeignFormat(tool, (".py",), (rf"^[ \t]*(?:from|import)[ \t]+{module}\b",), _GRADED)
        for tool, module in {
            "DeepEval": "deepeval",
            "Inspect": "inspect_ai",
            "mcp-eval of lastmile": "mcp_eval",
            "pydantic-evals": "pydantic_evals",
            "Ragas": "ragas",
            "LangSmith": "langsmith",
            "testmcpy": "testmcpy",
            "the Agent Development Kit": r"google\.adk",
        }.items()
    ),
    *(
        _ForeignFormat(
            tool, _JAVASCRIPT, (rf"""(?:from|import|require\()[ \t]*["']{package}["'/]""",), _GRADED
        )
        for tool, package in {
            "mcp-evals": "mcp-evals",
            "MCPJam": "@mcpjam/sdk",
            "mcp-server-tester of gleanwork": "@gleanwork/mcp-server-tester",
            "promptfoo": "promptfoo",
            "Braintrust": "braintrust",
            "Evalite": "evalite",
            "vitest-evals": "vitest-evals",
        }.items()
    ),
)
# At the top alone: other tools have such a key further down.
_OWN = re.compile(_match_key("suite", indent=r" ?"), re.MULTILINE)


def recognise_suite(path: Path) -> Problem | None:
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
    # With a key `suite:` it is one of ours with a mistake, which its reader tells.
    if _OWN.search(text):
        return None
    for one in formats:
        if all(re.search(pattern, text, re.MULTILINE) for pattern in one.patterns):
            message = f"this is a suite of {one.tool}, which harness does not read."
            at = Location(file=format_path(path))
            return Problem(at=at, message=message, meant=one.advice)
    return None


def recognise_suites(paths: Iterable[Path]) -> list[Problem]:
    """Return what to say of those of ``paths`` that are suites of other tools."""
    return [problem for path in paths if (problem := recognise_suite(path)) is not None]
