"""Checks on what a case used: ``max_replies``, ``max_tokens``, ``max_cost`` and ``max_seconds``.

An unknown amount (a price, a token count) is not judged: it is neither a pass nor zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from harness.judging.checks.kind import (
    CheckDoc,
    CheckFinding,
    Evidence,
    FunctionKind,
    make_single_reader,
)
from harness.judging.checks.parsing import (
    either_form,
    read_either_form,
    read_number,
    read_whole_number,
)
from harness.types import JsonObject, Transcript


def _limit_kind(
    name: str,
    unit: str,
    used: Callable[[Transcript], float | None],
    *,
    too_much: str,
    unknown: str = "",
    doc: CheckDoc,
) -> FunctionKind:
    """Return a kind that limits a quantity, with the hints for ``too_much`` and for ``unknown``."""
    counted = name in ("max_replies", "max_tokens")
    least = int(name == "max_replies")  # every conversation has one
    read_limit = partial(read_whole_number if counted else read_number, at_least=least)

    def judge(params: JsonObject, evidence: Evidence) -> CheckFinding:
        limit, amount = params["limit"], used(evidence.transcript)
        found = CheckFinding(
            label=f"{limit:,}", expected={"at_most": limit, "unit": unit}, actual=amount
        )
        # An unknown amount is neither zero nor within a limit.
        if amount is None:
            line = f"The limit of {limit:,} {unit} cannot be checked: the amount used is unknown"
            return replace(found, verdict="not_judged", why=([line], unknown))
        if amount <= limit:
            return found
        shown = f"{amount:,}" if isinstance(amount, int) else f"{amount:,.4g}"
        line = f"Too many {unit}: {shown}, at most {limit:,} expected"
        return replace(found, why=([line], too_much))

    return FunctionKind(
        name=name,
        needs_model=name != "max_seconds",
        needs_session=name == "max_seconds",
        schema=either_form("limit", {"type": "integer" if counted else "number", "minimum": least}),
        read=make_single_reader(lambda value: read_either_form(value, (), "limit", read_limit)),
        judge=judge,
        doc=doc,
    )


MAX_REPLIES = _limit_kind(
    "max_replies",
    "replies",
    lambda transcript: transcript.replies,
    too_much="Let one call return what now takes several, and let errors say what to do next.",
    doc=CheckDoc(
        section="Economy",
        asks="at most so many replies of the model",
        fails=("Too many replies: 7, at most 5 expected",),
        example="max_replies: 5  # long: {limit: 5, severity: warn}",
    ),
)
MAX_TOKENS = _limit_kind(
    "max_tokens",
    "tokens",
    lambda transcript: transcript.usage.tokens,
    too_much="Shorten what tools return (filters, limits) and their descriptions: both are read "
    "again for every reply.",
    unknown="The provider did not report its tokens.",
    doc=CheckDoc(
        section="Economy",
        asks="at most so many tokens, input and output together",
        fails=("Too many tokens: …",),
        example="max_tokens: 20000",
    ),
)
MAX_COST = _limit_kind(
    "max_cost",
    "dollars",
    lambda transcript: transcript.usage.cost_usd,
    too_much="Shorten what tools return and their descriptions, or use a cheaper model.",
    unknown="The price of this model is not known: give input_price and output_price in its "
    "configuration.",
    doc=CheckDoc(
        section="Economy",
        asks="at most so many US dollars",
        fails=("Too many dollars: …",),
        example="max_cost: 0.05",
    ),
)
MAX_SECONDS = _limit_kind(
    "max_seconds",
    "seconds",
    # Waiting for a rate limit says nothing of the model or the tools.
    lambda transcript: max(0.0, transcript.latency_s - transcript.waited_s),
    too_much="See the time of each call and reply in the transcript (--debug): a slow tool, or "
    "many replies.",
    doc=CheckDoc(
        section="Economy",
        asks="at most so many seconds, without waiting for rate limits and between attempts",
        fails=("Too many seconds: …",),
        example="max_seconds: {limit: 30, severity: warn}",
    ),
)
