"""Writes a suite as a configuration of promptfoo, as far as that can say the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

from harness.base import InvalidInput, Problem
from harness.types import Case, JsonObject, Location, Suite

_TEXTS = {
    "contains": "contains",
    "equals": "equals",
    "starts_with": "starts-with",
    "matches": "regex",
}
_PROVIDERS = {"openai": "openai:", "anthropic": "anthropic:messages:", "gemini": "google:"}


def format_configuration(suite: Suite, name: str, others: Sequence[tuple[Case | None, str]]) -> str:
    """Return ``suite`` as JSON, which is YAML, for a file of that suite's ``name``.

    ``others`` are the keys of the suite, or of one of its cases, that have no form there. Whether
    the rest says the same is found by whoever reads the text again and compares.

    Raises:
        InvalidInput: it has parts that promptfoo cannot express; each is named.
    """
    problems = []
    for owner, key in others:
        whose = f"test {owner.name!r}" if owner else "the suite"
        problems.append(_build_loss(owner.at if owner else suite.at, f"{key!r} of {whose}"))
    if suite.name != name:
        what = f"the name {suite.name!r} there: write {suite.name}config.yaml"
        problems.append(_build_loss(suite.at, what))
    tests = []
    for case in suite.cases:
        assertions = []
        for check in case.checks:
            write = _WRITERS.get(check.kind)
            written = write(check.params) if write and check.severity == "fail" else None
            if written is None:
                what = f"the assertion {check.kind!r} of test {case.name!r}, as it is"
                problems.append(_build_loss(check.at or case.at, what))
            else:
                assertions.append(written)
        test = {"description": case.name, "vars": {"prompt": case.prompt}, "assert": assertions}
        tests.append({**test, **({"metadata": dict(case.metadata)} if case.metadata else {})})
    content: dict[str, Any] = {"prompts": ["{{prompt}}"], "tests": tests}
    if suite.description:
        content = {"description": suite.description, **content}
    if suite.model:
        provider, _, model = str(suite.model).partition(":")
        if provider in _PROVIDERS:
            content["providers"] = [_PROVIDERS[provider] + model]
        else:
            problems.append(_build_loss(suite.at, f"the model {suite.model!r}"))
    if problems:
        raise InvalidInput(problems)
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _build_loss(at: Location | None, what: str) -> Problem:
    message = f"promptfoo cannot express {what}."
    return Problem(at=at or Location(file="?"), message=message)


def _write_text(params: Mapping[str, Any]) -> JsonObject | None:
    ((how, text),) = ((key, params[key]) for key in _TEXTS if key in params)
    kind = _TEXTS[how]
    if params.keys() - {how, "ignore_case"} or (params.get("ignore_case") and how != "contains"):
        return None
    return {"type": f"i{kind}" if params.get("ignore_case") else kind, "value": text}


def _write_call(params: Mapping[str, Any]) -> JsonObject | None:
    if params.keys() - {"tool", "args", "allow_absent"}:
        return None
    if params.get("args"):
        value = {"name": params["tool"], "args": params["args"], "mode": "partial"}
        return {"type": "trajectory:tool-args-match", "value": value}
    return {"type": "trajectory:tool-used", "value": params["tool"]}


def _write_forbidden(params: Mapping[str, Any]) -> JsonObject | None:
    written = None if params.get("args") else _write_call(params)
    return written and {**written, "type": "not-trajectory:tool-used"}


def _write_order(params: Mapping[str, Any]) -> JsonObject | None:
    calls = params.get("calls", ())
    if params.get("strict") or any(
        call.keys() - {"tool", "args"} or call.get("args") for call in calls
    ):
        return None
    steps = [call["tool"] for call in calls]
    return {"type": "trajectory:tool-sequence", "value": {"mode": "in_order", "steps": steps}}


_Write: TypeAlias = Callable[[Mapping[str, Any]], JsonObject | None]


def _write_only(keys: Collection[str], write: _Write) -> _Write:
    """Return ``write`` for params that have no other keys."""
    return lambda params: None if params.keys() - set(keys) else write(params)


_LIMIT = ("limit",)
_WRITERS: Mapping[str, _Write] = {
    "answer_verbatim": _write_text,
    "answer_judge": _write_only(
        ("rubric", "threshold"),
        lambda p: {"type": "llm-rubric", "value": p["rubric"], "threshold": p["threshold"]},
    ),
    "must_call": _write_call,
    "must_call_in_order": _write_order,
    "must_not_call": _write_forbidden,
    "max_calls": _write_only(
        _LIMIT,
        lambda p: {"type": "trajectory:step-count", "value": {"type": "tool", "max": p["limit"]}},
    ),
    "max_cost": _write_only(_LIMIT, lambda p: {"type": "cost", "threshold": p["limit"]}),
    "max_seconds": _write_only(
        _LIMIT, lambda p: {"type": "latency", "threshold": p["limit"] * 1000}
    ),
}
