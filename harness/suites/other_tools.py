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

from harness.base import Problem, shown
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


def _key(*names: str, indent: str = r"[ \t]*") -> str:
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
    _Format(
        tool="promptfoo",
        endings=(*_DATA, *_JAVASCRIPT),
        patterns=(
            _key("prompts", "providers", "targets", indent=_TOP),
            _key("tests", "scenarios", "defaultTest", "redteam", indent=_TOP),
        ),
        advice=_PROMPTFOO,
    ),
    _Format(
        tool="promptfoo",
        endings=(*_DATA, *_JAVASCRIPT),
        patterns=(_key("prompts", indent=_TOP), _key("providers", "targets", indent=_TOP)),
        advice=_PROMPTFOO,
    ),
    _Format(
        tool="promptfoo",
        endings=(*_DATA, ".jsonl"),
        patterns=(_key("vars"), _key("assert")),
        advice=_PROMPTFOO,
    ),
    _Format(
        tool="promptfoo",
        endings=(".csv",),
        patterns=(
            r"""\A(?:.*,)?["']?__(?:expected|description|threshold|metric)\d*["']?(?:,|$)""",
        ),
        advice=_PROMPTFOO,
    ),
    _Format(
        tool="mcp-evals",
        endings=_DATA,
        patterns=(_key("evals"), _key("expected_result")),
        advice=f"{_AS_SUITE} 'expected_result' becomes 'answer_judge'.",
    ),
    _Format(
        tool="mcpchecker",
        endings=_DATA,
        patterns=(
            _key("kind") + r"""[ \t]*["']?(?:Eval|Task|Agent)\b""",
            _key("taskSets", "spec", "steps", "commands", "builtin"),
        ),
        advice=f"{_AS_SUITE} An eval's 'toolsUsed' becomes 'must_call', a task's 'verify' becomes "
        "'end_state' or 'answer_judge'.",
    ),
    _Format(
        tool="mcp-server-tester of steviec",
        endings=_DATA,
        patterns=(
            _key("expected_tool_calls", "response_scorers", "expected_tool_list")
            + "|steviec/mcp-server-tester",
        ),
        advice=f"{_AS_SUITE} 'expected_tool_calls' becomes 'must_call' and 'only_call', a scorer "
        "becomes 'answer_matches' or 'answer_judge'. Tests under 'tools' ask no model: test those "
        "as the server's own unit tests.",
    ),
    _Format(
        tool="mcp-eval of lastmile",
        endings=_DATA,
        patterns=(
            r"mcpeval\.config\.schema|"
            + _key("server_name", "agent_spec", "default_agent", indent=_TOP),
            _key("cases", "mcp", indent=_TOP),
        ),
        advice=f"{_AS_SUITE} 'inputs' becomes 'prompt', 'ToolWasCalled' becomes 'must_call', "
        "'ResponseContains' becomes 'answer_contains'.",
    ),
    _Format(
        tool="pydantic-evals",
        endings=_DATA,
        patterns=(_key("cases", indent=_TOP), _key("inputs")),
        advice=f"{_AS_SUITE} 'inputs' becomes 'prompt', 'expected_output' becomes 'answer_equals' "
        "or 'answer_judge'.",
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
        tool="MCPJam",
        endings=_DATA,
        patterns=(_key("query", "prompt"), _key("expectedToolCalls", "expectedTools")),
        advice=f"{_AS_SUITE} 'query' becomes 'prompt', 'expectedToolCalls' becomes 'must_call'.",
    ),
    _Format(
        tool="mcp-eval-runner",
        endings=_DATA,
        patterns=(
            _key("steps", indent=_TOP),
            _key(r"output_\w+", "expected_output", "schema_match", "tool_called", "latency_under"),
        ),
        advice=_CALLS,
    ),
    _Format(
        tool="mcp-probe",
        endings=_DATA,
        patterns=(_key("tests"), _key("call") + r"""[ \t]*["']?(?:tools|resources|prompts)/"""),
        advice=_CALLS,
    ),
    _Format(
        tool="skill-creator",
        endings=_DATA,
        patterns=(_key("skill_name"), _key("evals")),
        advice=f"{_AS_SUITE} 'expected_output' and what is expected of it become 'answer_judge'.",
    ),
    _Format(
        tool="the Agent Development Kit",
        endings=_DATA,
        patterns=(_key("eval_cases", "expected_tool_use"),),
        advice=f"{_AS_SUITE} Tool uses become 'must_call', a final response 'answer_judge'.",
    ),
    _Format(
        tool="OpenAI Evals",
        endings=(".jsonl",),
        patterns=(_key("input"), _key("ideal")),
        advice=f"{_AS_SUITE} 'input' becomes 'prompt', 'ideal' 'answer_equals' or 'answer_judge'.",
    ),
    _Format(
        tool="mcp-builder",
        endings=(".xml",),
        patterns=("<qa_pair>",),
        advice=f"{_AS_SUITE} 'question' becomes 'prompt', 'answer' becomes 'answer_equals' or "
        "'answer_contains'.",
    ),
    *(
        _Format(
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
        _Format(
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
