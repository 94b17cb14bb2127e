"""Find unknown fields under ``without``: a typo such as ``without: [emial]`` must not pass.

A missing field is evidence only if another result or a tool's output schema has the field. So the
names are looked up in all successful results of all identities of a suite, and in the output
schemas of its tools. If no other identity got an answer, the names are not checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.base import did_you_mean
from harness.judging.checks.absent_fields import read_masks
from harness.judging.matching.json_values import every_field
from harness.judging.policy import View
from harness.types import CheckResult, TrialError, TrialResult


def check_known_fields(
    results: Sequence[TrialResult], views: Iterable[View]
) -> Iterator[TrialResult]:
    """Yield ``results``; a passed check with an unknown field turns its result into an error."""
    found = _ShownFields(views)
    for result in results:
        checks = tuple(
            found.judge_check(check, result.case.identity or "") for check in result.checks
        )
        # A failed trial stays failed: an error would hide what it failed by.
        if checks == result.checks or result.status != "passed":
            yield result
            continue
        said = [new for new, old in zip(checks, result.checks, strict=True) if new != old]
        words = "; ".join(f"{check.label}: {check.explanation}" for check in said)
        error = TrialError(kind="judge", message=words)
        yield replace(result, checks=checks, status="error", error=error)


class _ShownFields:
    """The names of all fields in the results of all identities."""

    def __init__(self, views: Iterable[View]) -> None:
        self._paths: dict[str, str] = {}
        self._answered: set[tuple[str, str]] = set()
        seen: set[str] = set()
        for view in views:
            for tool in view.tools.tools:
                self._add_names(
                    (str(name), str(name))
                    for field in every_field(tool.output_schema)
                    if field.name == "properties" and isinstance(field.value, Mapping)
                    for name in field.value
                )
            for result in view.results:
                # An empty answer has no fields, so it is no evidence against a name.
                if result.call.outcome == "ok" and result.leaves:
                    # The empty name stands for any tool, as a check may name none.
                    self._answered |= {(view.identity, result.call.tool), (view.identity, "")}
                if result.call.outcome == "ok" and result.fingerprint not in seen:
                    seen.add(result.fingerprint)
                    for form in (result.call.structured, result.text_json):
                        self._add_names((field.path, field.name) for field in every_field(form))
                    self._add_names((leaf.path, leaf.name) for leaf in result.leaves)

    def _add_names(self, paths: Iterable[tuple[str, str]]) -> None:
        for path, name in paths:
            # As the names under `without` are compared (`find_given_fields`).
            self._paths[path.replace("[]", "").casefold()] = name

    def judge_check(self, check: CheckResult, identity: str) -> CheckResult:
        """Return ``check``, as not judged if it passed for an unknown field."""
        if "decides_access" not in check.traits or check.verdict != "passed":
            return check
        if not isinstance(check.expected, Mapping) or self._may_be_absent(check.expected, identity):
            return check
        unknown = [name for name in read_masks(check.expected) if not self._is_known(name)]
        if not unknown:
            return check
        meant = did_you_mean(unknown[0], sorted(set(self._paths.values())))
        return replace(
            check,
            verdict="not_judged",
            explanation=f"No result has a field {' or '.join(map(repr, unknown))}, so there is no "
            f"evidence that it is left out.{' ' + meant if meant else ''}",
            hint="Correct the name; if no result is meant to have it, write without: {fields: […], "
            "allow_unknown: true}.",
        )

    def _may_be_absent(self, expected: Mapping[str, Any], identity: str) -> bool:
        """Whether a check names no field, allows unknown ones, or only one identity got any."""
        without = expected.get("without", ())
        allowed = isinstance(without, Mapping) and without.get("allow_unknown")
        tool = expected.get("tool", "")
        others = any(name != identity and of == tool for name, of in self._answered)
        return not without or bool(allowed) or not others

    def _is_known(self, name: str) -> bool:
        wanted = name.casefold().replace("[]", "")
        return wanted in self._paths or any(path.endswith(f".{wanted}") for path in self._paths)
