"""Checks on what a case used: ``max_replies``, ``max_tokens``, ``max_cost`` and ``max_seconds``.

An unknown amount (a price, a token count) is not judged: it is neither a pass nor zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.judging.checks.evidence import Evidence
from harness.judging.checks.kind import (
    CheckDoc,
    CheckFinding,
    FunctionKind,
    make_single_reader,
    passed_if,
)
from harness.judging.checks.parsing import long_form, read_mapping, read_number, read_whole_number
from harness.types import JsonObject, Transcript


def _limit_kind(
    name: str,
    unit: str,
    used: Callable[[Transcript], float | None],
    hints: tuple[str, str],
    doc: CheckDoc,
) -> FunctionKind:
    """Return a kind that limits a quantity; ``hints`` are for too much and for unknown."""
    counted = name in ("max_replies", "max_tokens")
    least = int(name == "max_replies")  # every conversation has one

    def read(value: Any) -> JsonObject:
        found = (
            read_mapping(value, (), required=("limit",))
            if isinstance(value, Mapping)
            else {"limit": value}
        )
        path = ("limit",) if isinstance(value, Mapping) else ()
        limit = (
            read_whole_number(found["limit"], path, at_least=least)
            if counted
            else read_number(found["limit"], path, at_least=0)
        )
        return found | {"limit": limit}

    def judge(params: JsonObject, evidence: Evidence) -> CheckFinding:
        limit, amount = params["limit"], used(evidence.transcript)
        base = {"at_most": limit, "unit": unit}
        label = f"{limit:,}"
        # An unknown amount is neither zero nor within a limit.
        if amount is None:
            lines = [f"The limit of {limit:,} {unit} cannot be checked: the amount used is unknown"]
            return CheckFinding(
                label=label, verdict="not_judged", expected=base, explanation=lines, hint=hints[1]
            )
        over = amount > limit
        return CheckFinding(
            label=label,
            verdict=passed_if(not over),
            expected=base,
            actual=amount,
            explanation=[f"Too many {unit}: {_format_amount(amount)}, at most {limit:,} expected"]
            if over
            else (),
            hint=hints[0] if over else None,
        )

    amount_schema: JsonObject = {"type": "integer" if counted else "number", "minimum": least}
    schema = {"anyOf": [amount_schema, long_form({"limit": amount_schema}, required=("limit",))]}
    return FunctionKind(
        name=name, schema=schema, read=make_single_reader(read), judge=judge, doc=doc
    )


def _format_amount(amount: float) -> str:
    return f"{amount:,}" if isinstance(amount, int) else f"{amount:,.4g}"


def _count_tokens(transcript: Transcript) -> int | None:
    return transcript.usage.tokens


MAX_REPLIES = _limit_kind(
    "max_replies",
    "replies",
    lambda transcript: transcript.replies,
    ("Let one call return what now takes several, and let errors say what to do next.", ""),
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
    _count_tokens,
    (
        (
            "Shorten what tools return (filters, limits) and their descriptions: both are read "
            "again for every reply."
        ),
        "The provider did not report its tokens.",
    ),
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
    (
        "Shorten what tools return and their descriptions, or use a cheaper model.",
        (
            "The price of this model is not known: give input_price and output_price in its "
            "configuration."
        ),
    ),
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
    (
        (
            "See the time of each call and reply in the transcript (--debug): a slow tool, or many "
            "replies."
        ),
        "",
    ),
    doc=CheckDoc(
        section="Economy",
        asks="at most so many seconds, without waiting for rate limits and between attempts",
        fails=("Too many seconds: …",),
        example="max_seconds: {limit: 30, severity: warn}",
    ),
)
