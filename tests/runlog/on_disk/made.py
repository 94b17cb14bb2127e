"""Results for the tests of this folder."""

from __future__ import annotations

from hypothesis import strategies as st

from harness.types import CaseFacts, CheckResult, TrialError, TrialResult, Usage

VALUES = (0, 0.0, False, None, 1, 1.0, True, "1", [1], {"a": 1}, "\ud800")
"""Values that are partly equal, and written otherwise."""


def a_result(key: str, *, case: str = "c", trial: int = 1, value: object = None) -> TrialResult:
    """Return a result with ``value`` in its case and in its checks."""
    return TrialResult(
        key=key,
        suite="s",
        case=CaseFacts(name=case, metadata={"value": value}),
        model="m",
        trial=trial,
        status="failed",
        checks=(CheckResult(kind="k", label="k", verdict="failed", actual=value),),
        error=TrialError(kind="server", message=str(value)) if value else None,
        usage=Usage(input_tokens=trial, cost_usd=None if value is None else 0.5),
        outcomes={"ok": trial} if trial > 1 else None,
    )


results = st.builds(
    a_result,
    st.text(max_size=3) | st.just("\ud800"),
    case=st.sampled_from("abc"),
    trial=st.integers(1, 6),
    value=st.sampled_from(VALUES),
)
