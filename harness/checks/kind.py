"""What most kinds of check are made of: a reader, a judge, and the finding between judge and report."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.checks import Evidence
from harness.errors import InvalidValue
from harness.matching.texts import clip
from harness.types import Check, CheckResult, JsonObject, JsonPath, Severity, Verdict

MAX_EXPLANATION = 1_500
"""Characters of an explanation: what fits on a screen beside its neighbours."""

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")

Parsed = Sequence[tuple[JsonPath, JsonObject]]
"""One (path in the suite's value, params) for each check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFinding:
    """What a judge found; its kind makes a `CheckResult` of it."""

    label: str
    """What was asked, in a few words, without the kind's name."""
    verdict: Verdict
    """How it went."""
    expected: Any = None
    """What was asked (JSON)."""
    actual: Any = None
    """What was found (JSON)."""
    explanation: Sequence[str] = ()
    """Lines; the first says what is wrong in words that people search for."""
    hint: str | None = None
    """What usually helps in this case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDoc:
    """What ``docs/checks.md`` and an editor say of a kind of check, in Markdown."""

    section: str
    """The heading under which it stands."""
    asks: str
    """What it asks, in a sentence or two."""
    fails: tuple[str, ...]
    """What the text of a failure begins with."""
    example: str
    """YAML as it stands under ``assertions:``."""

    @property
    def plain(self) -> str:
        """What it asks, with the words of links alone."""
        return _LINK.sub(r"\1", self.asks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A `harness.checks.CheckKind` that judges by a plain function."""

    name: str
    """What suites call it."""
    schema: JsonObject
    """JSON Schema of its value."""
    read: Callable[[Any], Parsed]
    """Turns a suite's value into params."""
    judge: Callable[[JsonObject, Evidence], CheckFinding]
    """Decides."""
    doc: CheckDoc | None = None
    """Its row in the documentation."""

    def parse(self, value: Any) -> Parsed:
        """Return ``(path, params)`` for each check that ``value`` asks for.

        Raises:
            InvalidValue: with the path to what does not fit.
        """
        return self.read(value)

    async def evaluate(self, check: Check, evidence: Evidence) -> CheckResult:
        """Judge; a severity in the params outranks the check's own."""
        return conclude(check, self.judge(check.params, evidence))


def conclude(check: Check, finding: CheckFinding) -> CheckResult:
    """Return the result of ``check``, its explanation within `MAX_EXPLANATION`."""
    severity: Severity = check.params.get("severity", check.severity)
    return CheckResult(
        kind=check.kind,
        label=clip(f"{check.kind} {finding.label}".rstrip(), 120),
        verdict=finding.verdict,
        severity=severity,
        expected=finding.expected,
        actual=finding.actual,
        explanation=clip("\n".join(finding.explanation), MAX_EXPLANATION),
        hint=None if finding.hint is None else clip(finding.hint, MAX_EXPLANATION // 2),
        at=check.at,
    )


def passed_if(condition: bool) -> Verdict:  # noqa: FBT001 - reads as a sentence where it is called
    """Return the verdict of a check that is decided by ``condition``."""
    return "passed" if condition else "failed"


def single(reader: Callable[[Any], JsonObject]) -> Callable[[Any], Parsed]:
    """Return a reader of a kind whose whole value is one check."""
    return lambda value: (((), reader(value)),)


def several(reader: Callable[[Any, JsonPath], JsonObject]) -> Callable[[Any], Parsed]:
    """Return a reader of a kind that takes a list, each item a check of its own; a lone item needs no list."""

    def read(value: Any) -> Parsed:
        if value is None:
            raise InvalidValue(
                "there is no value",
                meant="Write a list of at least one item, or leave the key out.",
            )
        if isinstance(value, list | tuple):
            return tuple(((index,), reader(item, (index,))) for index, item in enumerate(value))
        return (((), reader(value, ())),)

    return read


def one_or_list(item: JsonObject) -> JsonObject:
    """Return the schema of what `several` reads."""
    return {"anyOf": [item, {"type": "array", "items": item}]}
