"""What is told of an agent besides its verdict: what is not seen of it, and what was refused."""

from __future__ import annotations

from harness.types import CheckResult, Transcript


def conduct_warnings(transcript: Transcript) -> tuple[CheckResult, ...]:
    """Return a warning for own tools that an agent used, and one for refused requests.

    They do not change the verdict.
    """
    facts = transcript.agent
    if facts is None:
        return ()
    found = []
    if facts.own_tools:
        used = ", ".join(f"{name} {times}" for name, times in sorted(facts.own_tools.items()))
        found.append(
            _warning(
                "own_tools",
                dict(facts.own_tools),
                f"The agent used tools of its own, and what they did is not seen: {used}.",
                "List under 'tools' of its entry only what it needs; by default it has none.",
            )
        )
    if facts.refused_requests:
        one = facts.refused_requests == 1
        words = "1 request" if one else f"{facts.refused_requests} requests"
        found.append(
            _warning(
                "refused_requests",
                facts.refused_requests,
                f"{words} without the session's token {'was' if one else 'were'} refused.",
                "The agent, or another program, tried addresses that it was not given.",
            )
        )
    return tuple(found)


def _warning(kind: str, actual: object, explanation: str, hint: str) -> CheckResult:
    return CheckResult(
        kind=kind,
        label=kind,
        verdict="failed",
        severity="warn",
        expected="none",
        actual=actual,
        explanation=explanation,
        hint=hint,
    )
