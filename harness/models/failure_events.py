"""What happened instead of a reply, and whose doing it is: the one table of APIs' words.

The same event arrives as an HTTP status, in a body with status 200, in ``choices[0].error``, as an
event of a stream, or as a reply's own word for its ending. Its words decide, and not the way by
which they came: first its codes, then known phrases, then the status, then the words that many
causes share. Words that nobody knows are the provider's, and are not asked for again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from harness.types import ErrorKind, ReplyStop

Event: TypeAlias = Literal[
    "malformed_call",
    "refusal",
    "max_tokens",
    "context",
    "rate_limit",
    "no_credit",
    "overloaded",
    "auth",
    "unknown_model",
    "bad_request",
    "server_error",
    "unexplained",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """What an event means for a trial."""

    party: ErrorKind
    """Whose doing it is."""
    stop: ReplyStop | None = None
    """How a reply of the model ends so; ``None`` if this is no reply of the model."""
    passing: bool = False
    """Whether another attempt may succeed."""


MEANINGS: Final[Mapping[Event, Meaning]] = {
    "malformed_call": Meaning(party="model", stop="malformed_call"),
    "refusal": Meaning(party="model", stop="refusal"),
    "max_tokens": Meaning(party="model", stop="max_tokens"),
    # Before any result of a tool, prompt and tools alone are too large: that is configured.
    "context": Meaning(party="configuration", stop="context_limit"),
    "rate_limit": Meaning(party="provider", passing=True),
    "no_credit": Meaning(party="configuration"),
    "overloaded": Meaning(party="provider", passing=True),
    "auth": Meaning(party="configuration"),
    "unknown_model": Meaning(party="configuration"),
    "bad_request": Meaning(party="configuration"),
    "server_error": Meaning(party="provider", passing=True),
    "unexplained": Meaning(party="provider"),
}


def _letters(word: str) -> str:
    return re.sub(r"[^a-z0-9]", "", word.lower())


def _by_word(events: Mapping[Event, str]) -> Mapping[str, Event]:
    return {_letters(word): event for event, words in events.items() for word in words.split()}


# Case, dashes and underscores do not count.
_CODES = _by_word(
    {
        "malformed_call": "tool_use_failed output_parse_failed json_validate_failed tool_error "
        "malformed_function_call malformed_tool_call malformed_tool_use malformed_model_output "
        "malformed_response unexpected_tool_call invalid_tool_call invalid_function_call "
        "tool_call_parse_error function_call_filter",
        "refusal": "content_filter content_filtered content_filter_error content_policy_violation "
        "content_policy responsible_ai_policy_violation safety image_safety prohibited_content "
        "recitation blocklist spii refusal guardrail_intervened moderation moderation_blocked "
        "sensitive data_inspection_failed content_blocked",
        "max_tokens": "length max_tokens max_output_tokens max_tokens_reached",
        "context": "context_length_exceeded context_window_exceeded context_window_exceeded_error "
        "model_context_window_exceeded model_length exceed_context_size_error context_exceeded "
        "context_length_error prompt_too_long input_too_long request_too_large max_context_length",
        "no_credit": "insufficient_quota billing_hard_limit_reached billing_not_active "
        "billing_error insufficient_balance insufficient_credits payment_required",
        "rate_limit": "rate_limit_exceeded rate_limit_error rate_limit rate_limited "
        "resource_exhausted throttling_exception throttling too_many_requests",
        "overloaded": "overloaded overloaded_error engine_overloaded engine_overloaded_error "
        "model_overloaded unavailable unavailable_error service_unavailable "
        "service_unavailable_error capacity_exceeded insufficient_system_resource",
        "auth": "invalid_api_key api_key_invalid authentication_error authentication_failed "
        "permission_error permission_denied unauthenticated unauthorized forbidden "
        "invalid_authentication invalid_organization account_deactivated",
        "unknown_model": "model_not_found not_found_error not_found deployment_not_found "
        "unknown_model invalid_model",
        "bad_request": "unsupported_parameter unsupported_value unknown_parameter invalid_value "
        "missing_required_parameter invalid_type invalid_function_parameters invalid_schema",
    }
)
# These say little: the status, where there is one, says more.
_SHARED = _by_word(
    {
        "bad_request": "invalid_request_error invalid_request invalid_argument invalid_parameter "
        "bad_request bad_request_error validation_error",
        "server_error": "server_error api_error internal internal_error internal_server_error "
        "timeout timeout_error deadline_exceeded network_error model_error",
    }
)

_FLAGS = re.IGNORECASE | re.DOTALL
_STATUSES: Final[Mapping[int, Event]] = {
    401: "auth",
    402: "no_credit",
    403: "auth",
    404: "unknown_model",
    407: "auth",
    408: "server_error",
    409: "server_error",  # a lock at the provider
    413: "context",
    425: "server_error",
    429: "rate_limit",
    501: "bad_request",
    503: "overloaded",
    529: "overloaded",
}

_PHRASES: Final[Mapping[Event, str]] = {
    "malformed_call": r"""
        error parsing tool call
        failed to parse (?:input|generated text|fc related info)
        failed to call a function
        tool call validation failed
        invalid tool generation
        (?:fail\w* to|unable to|can ?not) parse.{0,40}(?:tool|function)[ _-]?calls?\b
        (?:malformed|invalid|unparsable) (?:tool|function)[ _-]?(?:call|use)\b
        (?:tool|function)[ _-]?call\b.{0,40}(?:malformed|unparsable|not valid json|invalid json)
        (?:tool|function)[ _-]?call\b.{0,40}(?:could ?n[o']t|can ?not) be parsed
        model (?:generated|produced|output).{0,60}(?:could ?n[o']t|can ?not) be parsed
        unexpected tokens remaining in message header
        no function found in generated text
        invalid sequence as part of tooluse""",
    "max_tokens": r"""
        could not finish the message because max_tokens
        (?:max_tokens|output token limit|model output limit) (?:was |is )?reached""",
    "context": r"""
        maximum context length
        (?:prompt|input) (?:is )?too (?:long|large)
        prompt exceeds max
        reduce the length of the (?:messages|prompt|input)
        range of input length
        input token count.{0,60}exceeds
        (?:exceed|too (?:long|large)|(?:larg|long|great)er than).{0,60}(?:context|n_ctx|num_ctx)
        (?:exceed|too (?:long|large)|(?:larg|long|great)er than).{0,60}max_(?:model|seq)_len
        exceed.{0,60}maximum (?:allowed )?(?:input|prompt|sequence) length
        context (?:length|window|size|limit).{0,60}(?:exceed|overflow|too (?:small|large))""",
    "refusal": r"""
        content (?:filter|management|policy)
        inappropriate content
        flagged as potentially violating
        \b(?:input|prompt|output|response|request)s? (?:was|were|has been|is) (?:blocked|flagged)
        \b(?:prompt|output|response) (?:was|were|has been|is|got) (?:filtered|moderated)
        violat\w* .{0,30}(?:usage|content|safety) polic""",
    "no_credit": r"""
        credit balance is too low
        insufficient (?:credits?|balance|funds)
        payment required
        check your plan and billing
        requires more credits""",
    "unknown_model": r"""
        \bmodel\b.{0,100}(?:does not exist|not found)
        not a valid model""",
    "bad_request": r"""
        unsupported (?:parameter|value)
        unknown parameter""",
}
"""One pattern a line. The first event that fits counts."""
_PATTERNS: Final = tuple(
    (event, re.compile("|".join(line.strip() for line in phrases.strip().split("\n")), _FLAGS))
    for event, phrases in _PHRASES.items()
)
_OF_ANY_STATUS: Final = frozenset({"no_credit"})
"""What a phrase may say beside a status that asks for fewer requests or for another key: there,
words on tokens and lengths speak of rates and of rights."""
_SPEAKING_STATUSES: Final = frozenset({401, 429, 529})


def event_of(codes: Iterable[str], text: str, status: int | None) -> Event:
    """Return the event that an error's ``codes`` (the most exact first), text and status tell.

    ``status`` is an HTTP status of an error; ``None`` if it came with a status 200.
    """
    words = [_letters(code) for code in codes]
    for word in words:
        if word in _CODES:
            return _CODES[word]
    for event, phrase in _PATTERNS:
        if phrase.search(text) and (status not in _SPEAKING_STATUSES or event in _OF_ANY_STATUS):
            return event
    if status is not None and status >= 400:  # noqa: PLR2004 - HTTP's own numbers
        otherwise: Event = "server_error" if status >= 500 else "bad_request"  # noqa: PLR2004
        return _STATUSES.get(status, otherwise)
    return next((_SHARED[word] for word in words if word in _SHARED), "unexplained")


def event_of_ending(word: str) -> Event | None:
    """Return the event that a reply's word for its ending tells; ``None`` if it tells none.

    Gateways put the provider's own word behind their own: ``content_filter: SAFETY``.
    """
    for part in (word, *reversed(word.split(":"))):
        letters = _letters(part)
        if event := _CODES.get(letters) or _SHARED.get(letters):
            return event
    return None
