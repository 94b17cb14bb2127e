"""The format of a suite as tables: every key, what it means, and what people write by mistake.

The reader (`harness.suites.mxcp`) and the JSON Schema (`harness.suites.schema`) both come from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.documents.fields import (
    VERSIONS,
    Field,
    Layout,
    as_list,
    as_mapping,
    as_mapping_or_line,
    as_version,
    integer,
    line,
    lines,
    mapping,
    number,
    text,
)
from harness.errors import InvalidValue
from harness.suites import Vocabulary
from harness.types import DEFAULT_TIMEOUT_S, Limits

_LIMITS = {
    "timeout": number(
        "Seconds that one trial may take, from its first request to its answer.",
        unit="seconds",
        default=DEFAULT_TIMEOUT_S,
    ),
    "max_turns": integer("Model replies in one trial.", least=1, default=Limits().max_turns),
    "max_calls": integer("Tool calls in one trial.", least=0, default=Limits().max_calls),
    "max_tokens": integer("Input plus output tokens of one trial.", least=1),
    "max_cost": number("US dollars that one trial may cost.", unit="US dollars", positive=False),
}
_LABELS = {
    "tags": lines("Labels to pick tests by with -k. Those of the suite hold for each of its tests."),
    "metadata": mapping("Anything; carried to every report. A test's own keys go before those of the suite."),
}


def _tests(value: Any) -> list[Any]:
    if isinstance(value, dict):
        raise InvalidValue("expected a list of tests, found a mapping", meant="Begin each test with '- name: …'.")
    if not as_list(value):
        raise InvalidValue("there are no tests", meant="Add at least one test: '- name: …'.")
    return as_list(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layouts:
    """The parts of the format that depend on the checks there are."""

    suite: Layout
    """The file itself."""
    test: Layout
    """An item of ``tests:``."""
    assertions: Layout
    """``assertions:`` of a test; each field parses to what `Vocabulary.parse` returns."""


def layouts(vocabulary: Vocabulary) -> Layouts:
    """Return the format for suites that may use the checks of ``vocabulary``."""
    checks = {name: _check(vocabulary, name) for name in vocabulary.names()}
    suite = {**_SUITE_FIELDS, **_LIMITS, **_LABELS}
    test = {**_TEST_FIELDS, **({"expected_answer": checks["expected_answer"]} if "expected_answer" in checks else {})}
    test = {**test, **_LIMITS, **_LABELS}
    asserted = dict.fromkeys(checks, "Put it under 'assertions:' of a test.")
    in_test = dict.fromkeys(test, "Put it into a test, under 'tests:'.")
    in_suite = dict.fromkeys(suite, "Put it at the top of the suite.")
    return Layouts(
        suite=Layout(fields=suite, elsewhere={**asserted, **in_test, **_MISPLACED, **_SUITE_MISPLACED}),
        test=Layout(fields=test, elsewhere={**in_suite, **asserted, **_unknown_judge(checks), **_MISPLACED}),
        assertions=Layout(fields=checks, elsewhere={**in_test, **_unknown_judge(checks), **_MISPLACED}),
    )


def _check(vocabulary: Vocabulary, name: str) -> Field:
    return Field(schema=vocabulary.schema(name), parse=partial(vocabulary.parse, name))


def _unknown_judge(checks: Mapping[str, Field]) -> dict[str, str]:
    if "expected_answer" in checks:
        return {}
    return {"expected_answer": "There is no check of that name here; 'answer_contains' needs no judge."}


_IN_CONFIGURATION = "Remove it: that belongs to the configuration, not to a suite."
_MISPLACED = {
    "project": _IN_CONFIGURATION,
    "profile": _IN_CONFIGURATION,
    "expected_tool": "Use assertions.must_call to name the tool that must be called.",
    "expected_tools": "Use assertions.must_call to name the tools that must be called.",
    "tools": "Remove it: a suite tests the tools that the server has, and defines none.",
    "resources": "Remove it: a suite tests tools, not resources.",
}
_SUITE_MISPLACED = {
    "name": "The name of a suite stands under 'suite:'.",
    "cases": "The tests of a suite stand under 'tests:'.",
    "user_context": "Put it into each test that it is meant for.",
}

_SUITE_FIELDS = {
    "mxcp": Field(schema={"enum": list(VERSIONS), "description": "Version of the format: 1."}, parse=as_version),
    "suite": line("Name of the suite, unique in the project.", required=True),
    "description": text("What the suite is about."),
    "model": line("The model that answers, unless --model names another."),
    "expected_answer_model": line("The model that judges answers, where a check needs one."),
    "judge_model": line("The same as expected_answer_model."),
    "system_prompt": text("Sent to the model ahead of every prompt."),
    "server": Field(
        schema={
            "anyOf": [{"type": "string", "pattern": r"\S"}, {"$ref": "#/$defs/server"}],
            "description": "The server to test: the name of a configured one, or how to start it. "
            "Without it, the configured server that is named like the suite.",
        },
        parse=as_mapping_or_line,
    ),
    "tests": Field(
        schema={"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/test"}, "description": "The tests."},
        parse=_tests,
        required=True,
    ),
}
_TEST_FIELDS = {
    "name": line("Name of the test, unique in the suite.", required=True),
    "description": text("What the test is for, in a sentence."),
    "prompt": text("What the user says.", required=True),
    "user_context": mapping("Who asks, as the server is told: any keys, any values. The model never sees it."),
    "assertions": Field(
        schema={"$ref": "#/$defs/assertions", "description": "What must come of the prompt."}, parse=as_mapping
    ),
}
