"""Warnings of a trial: they are told beside its verdict, and never change it."""

from __future__ import annotations

from typing import Any

from harness.types import CheckResult


def build_warning(
    kind: str,
    label: str,
    explanation: str,
    *,
    actual: Any,
    expected: str = "none",
    hint: str | None = None,
) -> CheckResult:
    """Return the warning that ``actual`` was there where only ``expected`` should be."""
    return CheckResult(
        kind=kind,
        label=label,
        verdict="failed",
        severity="warn",
        expected=expected,
        actual=actual,
        explanation=explanation,
        hint=hint,
    )
