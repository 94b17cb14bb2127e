"""Findings on a server's access policy, and where a run's own kind of findings comes from.

Also what an auditor asks of a probe: when, by what, of what inputs, what was tried and found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeAlias

from harness.base import Registry
from harness.judging import group_by_value, leak_lines
from harness.reports.case_names import case_name
from harness.reports.sections.sentences import format_problem, get_repeat_command, sort_by_urgency
from harness.runlog import RunLog
from harness.types import JsonObject, Leak, Report, dataclass

Problem: TypeAlias = Literal[
    "leak",
    "unexpected",
    "hidden_callable",
    "fails_open",
    "token_accepted",
    "token_echoed",
    "token_swapped",
    "smuggled_identity",
    "opened_by_arguments",
    "opened_by_request",
    "unchecked_value",
    "foreign_cursor",
    "other_road",
    "shared_state",
    "interference",
    "consent_gate",
    "secret_asked",
    "public_cache",
    "unstable",
    "unobserved",
]
"""Kinds of findings:

- ``leak``: a value that is withheld from an identity in one place appears in another
  (`harness.judging.policy.leaks`).
- ``unexpected``: the decision on a call differs from the suite's expectation, or a tool is listed
  that the suite expects to be hidden.
- ``hidden_callable``: a tool is not listed for an identity, but calling it works.
- ``fails_open``: a damaged identity gets more data or tools than its original.
- ``token_accepted``: the server accepted a token that a verifier must refuse.
- ``token_echoed``: an answer contains the token that was sent to the server.
- ``token_swapped``: in another caller's session, a token (or none) gives data that its owner does
  not get in an own session.
- ``smuggled_identity``: a call with another identity's attributes in its arguments or ``_meta``
  gives data that is withheld from the caller.
- ``opened_by_arguments``: a call with tampered arguments, or repeated, gives data that is withheld
  from the caller.
- ``opened_by_request``: a resource, a prompt or a completion that the caller was not shown gives
  data that is withheld from them.
- ``unchecked_value``: a call with a value known from another tool, an identity or an answer gives
  data that is withheld from the caller, or works with a path that another tool refuses to all.
- ``interference``: an answer changes when a value is altered that its caller must not see.
- ``foreign_cursor``: a call with another caller's cursor gives data that the caller's own pages
  withhold.
- ``other_road``: an answer has what a suite says that its caller does not get, by another road than
  the call that it names: another tool, a list of fields, a search, a resource, a change.
- ``shared_state``: the calls of one identity use up the quota of another, shut it out, or are told
  to it.
- ``consent_gate``: a tool that asks its user before it changes something does it without their
  consent, for somebody who may not give it, or does not say what will happen.
- ``secret_asked``: a form of the server asks for a secret.
- ``public_cache``: a list or a resource that differs between identities is declared public, so that
  a shared cache gives one of them what is meant for the other.
- ``unstable``: the answer to the same call of the same caller depends on the previous caller, in
  its fields, its outcome, or by repeating another caller's answer; each repetition confirmed it.
- ``unobserved``: no answer shows that the server takes the identity into account."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeFinding:
    """One finding of a probe."""

    problem: Problem
    """The kind of finding."""
    words: str
    """The finding on one line."""
    callers: tuple[str, ...] = ()
    """The identities concerned."""
    call: str | None = None
    """The call that showed it."""
    after: str | None = None
    """The identity who made this call right before, in the same process, if that is needed."""
    shown: tuple[str, ...] = ()
    """Further lines with evidence, if any."""
    is_judged: bool = False
    """Whether the checks of the call fail for it already, wherever its log is read."""


FINDINGS_OF: Registry[Callable[[RunLog], Iterable[ProbeFinding]]] = Registry(
    "harness.findings", "kind of run", {}
)
"""Key in the metadata of a run's cases → function from the run's log to its findings.

A room above this one adds its kind of run by an entry point."""


def build_leak_findings(leaks: Iterable[Leak]) -> Iterator[ProbeFinding]:
    """Yield a finding for each value that leaked to an identity."""
    for leak, _ in group_by_value(leaks):
        yield ProbeFinding(
            problem="leak",
            words="; ".join(leak_lines(leak)[:2]),
            callers=(leak.identity,),
            call=leak.case,
            is_judged=True,
        )


_PARTS = {
    "digest": "all inputs",
    "suites": "tests and expectations",
    "identities": "identities",
    "server": "server",
    "tools": "tool lists",
    "expected": "kept decisions (--expect)",
    "altered": "altered values",
    "options": "options",
}
"""Key of the header's ``inputs`` → what it is the SHA-256 of."""


def get_inputs(report: Report) -> JsonObject | None:
    """Return the digests of a probe's inputs; ``None`` for other runs."""
    found: JsonObject | None = report.settings.get("inputs")
    return found


def build_audit(report: Report, log: RunLog) -> JsonObject | None:
    """Return ``{"facts", "findings", "told"}``, texts as they are; ``None`` if it is no probe.

    ``facts`` are pairs of name and value, ``findings`` have ``words`` and, where one call shows
    them, the ``command`` that makes it again.
    """
    inputs = get_inputs(report)
    if inputs is None:
        return None
    footer = log.footer
    return {
        "facts": [
            ["run", report.run_id],
            ["started", report.started_at],
            ["finished", report.finished_at or "not at all"],
            ["harness", str(inputs.get("harness", ""))],
            *(
                [f"SHA-256 of {words}", str(inputs[part])]
                for part, words in _PARTS.items()
                if part in inputs
            ),
        ],
        "findings": [*_iterate_findings(report)],
        "told": [] if footer is None else list(footer.told),
    }


def _iterate_findings(report: Report) -> Iterator[JsonObject]:
    for case in sort_by_urgency(report):
        if case.status != "passed":
            shown = case.deciding_trial
            words = f"{case_name(case, report)}: {format_problem(shown)}"
            yield {"words": words, "command": get_repeat_command(shown) or ""}
