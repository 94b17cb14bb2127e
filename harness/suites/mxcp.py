"""Suites in YAML: the MXCP format, strictly, with our additions.

`docs/suites.md` describes the format; `harness.suites.layout` lists its keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.config.server_entries import read_server
from harness.documents.document import Document, Steps, read_document
from harness.documents.fields import Layout, found
from harness.documents.reading import Reading, dropped
from harness.errors import InvalidInput, Problem
from harness.suites import Vocabulary
from harness.suites.layout import Layouts, layouts
from harness.types import Case, Check, Limits, Location, ServerSpec, Suite

_LIMITS = {
    "timeout": "timeout_s",
    "max_turns": "max_turns",
    "max_calls": "max_calls",
    "max_tokens": "max_tokens",
    "max_cost": "max_cost_usd",
}


def read_suite(path: Path, vocabulary: Vocabulary) -> Suite:
    """Return the suite in the YAML file at ``path``.

    Texts such as ``${TOKEN}`` in its server are kept as they stand; the configuration expands them.

    Raises:
        InvalidInput: with every problem of the file, in the order of its lines.
    """
    document = read_document(path)
    _require_suite(document)
    reading = Reading(document)
    suite = _suite(reading, layouts(vocabulary))
    reading.finish()
    return suite


def _require_suite(document: Document) -> None:
    content = document.value
    if isinstance(content, dict) and (document.problems or content.keys() & {"suite", "tests"}):
        return
    empty = content is None and not document.problems
    problem = Problem(
        at=Location(file=document.file),
        message="the file is empty." if empty else "this is not a suite: it has neither 'suite:' nor 'tests:'.",
        meant="A suite has a name under 'suite:' and a list under 'tests:'. Keep other files elsewhere.",
    )
    raise InvalidInput([*document.problems, problem])


def _suite(reading: Reading, layout: Layouts) -> Suite:
    document = reading.document
    values = reading.record((), document.value, layout.suite, "the suite")
    name = values.get("suite", "")
    return Suite(
        name=name,
        description=values.get("description"),
        model=values.get("model"),
        server=_server(reading, values.get("server"), name),
        system_prompt=values.get("system_prompt"),
        judge_model=_judge_model(reading, values),
        cases=_cases(reading, values, layout),
        digest=document.digest,
        at=document.at(("suite",)),
    )


def _judge_model(reading: Reading, values: Mapping[str, Any]) -> str | None:
    if "judge_model" in values and "expected_answer_model" in values:
        message = "'judge_model' and 'expected_answer_model' are two names of one setting."
        reading.problem(reading.document.at_key(("judge_model",)), message, "Keep one of them.")
    model: str | None = values.get("judge_model", values.get("expected_answer_model"))
    return model


# ── Tests ────────────────────────────────────────────────────────────────────────────────────


def _cases(reading: Reading, suite: Mapping[str, Any], layout: Layouts) -> tuple[Case, ...]:
    cases: dict[str, Case] = {}
    for index, test in enumerate(suite.get("tests", ())):
        path = ("tests", index)
        if not isinstance(test, dict):
            message = f"test number {index + 1}: expected a mapping (lines of 'key: value'), found {found(test)}."
            reading.problem(reading.document.at(path), message)
            continue
        case = _case(reading, path, test, layout, suite)
        if first := cases.get(case.name):
            message = f"test {case.name!r} is defined twice; first at line {first.at.line if first.at else '?'}."
            reading.problem(reading.document.at((*path, "name")), message, "Give each test a name of its own.")
        elif case.name:
            cases[case.name] = case
    return tuple(cases.values())


def _case(reading: Reading, path: Steps, test: Mapping[str, Any], layout: Layouts, suite: Mapping[str, Any]) -> Case:
    name = test.get("name")
    noun = f"test {name!r}" if isinstance(name, str) else f"test number {int(path[-1]) + 1}"
    values = reading.record(path, test, layout.test, noun)
    return Case(
        name=values.get("name", ""),
        prompt=values.get("prompt", ""),
        checks=_checks(reading, path, test, values, layout.assertions, noun),
        description=values.get("description"),
        user_context=values.get("user_context"),
        limits=_limits(values, _limits(suite, Limits())),
        tags=tuple(dict.fromkeys((*suite.get("tags", ()), *values.get("tags", ())))),
        metadata={**suite.get("metadata", {}), **values.get("metadata", {})},
        at=reading.document.at(path),
    )


def _limits(values: Mapping[str, Any], base: Limits) -> Limits:
    return replace(base, **{name: values[key] for key, name in _LIMITS.items() if key in values})


def _checks(
    reading: Reading, path: Steps, test: Mapping[str, Any], values: Mapping[str, Any], layout: Layout, noun: str
) -> tuple[Check, ...]:
    """Return the checks of a test in the order of the file; to ask for none is a problem."""
    given = values.get("assertions", {})
    asked = reading.record((*path, "assertions"), given, layout, f"assertions of {noun}")
    sources = [((*path, "assertions", kind), kind, parsed) for kind, parsed in asked.items()]
    if "expected_answer" in values:
        sources.append(((*path, "expected_answer"), "expected_answer", values["expected_answer"]))
    checks = tuple(
        Check(kind=kind, params=params, at=reading.document.at((*place, *part)))
        for place, kind, parsed in sources
        for part, params in parsed
    )
    spoilt = dropped(given, asked) or dropped(test, values) & {"assertions", "expected_answer"}
    if not checks and not spoilt:
        meant = f"Add 'assertions:' with at least one of: {', '.join(layout.fields)}."
        reading.problem(reading.document.at((*path, "assertions")), f"{noun} checks nothing.", meant)
    return checks


def _server(reading: Reading, value: str | dict[str, Any] | None, suite: str) -> ServerSpec | str | None:
    return read_server(reading, ("server",), value, suite) if isinstance(value, dict) else value
