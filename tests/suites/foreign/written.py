"""Files of other tools: with one test, which makes one assertion, and with every key they have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ASK = "Say x."


def write_lastmile(assertion: dict[str, Any]) -> dict[str, Any]:
    case = {"name": "one", "inputs": ASK, "evaluators": [assertion]}
    return {"name": "files", "server_name": "files", "cases": [case]}


def write_testmcpy(assertion: dict[str, Any]) -> dict[str, Any]:
    test = {"name": "one", "prompt": ASK, "evaluators": [assertion]}
    return {"version": "1.0", "name": "files", "tests": [test]}


def write_steviec(assertion: dict[str, Any]) -> dict[str, Any]:
    test = {"name": "one", "prompt": ASK, **assertion}
    return {"evals": {"models": ["claude-haiku-4-5"], "timeout": 30000, "tests": [test]}}


def write_mcpjam(assertion: dict[str, Any]) -> dict[str, Any]:
    case = {
        "id": "one",
        "title": "One",
        "steps": [{"id": "step-1", "kind": "prompt", "prompt": ASK}],
        "assertions": [assertion],
    }
    return {
        "schemaVersion": "1",
        "mode": "agentWorkflow",
        "reportingMode": "standard",
        "suite": {"id": "s_files", "name": "files"},
        "target": {"servers": [{"name": "files"}]},
        "defaults": {
            "model": "anthropic/claude-haiku-4-5",
            "repetitions": 1,
            "passThreshold": 1,
            "validity": {},
        },
        "cases": [case],
    }


WRITERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "lastmile": write_lastmile,
    "testmcpy": write_testmcpy,
    "steviec": write_steviec,
    "mcpjam": write_mcpjam,
}

MCP_EVALS: dict[str, Any] = {
    "model": {"provider": "openai", "name": "gpt-4o"},
    "evals": [{"name": "a", "description": "d", "prompt": "p", "expected_result": "r"}],
}
MCPCHECKER: dict[str, Any] = {
    "kind": "Task",
    "apiVersion": "mcpchecker/v1alpha2",
    "metadata": {
        "name": "n", "difficulty": "easy", "labels": {"a": "b"}, "parallel": True, "runs": 2,
        "annotations": {"c": "d"},
    },
    "spec": {
        "setup": None,
        "limits": {"timeout": "15m"},
        "verify": [{"llmJudge": {"contains": "c"}}, {"llmJudge": {"exact": "e"}}],
        "prompt": {"inline": "p"},
    },
}  # fmt: skip
MCPCHECKER_FIRST: dict[str, Any] = {
    "kind": "Task",
    "metadata": {"name": "n"},
    "steps": {"verify": {"contains": "c"}, "prompt": {"inline": "p"}},
}
LASTMILE: dict[str, Any] = {
    "name": "n", "description": "d", "server_name": "s", "metadata": {"a": 1},
    "agent_spec": {"name": "x"},
    "cases": [
        {"name": "a", "inputs": "p", "expected_output": "e", "metadata": {"b": 1}, "evaluators": [
            {"ToolWasCalled": {"tool_name": "t", "min_times": 2}},
            {"ResponseContains": {"text": "x", "case_sensitive": True, "regex": False}},
            {"LLMJudge": {"rubric": "r", "min_score": 0.8, "include_expected": True}}]},
    ],
    "evaluators": [{"MaxIterations": {"max_iterations": 3}}, {"ResponseTimeCheck": {"max_ms": 9}}],
}  # fmt: skip
TESTMCPY: dict[str, Any] = {
    "version": "1.0", "name": "n", "description": "d", "provider": "anthropic", "model": "m",
    "config": {"system_prompt": "s"},
    "tests": [
        {"name": "a", "prompt": "p", "metadata": {"a": 1}, "expected_tools": ["t"], "timeout": 9,
         "category": "c", "evaluators": [
            {"name": "tool_call_count", "args": {"tool_name": "t", "min_count": 1}},
            {"name": "llm_judge", "args": {"criteria": "c", "pass_threshold": 0.5}},
            {"name": "token_usage_reasonable", "args": {"max_tokens": 9}}]},
        {"name": "b", "steps": [
            {"name": "s", "prompt": "p", "evaluators": [{"type": "execution_successful"}]},
            {"prompt": "q"}]},
    ],
}  # fmt: skip
STEVIEC: dict[str, Any] = {
    "evals": {
        "models": ["m"], "timeout": 5000, "max_steps": 3,
        "tests": [
            {"name": "a", "prompt": "p",
             "expected_tool_calls": {"required": ["t"], "allowed": ["u"]},
             "response_scorers": [{"type": "regex", "pattern": "x"},
                                  {"type": "llm-judge", "criteria": "c", "threshold": 0.5}]},
        ],
    }
}  # fmt: skip
MCPJAM: dict[str, Any] = {
    **write_mcpjam({"type": "responseContains", "needle": "x", "caseSensitive": True}),
    "provenance": {"sourceHash": "h", "sourceFormat": "f", "reportHash": "r"},
}
MCPJAM["cases"] = [
    {**MCPJAM["cases"][0], "intent": "i", "kind": "capability", "isNegativeTest": True,
     "model": "anthropic/claude-haiku-4-5", "repetitions": 2, "passThreshold": 0.5,
     "import": {"status": "exact"}, "steps": [
        {"id": "1", "kind": "prompt", "prompt": "p"}, {"id": "2", "kind": "prompt", "prompt": "q"},
        {"id": "3", "kind": "assert", "assertion": {
            "type": "toolNeverCalled", "toolName": "t", "role": "advisory"}}]},
    {"id": "two", "title": "t", "steps": [{"id": "1", "kind": "prompt", "prompt": "p"}],
     "assertions": [{
        "type": "toolCalledWith", "toolName": "t", "minCount": 1, "severity": "warn",
        "args": {"args": {"a": "any"}, "argumentMatching": "partial"}},
        {"type": "noToolErrors"}]},
]  # fmt: skip
PROMPTFOO: dict[str, Any] = {
    "description": "d", "prompts": ["{{q}}", {"raw": "r", "label": "l"}], "tags": {"a": "b"},
    "providers": [{"id": "openai:gpt-5", "label": "l", "config": {
        "mcp": {"enabled": True, "server": {"command": "c", "args": ["a"], "name": "n"}}}}],
    "defaultTest": {"vars": {"z": 1}, "assert": [{"type": "contains", "value": "a"}]},
    "evaluateOptions": {"repeat": 2, "cache": True}, "metadata": {"a": 1}, "outputPath": "o",
    "tests": [
        {"description": "d", "vars": {"q": ["a", "b"]}, "threshold": 0.5, "metadata": {"a": 1},
         "options": {"prefix": "p", "suffix": "s", "disableDefaultAsserts": True}, "assert": [
            {"type": "regex", "value": "a+", "weight": 2, "metric": "m"},
            {"type": "not-icontains-any", "value": ["a", "b"]}]},
        {"vars": {"q": "a"}, "assert": [
            {"type": "assert-set", "threshold": 0.5, "assert": [{"type": "equals", "value": "a"}]},
            {"type": "latency", "threshold": 5}, {"type": "llm-rubric", "value": "v"},
            {"type": "trajectory:tool-used", "value": {"name": "n", "min": 1, "max": 2}},
            {"type": "trajectory:tool-sequence", "value": {"mode": "exact", "steps": ["a", "b"]}},
            {"type": "trajectory:tool-args-match",
             "value": {"name": "n", "args": {"a": {"b": [1]}}, "mode": "partial", "ignore": ["i"]}},
            {"type": "trajectory:step-count", "value": {"type": "tool", "min": 1}},
            {"type": "tool-call-f1", "value": ["a", "b", "n"]}, {"$ref": "#/parts/one"}]},
    ],
    "parts": {"one": {"type": "starts-with", "value": "s"}},
}  # fmt: skip
GLEANWORK: dict[str, Any] = {
    "name": "n", "description": "d", "metadata": {"a": 1}, "cases": [
        {"id": "i", "mode": "mcp_host", "scenario": "s", "description": "d", "iterations": 2,
         "accuracyThreshold": 0.5, "tags": ["t"], "metadata": {"a": 1}, "canonicalAnswer": "a",
         "mcpHostConfig": {"provider": "openai", "model": "m"}, "expect": {
            "containsText": ["a"], "matchesPattern": "a+", "toolCallCount": {"min": 1, "max": 2},
            "passesJudge": [{"rubric": {"text": "t"}, "reference": "r", "threshold": 0.5,
                             "provider": "openai", "model": "m"}],
            "toolsTriggered": {"order": "strict", "exclusive": True, "calls": [
                {"name": "a", "arguments": {"k": {"z": [1, {"$pattern": "a+", "$flags": "i"}]}}},
                {"name": "b", "required": True}]}}},
        {"id": "j", "input": "s", "trials": 2, "passThreshold": 0.5, "model": "openai:m",
         "expected": {"answer": "a"}, "assertions": {"containsText": "a"}},
    ],
}  # fmt: skip

EVERYTHING: dict[str, dict[str, Any]] = {
    "gleanwork": GLEANWORK,
    "lastmile": LASTMILE,
    "mcp_evals": MCP_EVALS,
    "mcpchecker": MCPCHECKER,
    "mcpchecker_first": MCPCHECKER_FIRST,
    "mcpjam": MCPJAM,
    "promptfoo": PROMPTFOO,
    "steviec": STEVIEC,
    "testmcpy": TESTMCPY,
}
"""A file of each tool that is read as it is."""
