"""What is told of an agent besides its verdict: what is not seen of it, and what was refused."""

from __future__ import annotations

from harness.judging.trial_warnings import build_warning
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
            build_warning(
                "own_tools",
                "own_tools",
                f"The agent used tools of its own, and what they did is not seen: {used}.",
                actual=dict(facts.own_tools),
                hint="List under 'tools' of its entry only what it needs; by default it has none.",
            )
        )
    if facts.refused_requests:
        one = facts.refused_requests == 1
        words = "1 request" if one else f"{facts.refused_requests} requests"
        found.append(
            build_warning(
                "refused_requests",
                "refused_requests",
                f"{words} without the session's token {'was' if one else 'were'} refused.",
                actual=facts.refused_requests,
                hint="The agent, or another program, tried addresses that it was not given.",
            )
        )
    return tuple(found)
