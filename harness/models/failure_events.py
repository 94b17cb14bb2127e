"""What happened instead of a reply, and whose doing it is: the one table of APIs' words.

The same event arrives as an HTTP status, in a body with status 200, in ``choices[0].error``, as an
event of a stream, or as a reply's own word for its ending. Its words decide, and not the way by
which they came: first its codes, then known phrases, then the status, then the words that many
causes share. Words that nobody knows are the provider's, and are not asked for again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypeAlias

from harness.base import compile_late
from harness.types import ErrorKind, ReplyStop, dataclass

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
class EventMeaning:
    """What an event means for a trial."""

    party: ErrorKind
    """Whose doing it is."""
    stop: ReplyStop | None = None
    """How a reply of the model ends so; ``None`` if this is no reply of the model."""
    passing: bool = False
    """Whether another attempt may succeed."""


MEANINGS: Final[Mapping[Event, EventMeaning]] = {
    "malformed_call": EventMeaning(party="model", stop="malformed_call"),
    "refusal": EventMeaning(party="model", stop="refusal"),
    "max_tokens": EventMeaning(party="model", stop="max_tokens"),
    # Before any result of a tool, prompt and tools alone are too large: that is configured.
    "context": EventMeaning(party="configuration", stop="context_limit"),
    "rate_limit": EventMeaning(party="provider", passing=True),
    "no_credit": EventMeaning(party="configuration"),
    "overloaded": EventMeaning(party="provider", passing=True),
    "auth": EventMeaning(party="configuration"),
    "unknown_model": EventMeaning(party="configuration"),
    "bad_request": EventMeaning(party="configuration"),
    "server_error": EventMeaning(party="provider", passing=True),
    "unexplained": EventMeaning(party="provider"),
}


def _keep_letters(word: str) -> str:
    return re.sub(r"[^a-z0-9]", "", word.lower())


def _index_by_word(events: Mapping[Event, str]) -> Mapping[str, Event]:
    return {_keep_letters(word): event for event, words in events.items() for word in words.split()}


# Case, dashes and underscores do not count, nor does "error" or "exception" at the end.
_CODES = _index_by_word(
    {
        "malformed_call": "tool_use_failed output_parse_failed json_validate_failed tool_error "
        "malformed_function_call malformed_tool_call malformed_tool_use malformed_model_output "
        "malformed_response unexpected_tool_call invalid_tool_call tool_call_parse_error "
        "function_call_filter tool_call_failed tool_call_generation_failed",
        "refusal": "content_filter content_filtered content_policy_violation "
        "content_policy responsible_ai_policy_violation safety image_safety prohibited_content "
        "recitation blocklist spii refusal guardrail_intervened moderation moderation_blocked "
        "sensitive data_inspection_failed content_blocked error_toxic sensitive_content_detected "
        "cyber_policy",
        "max_tokens": "length max_tokens max_output_tokens max_tokens_reached",
        "context": "context_length_exceeded context_window_exceeded context_exceeded "
        "model_context_window_exceeded model_length exceed_context_size max_context_length "
        "context_length_error prompt_too_long input_too_long request_too_large "
        "maximum_context_length_exceeded model_max_prompt_tokens_exceeded tokens_limit_reached",
        "no_credit": "insufficient_quota billing_hard_limit_reached billing_not_active "
        "billing_error insufficient_balance insufficient_credits payment_required "
        "not_enough_balance insufficient_user_quota exceeded_current_quota "
        "budget_exceeded credit_limit arrearage",
        "rate_limit": "rate_limit_exceeded rate_limit rate_limited rate_limit_reached "
        "resource_exhausted throttling too_many_requests",
        "overloaded": "overloaded engine_overloaded "
        "model_overloaded unavailable service_unavailable capacity_exceeded no_capacity "
        "insufficient_system_resource",
        "auth": "invalid_api_key api_key_invalid authentication_error authentication_failed "
        "permission_error permission_denied unauthenticated unauthorized forbidden access_denied "
        "invalid_authentication invalid_organization account_deactivated wrong_api_key",
        "unknown_model": "model_not_found not_found deployment_not_found "
        "unknown_model invalid_model model_decommissioned model_not_available model_not_supported "
        "model_not_open",
        "bad_request": "unsupported_parameter unsupported_value unknown_parameter invalid_value "
        "missing_required_parameter invalid_type invalid_function_parameters invalid_schema",
    }
)
# These say little: the status, where there is one, says more.
_SHARED = _index_by_word(
    {
        "bad_request": "invalid_request invalid_argument invalid_parameter "
        "bad_request validation_error",
        "server_error": "server_error api_error internal internal_server "
        "timeout deadline_exceeded network_error model_error",
    }
)

_FLAGS = re.IGNORECASE | re.DOTALL
# A 409 is a lock at the provider, a 424 what the provider itself depends on.
_STATUSES_OF: Final[Mapping[Event, tuple[int, ...]]] = {
    "auth": (401, 403, 407),
    "no_credit": (402,),
    "unknown_model": (404,),
    "server_error": (408, 409, 424, 425),
    "context": (413,),
    "rate_limit": (429,),
    "bad_request": (501,),
    "overloaded": (503, 529),
}
_STATUSES = {status: event for event, statuses in _STATUSES_OF.items() for status in statuses}

_PHRASES: Final[Mapping[Event, str]] = {
    "malformed_call": r"""
        error parsing tool call
        failed to parse (?:input|generated text|fc related info)
        failed to call a function
        failed to generate (?:a )?(?:tool|function)[ _-]?calls?
        tool call validation failed
        invalid tool generation
        (?:fail\w* to|unable to|can ?not) parse.{0,40}(?:tool|function)[ _-]?calls?\b
        (?:malformed|invalid|unparsable) (?:tool|function)[ _-]?(?:call|use)\b(?! id)
        (?:tool|function)[ _-]?call\b.{0,40}(?:malformed|unparsable|not valid json|invalid json)
        (?:tool|function)[ _-]?call\b.{0,40}(?:could ?n[o']t|can ?not) be parsed
        model (?:generated|produced|output).{0,60}(?:could ?n[o']t|can ?not) be parsed
        model (?:generated|produced) (?:invalid content|output that does not match)
        model did not (?:output|produce|generate) (?:a )?valid (?:tool|function)
        unexpected tokens remaining in message header
        unexpected token \d+ while expecting
        xml syntax error on line
        no function found in generated text
        invalid sequence as part of tooluse""",
    "max_tokens": r"""
        could not finish the message because max_tokens
        (?:max_tokens|output token limit|model output limit) (?:was |is )?reached""",
    # Before rate limits: an account without credit is often refused by the same status, 429.
    "no_credit": r"""
        credit balance is too low
        (?:insufficient|not enough|no) (?:account )?(?:credits?|balance|funds)\b(?! were)
        balance (?:is )?(?:insufficient|exhausted|not enough)
        credits? (?:expired|exhausted)
        (?:used all|n[o']t have any|monthly included|credit limit).{0,20}(?:credits|exceeded)
        spending limit
        budget has been exceeded
        key limit exceeded
        (?:specified api|daily|weekly|monthly) usage limit
        account .{0,40}suspended
        (?:account is in good standing|requires? a subscription)
        payment required
        check your plan and billing
        requires more credits
        额度不足|余额不足|已欠费""",
    # Before the context: a limit of tokens per minute speaks of tokens that are too many.
    "rate_limit": r"""
        rate[ -]?limit(?:s|ed)?\b
        (?:tokens|requests) per (?:second|minute|min|hour|day)\b
        too many (?:requests|tokens.{0,20}, please wait)""",
    "context": r"""
        (?:maximum|max) (?:context|prompt|input|model|sequence)[ _](?:length|len)\b
        (?:prompt|input) (?:is )?too (?:long|large)
        prompt exceeds max
        reduce the (?:length of the (?:messages|prompt|input)|prompt length)
        range of input length
        \b(?:input|prompt)s?\b.{0,20}\b(?:tokens?|length)\b.{0,60}(?:exceeds?\b|must be (?:<|less))
        \binputs?\b.{0,10}must have less than
        exceed\w* (?:the |model |max |maximum |allowed ){1,4}.{0,20}\btokens?\b
        total number of tokens.{0,40}(?:can ?not )?exceed
        max tokens .{0,20}exceeded
        \bcontext length of (?:only )?\d
        \bn_keep\b.{0,20}\bn_ctx\b
        content\W{0,3}: string too long
        (?:exceed|too (?:long|large)|(?:larg|long|great)er than).{0,60}(?:context|n_ctx|num_ctx)
        (?:exceed|too (?:long|large)|(?:larg|long|great)er than|less than).{0,60}max_(?:model|seq)_
        exceed.{0,60}maximum (?:allowed )?(?:input|prompt|sequence) length
        context (?:length|window|size|limit).{0,60}(?:exceed|overflow|too (?:small|large))
        contextwindowexceeded""",
    "refusal": r"""
        content (?:filter|management|policy)
        contentpolicyviolation
        inappropriate content
        content exists risk
        flagged (?:as|for) (?:potential|possibl)
        guardrail.{0,40}(?:fail|violat|intervene|block)
        (?:input|prompt|text|detected)\b.{0,60}(?:sensitive|unsafe) (?:content|information)
        \bnew_sensitive\b
        敏感内容
        \b(?:input|prompt|output|response|request)s? (?:was|were|has been|is) (?:blocked|flagged)
        \b(?:prompt|output|response) (?:was|were|has been|is|got) (?:filtered|moderated)
        violat\w* .{0,30}(?:usage|content|safety|guardrail) (?:polic|guideline)""",
    "unknown_model": r"""
        \bmodel\b.{0,100}(?:does not exist|not found|decommissioned)
        (?:not a valid|invalid) model\b(?! output)
        unable to access .{0,20}model
        requested model .{0,100}not supported""",
    "auth": r"""
        (?:incorrect|invalid|wrong|missing|no) api[ _-]?key
        api key not valid
        invalid authorization""",
    "bad_request": r"""
        unsupported (?:param(?:eter)?|value)\b
        unknown parameter
        requires? (?:the )?--[a-z]
        requires more system memory""",
    "overloaded": r"""
        \b(?:overloaded|at capacity)\b
        capacity temporarily exceeded""",
    "server_error": r"""
        model has crashed""",
}
"""One pattern a line. The first event that fits counts."""
_PATTERNS: Final = tuple(
    (event, compile_late("|".join(line.strip() for line in phrases.strip().split("\n")), _FLAGS))
    for event, phrases in _PHRASES.items()
)
_OF_ANY_STATUS: Final = frozenset({"no_credit"})
"""What a phrase may say beside a status that asks for fewer requests or for another key: there,
words on tokens and lengths speak of rates and of rights."""
_SPEAKING_STATUSES: Final = frozenset({401, 429, 529})


def find_event(codes: Iterable[str], text: str, status: int | None) -> Event:
    """Return the event that an error's ``codes`` (the most exact first), text and status tell.

    ``status`` is an HTTP status of an error; ``None`` if it came with a status 200.
    """
    words = list(codes)
    for word in words:
        if event := _look_up_event(_CODES, word):
            return event
    for event, phrase in _PATTERNS:
        if phrase.search(text) and (status not in _SPEAKING_STATUSES or event in _OF_ANY_STATUS):
            return event
    if status is not None and status >= 400:  # noqa: PLR2004 - HTTP's own numbers
        otherwise: Event = "server_error" if status >= 500 else "bad_request"  # noqa: PLR2004
        return _STATUSES.get(status, otherwise)
    return next(filter(None, (_look_up_event(_SHARED, word) for word in words)), "unexplained")


def find_ending_event(word: str) -> Event | None:
    """Return the event that a reply's word for its ending tells; ``None`` if it tells none.

    Gateways put the provider's own word behind their own: ``content_filter: SAFETY``.
    """
    for part in (word, *reversed(word.split(":"))):
        if event := _look_up_event(_CODES, part) or _look_up_event(_SHARED, part):
            return event
    return None


def _look_up_event(table: Mapping[str, Event], word: str) -> Event | None:
    letters = _keep_letters(word)
    # As it stands first: of `tool_error` and `api_error` the ending is part of the word.
    return table.get(letters) or table.get(re.sub("(?:error|exception)$", "", letters))
