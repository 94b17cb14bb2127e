"""Recognises the suites of other tools, to call them by their name instead of listing their keys.

Sources of the formats: promptfoo.dev/docs/configuration, the packages mcp-evals 2.0,
@gleanwork/mcp-server-tester 1.1, testmcpy 0.11, pydantic-evals and mcp-probe-cli; the suites in the
repositories of mcpchecker, mcp-eval of lastmile, mcp-server-tester of steviec, mcp-eval-runner and
MCPJam; the guides of the skills mcp-builder and skill-creator, and of the Agent Development Kit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.base import Problem, format_path
from harness.types import Location

_MOST_READ = 1_000_000  # characters of a file; what identifies a format stands near its top
_AS_SUITE = (
    "Write each of its questions as a test of a suite: 'prompt', and 'assertions' on the calls and "
    "the answer."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ForeignFormat:
    """The files of another tool, and what to do with one."""

    tool: str
    endings: tuple[str, ...]
    patterns: tuple[str, ...]
    """Regular expressions, each of which matches somewhere in every such file."""
    advice: str


def _build_key_pattern(*names: str, indent: str = r"[ \t]*") -> str:
    """Return a pattern of a key in block style, in a list, or in braces."""
    # No blank may be a line break: every line would be searched to the end of the file.
    return rf"""(?:^|[{{,]){indent}(?:-[ \t]+)?["']?(?:{"|".join(names)})["']?[ \t]*:"""


_DATA = (".yml", ".yaml", ".json")
_JAVASCRIPT = (".ts", ".mts", ".cts", ".js", ".mjs", ".cjs")
_TOP = r"(?: {0,4}|\t)"
_PROMPTFOO = "docs/migrate/promptfoo.md has a script that converts its table of tests."
_GRADED = f"{_AS_SUITE} What a judge grades becomes 'answer_judge'."
_CALLS = (
    "It calls tools without a model: test those as the server's own unit tests, and ask for the "
    "same in a suite, as a test with 'prompt' and 'assertions'."
)
_FORMATS = (
    _ForeignFormat(
        tool="promptfoo",
        endings=(*_DATA, *_JAVASCRIPT),
        patterns=(
            _build_key_pattern("prompts", "providers", "targets", indent=_TOP),
            _build_key_pattern("tests", "scenarios", "defaultTest", "redteam", indent=_TOP),
        ),
        advice=_PROMPTFOO,
    ),
    _ForeignFormat(
        tool="promptfoo",
        endings=(*_DATA, *_JAVASCRIPT),
        patterns=(
            _build_key_pattern("prompts", indent=_TOP),
            _build_key_pattern("providers", "targets", indent=_TOP),
        ),
        advice=_PROMPTFOO,
    ),
    _ForeignFormat(
        tool="promptfoo",
        endings=(*_DATA, ".jsonl"),
        patterns=(_build_key_pattern("vars"), _build_key_pattern("assert")),
        advice=_PROMPTFOO,
    ),
    _ForeignFormat(
        tool="promptfoo",
        endings=(".csv",),
        patterns=(
            r"""\A(?:.*,)?["']?__(?:expected|description|threshold|metric)\d*["']?(?:,|$)""",
        ),
        advice=_PROMPTFOO,
    ),
    _ForeignFormat(
        tool="mcp-evals",
        endings=_DATA,
        patterns=(_build_key_pattern("evals"), _build_key_pattern("expected_result")),
        advice=f"{_AS_SUITE} 'expected_result' becomes 'answer_judge'.",
    ),
    _ForeignFormat(
        tool="mcpchecker",
        endings=_DATA,
        patterns=(
            _build_key_pattern("kind") + r"""[ \t]*["']?(?:Eval|Task|Agent)\b""",
            _build_key_pattern("taskSets", "spec", "steps", "commands", "builtin"),
        ),
        advice=f"{_AS_SUITE} An eval's 'toolsUsed' becomes 'must_call', a task's 'verify' becomes "
        "'end_state' or 'answer_judge'.",
    ),
    _ForeignFormat(
        tool="mcp-server-tester of steviec",
        endings=_DATA,
        patterns=(
            _build_key_pattern("expected_tool_calls", "response_scorers", "expected_tool_list")
            + "|steviec/mcp-server-tester",
        ),
        advice=f"{_AS_SUITE} 'expected_tool_calls' becomes 'must_call' and 'only_call', a scorer "
        "becomes 'answer_matches' or 'answer_judge'. Tests under 'tools' ask no model: test those "
        "as the server's own unit tests.",
    ),
    _ForeignFormat(
        tool="mcp-eval of lastmile",
        endings=_DATA,
        patterns=(
            r"mcpeval\.config\.schema|"
            + _build_key_pattern("server_name", "agent_spec", "default_agent", indent=_TOP),
            _build_key_pattern("cases", "mcp", indent=_TOP),
        ),
        advice=f"{_AS_SUITE} 'inputs' becomes 'prompt', 'ToolWasCalled' becomes 'must_call', "
        "'ResponseContains' becomes 'answer_contains'.",
    ),
    _ForeignFormat(
        tool="pydantic-evals",
        endings=_DATA,
        patterns=(_build_key_pattern("cases", indent=_TOP), _build_key_pattern("inputs")),
        advice=f"{_AS_SUITE} 'inputs' becomes 'prompt', 'expected_output' becomes 'answer_equals' "
        "or 'answer_judge'.",
    ),
    _ForeignFormat(
        tool="testmcpy",
        endings=_DATA,
        patterns=(_build_key_pattern("questions", "tests"), _build_key_pattern("evaluators")),
        advice=f"{_AS_SUITE} The evaluator 'was_mcp_tool_called' becomes 'must_call', "
        "'execution_successful' becomes 'must_succeed', 'final_answer_contains' becomes "
        "'answer_contains'.",
    ),
    _ForeignFormat(
        tool="mcp-server-tester of gleanwork",
        endings=_DATA,
        patterns=(
            _build_key_pattern("cases"),
            _build_key_pattern("toolName", "scenario", "toolsTriggered", "mcpHostConfig"),
        ),
        advice=f"{_AS_SUITE} 'scenario' becomes 'prompt', 'toolsTriggered' becomes 'must_call', "
        "'containsText' becomes 'answer_contains'. A case with 'toolName' asks no model: test it "
        "as the server's own unit test.",
    ),
    _ForeignFormat(
        tool="MCPJam",
        endings=_DATA,
        patterns=(
            _build_key_pattern("query", "prompt"),
            _build_key_pattern("expectedToolCalls", "expectedTools"),
        ),
        advice=f"{_AS_SUITE} 'query' becomes 'prompt', 'expectedToolCalls' becomes 'must_call'.",
    ),
    _ForeignFormat(
        tool="mcp-eval-runner",
        endings=_DATA,
        patterns=(
            _build_key_pattern("steps", indent=_TOP),
            _build_key_pattern(
                r"output_\w+", "expected_output", "schema_match", "tool_called", "latency_under"
            ),
        ),
        advice=_CALLS,
    ),
    _ForeignFormat(
        tool="mcp-probe",
        endings=_DATA,
        patterns=(
            _build_key_pattern("tests"),
            _build_key_pattern("call") + r"""[ \t]*["']?(?:tools|resources|prompts)/""",
        ),
        advice=_CALLS,
    ),
    _ForeignFormat(
        tool="skill-creator",
        endings=_DATA,
        patterns=(_build_key_pattern("skill_name"), _build_key_pattern("evals")),
        advice=f"{_AS_SUITE} 'expected_output' and what is expected of it become 'answer_judge'.",
    ),
    _ForeignFormat(
        tool="the Agent Development Kit",
        endings=_DATA,
        patterns=(_build_key_pattern("eval_cases", "expected_tool_use"),),
        advice=f"{_AS_SUITE} Tool uses become 'must_call', a final response 'answer_judge'.",
    ),
    _ForeignFormat(
        tool="OpenAI Evals",
        endings=(".jsonl",),
        patterns=(_build_key_pattern("input"), _build_key_pattern("ideal")),
        advice=f"{_AS_SUITE} 'input' becomes 'prompt', 'ideal' 'answer_equals' or 'answer_judge'.",
    ),
    _ForeignFormat(
        tool="mcp-builder",
        endings=(".xml",),
        patterns=("<qa_pair>",),
        advice=f"{_AS_SUITE} 'question' becomes 'prompt', 'answer' becomes 'answer_equals' or "
        "'answer_contains'.",
    ),
    *(
        _ForeignFormat(
            tool=tool,
            endings=(".py",),
            patterns=(rf"^[ \t]*(?:from|import)[ \t]+{module}\b",),
            advice=_GRADED,
        )
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
            tool=tool,
            endings=_JAVASCRIPT,
            patterns=(rf"""(?:from|import|require\()[ \t]*["']{package}["'/]""",),
            advice=_GRADED,
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
_OWN = re.compile(_build_key_pattern("suite", indent=r" ?"), re.MULTILINE)


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
            return Problem(
                at=Location(file=format_path(path)),
                message=f"this is a suite of {one.tool}, which harness does not read.",
                meant=one.advice,
            )
    return None


def recognise_suites(paths: Iterable[Path]) -> list[Problem]:
    """Return what to say of those of ``paths`` that are suites of other tools."""
    return [problem for path in paths if (problem := recognise_suite(path)) is not None]
