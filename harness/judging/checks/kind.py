"""Building blocks of most kinds of check: a reader, a judging function, and its finding."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.base import InvalidValue
from harness.judging.checks import Evidence
from harness.judging.checks.contradictions import Claim
from harness.judging.matching.texts import clip_text
from harness.types import Check, CheckResult, JsonObject, JsonPath, Severity, Verdict

MAX_EXPLANATION = 1_500
"""Characters of an explanation: they must fit on a screen beside others."""

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")

Parsed = Sequence[tuple[JsonPath, JsonObject]]
"""One (path in the suite's value, params) for each check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFinding:
    """What a judging function found; its kind makes a `CheckResult` of it."""

    label: str
    """What was checked, in a few words, without the kind's name."""
    verdict: Verdict
    """Whether it passed."""
    expected: Any = None
    """What was expected (JSON)."""
    actual: Any = None
    """What was found (JSON)."""
    explanation: Sequence[str] = ()
    """Lines; the first says what is wrong, in words that users search for."""
    hint: str | None = None
    """Advice for this case."""
    facts: Mapping[str, bool] = field(default_factory=dict)
    """Of a check of a policy, `harness.judging.checks.policy_facts.policy_facts`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDoc:
    """The documentation of a kind of check for ``docs/checks.md`` and editors, in Markdown."""

    section: str
    """The heading of its section."""
    asks: str
    """What it requires, in a sentence or two."""
    fails: tuple[str, ...]
    """The beginnings of its failure messages."""
    example: str
    """YAML as written under ``assertions:``."""

    @property
    def plain(self) -> str:
        """What it requires, links reduced to their words."""
        return _LINK.sub(r"\1", self.asks)


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionKind:
    """A `harness.judging.checks.CheckKind` that judges by a plain function."""

    name: str
    """Its name in suites."""
    schema: JsonObject
    """JSON Schema of its value."""
    read: Callable[[Any], Parsed]
    """Turns a suite's value into params."""
    judge: Callable[[JsonObject, Evidence], CheckFinding]
    """Judges."""
    doc: CheckDoc | None = None
    """Its row in the documentation."""
    takes_invalid: bool = False
    """Whether a call that it describes may be invalid by the tool's schema."""
    claims: Callable[[JsonObject], Iterable[Claim]] = lambda _params: ()
    """What params claim, to find checks that contradict each other."""

    def parse(self, value: Any) -> Parsed:
        """Return ``(path, params)`` for each check in ``value``.

        Raises:
            InvalidValue: with the path to the invalid part.
        """
        return self.read(value)

    async def evaluate(self, check: Check, evidence: Evidence) -> CheckResult:
        """Judge; a severity in the params takes precedence over the check's own."""
        return build_check_result(check, self.judge(check.params, evidence))


def build_check_result(check: Check, finding: CheckFinding) -> CheckResult:
    """Return the result of ``check``, its explanation cut to `MAX_EXPLANATION`."""
    severity: Severity = check.params.get("severity", check.severity)
    return CheckResult(
        kind=check.kind,
        label=clip_text(f"{check.kind} {finding.label}".rstrip(), 120),
        verdict=finding.verdict,
        severity=severity,
        expected=finding.expected,
        actual=finding.actual,
        explanation=clip_text("\n".join(finding.explanation), MAX_EXPLANATION),
        hint=None if finding.hint is None else clip_text(finding.hint, MAX_EXPLANATION // 2),
        at=check.at,
        attempted=finding.facts.get("attempted"),
        reached_server=finding.facts.get("reached_server"),
        executed=finding.facts.get("executed"),
        line_crossed=finding.facts.get("line_crossed"),
    )


def passed_if(condition: bool) -> Verdict:  # noqa: FBT001 - reads as a sentence where it is called
    """Return the verdict of a check that depends on ``condition``."""
    return "passed" if condition else "failed"


def make_single_reader(reader: Callable[[Any], JsonObject]) -> Callable[[Any], Parsed]:
    """Return a reader of a kind whose whole value is one check."""
    return lambda value: (((), reader(value)),)


def make_list_reader(reader: Callable[[Any, JsonPath], JsonObject]) -> Callable[[Any], Parsed]:
    """Return a reader for a kind that takes a list of checks; a single item needs no list."""

    def read(value: Any) -> Parsed:
        if value is None or value in ([], ()):
            raise InvalidValue(
                "there is no value" if value is None else "this list is empty: nothing is checked",
                meant="Write a list of at least one item, or leave the key out.",
            )
        if isinstance(value, list | tuple):
            return tuple(((index,), reader(item, (index,))) for index, item in enumerate(value))
        return (((), reader(value, ())),)

    return read


def single_or_list_schema(item: JsonObject) -> JsonObject:
    """Return the schema of what a reader made by `make_list_reader` accepts."""
    return {"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]}
