"""Words with which servers refuse a caller, as opposed to similar words.

A refusal is about the caller's rights. "Payment was denied by the bank" and "Value outside the
permitted range" are about something else, so a pattern names the refusing party, the refused one,
or the missing right. In doubt a text is not a refusal: a server's own words can be configured
(``refusals:``).
"""

from __future__ import annotations

import re


def _compile_any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_A_RIGHT = r"(?:permissions?|privileges?|rights?(?!-)|authori[sz]ation|clearance)\b"
_OF_A_CALL = (
    r"(?:(?:arg(?:ument)?|param(?:eter)?|field|name|value|key|attribute|header|option|input|setting"
    r"|array|list)s?|propert(?:y|ies)|entr(?:y|ies))\b(?![.:]\w)"
)
_NO_ARGUMENT = rf"(?![\W_]? (?:[\w-]+ )?['\"`]?{_OF_A_CALL}|: must be\b)"
"""Negative lookahead after the name of a right: ``role parameter``, ``permission level argument``
and ``role: must be one of`` are about arguments."""
_A_ROLE = rf"(?:role|scope)s?\b{_NO_ARGUMENT}"
_WORDS = r"(?:\S+ ){0,3}"
_A_REQUIRED_RIGHT = (
    rf"required (?:(?!{_OF_A_CALL})[^\s:]+ ){{0,2}}(?:{_A_RIGHT}{_NO_ARGUMENT}|{_A_ROLE})"
)
"""``required permission hr.read``, ``required OAuth scope``; not ``required argument: role``."""

_CALLERS = (
    r"(?:you|users?|callers?|clients?|identit(?:y|ies)|principals?|roles?|accounts?|tokens?)\b"
)
_YOURS = (
    r"(?:your|this|their) (?:\S+ )?(?:roles?|accounts?|users?|tokens?|scopes?|tenants?|callers?"
    r"|permissions?|clearance)\b"
)
_READS_OR_CHANGES = (
    r"(?:access|call|change|create|delete|download|edit|execute|export|list|modify|open|perform"
    r"|query|read|see|update|use|view)\b"
)
_STAFF = (
    r"(?:the )?(?:admin\w*|managers?|owners?|staff|hr|finance|auditors?|supervisors?|employees?"
    r"|\S+ (?:team|group|department)|members? of|users? with|roles?)\b"
)
_GUARD = (
    r"(?:polic(?:y|ies)|guard-?rails?|access (?:control|rules?)|firewall|admin\w*|rbac|acls?"
    r"|opa|gateway)\b"
)

# "No permission slip" and "without a rights column" are about data.
_NO_RIGHT_AFTER_ALL = r"(?! (?:slip|column|field|issue|row|table)s?)"

MISSES_A_RIGHT = _compile_any(rf"\bmissing (?:the |a |\d+ )?{_A_REQUIRED_RIGHT}")
"""A required right is missing, not a required argument."""

OPERATING_SYSTEM = _compile_any(
    r"\b(?:EACCES|EPERM|EROFS)\b",
    r"\b(?:errno|os error) (?:1|13|30)\b",
    # As programs and shells report them: the failed call, what it was for, and the reason.
    r"\b(?:open|stat|lstat|mkdir|unlink|rename|readdir|exec|cat|ls|sh|bash)\b[^\n]*: "
    r"(?:permission denied|operation not permitted)",
)
"""An error of the operating system, about the server's own process."""

_DENIED = (
    (
        r"\b(?:access|permission|authori[sz]ation|query|tool|operation|action|call)s?\b[^\n]{0,80}"
        r"\bdenied\b"
    ),
    r"^request\b[^\n]{0,40}\bdenied\b",
    r"^(?:\w+: )?(?:denied|deny)\b(?! list)",
    (
        r"\b(?:denied|refused|rejected|blocked|restricted|prohibited|disallowed) by "
        rf"(?:\S+ ){{0,2}}{_GUARD}"
    ),
    rf"\bdenied (?:for|to) (?:the )?(?:\S+ )?{_CALLERS}",
    r"\b(?:decision|effect|verdict)\W{1,4}deny\b",
    (
        rf"\bpolic(?:y|ies) {_WORDS}"
        r"(?:violation|violated|denies (?!nothing)|forbids|prohibits|blocks|refuses)\b"
    ),
    rf"\b(?:violat\w+|against) {_WORDS}polic(?:y|ies)\b",
    r"\bpolicy enforcement failed\b",
    r"\bpolicy (?:\S+ )?denied\b",
    r"^(?:error: )?refused: ",
)
"""Words by which the server says that it denies."""

_WORDS_OF_PROTOCOLS = (
    r"\b(?:access|permission)_?denied|\bpermission_denied",
    # A payment that is not authorised is the bank's decision, and no refusal of the caller.
    r"(?:\bun|\bnot[ _]?|n't )authori[sz]ed(?! for this (?:amount|payment))",
    r"(?:\bun|\bnot |n't )authenticated\b",
    r"\bauthentication (?:is )?required\b",
    r"\binsufficient_(?:scope|permission|privilege|right)s?\b",
    # Forbidden characters are about an argument.
    r"\bforbidden\b(?! (?:characters?|words?|values?|keys?|fields?|names?|patterns?))",
    r"\b(?:HTTP(?:/[\d.]+)?|status(?: code)?)[ :]+(?:401|403)\b",
    rf"^(?:{_A_RIGHT}|access) (?:check )?failed\b",
)
"""Words of protocols, databases and clouds."""

_THE_CALLER_MAY_NOT = (
    r"(?:\bnot|n't) (?:be )?permitted (?:to|for)\b",
    r"^not (?:permitted|allowed)\W*$",
    r"(?:\bnot|n't) (?:be )?(?:allowed|entitled|cleared) (?:to|for)\b",
    rf"\b(?:may|shall) not {_READS_OR_CHANGES}",
    # A shipped order cannot be changed by anybody; what cannot be seen is kept from this caller.
    r"\byou (?:cannot|can not|can't) (?:access|see|view)\b",
    rf"\busers? (?:\S+ )?(?:cannot|must not) {_READS_OR_CHANGES}",
    rf"\b{_YOURS} (?:does not|doesn't|do not|cannot) (?:allow|permit|include|cover)\b",
    rf"\b(?:disabled|unavailable|off limits|out of scope|not available) (?:for|to) {_YOURS}",
    r"\baccess to [^\n]{1,60} is (?:restricted|limited|blocked)\b|\baccess (?:is )?blocked\b",
    rf"\b{_CALLERS} (?:is|are) not (?:a member of|in (?:the )?group)\b",
    rf"\b{_CALLERS} (?:\S+ ){{0,4}}?ha(?:s|ve) no access\b",
    rf"\b{_CALLERS} (?:does|do) not grant\b",
    r"\bexceeds? your (?:clearance|permissions?|rights?|privileges?)\b",
    r"\boutside (?:of )?your (?:region|tenant|unit|department|scope|organi[sz]ation)\b",
    (
        r"\boutside (?:of )?(?:the )?(?:allowed|permitted) "
        r"(?:director|repositor|path|folder|root|scope|tenant|region)"
    ),
    r"\bbelongs to (?:another|a different) (?:tenant|user|account|organi[sz]ation)\b",
    r"\byou (?:only )?have read-only access\b",
)
"""Words for things that are not available to this caller."""

_LACKS_A_RIGHT = (
    (
        rf"\b(?:insufficient|inadequate|lacks?|lacking|not enough) {_WORDS}"
        rf"(?:{_A_RIGHT}|{_A_ROLE}|entitlements?\b)"
    ),
    rf"\b(?:missing|without|no) (?!{_OF_A_CALL}:?){_WORDS}{_A_RIGHT}{_NO_RIGHT_AFTER_ALL}",
    MISSES_A_RIGHT.pattern,
    rf"(?:\bnot|n't) have {_WORDS}(?:access\b|{_A_RIGHT}|{_A_ROLE})",
    rf"\b(?:requires?|needs|you need) {_WORDS}(?:{_A_RIGHT}|{_A_ROLE})",
    rf"\b{_A_RIGHT} (?:\S+ ){{0,2}}(?:is |are )?required\b",
    r"\badmin\w* (?:role|access|rights?) (?:is |are )?required\b",
    r"\b(?:log[ -]?in|sign[ -]?in) (?:is )?required\b",
    r"\bplease (?:log|sign) in\b|\bplease log in again\b|\bmust be (?:logged|signed) in\b",
    rf"\bonly {_STAFF} (?:\S+ ){{0,5}}?(?:may|can|are (?:allowed|permitted|able))\b",
    rf"\b(?:for )?{_STAFF} only\W*$",
    rf"\b(?:restricted|reserved|only available) (?:to|for) {_STAFF}",
    r"\bneed[- ]to[- ]know\b",
)
"""Words for the right that the caller would need."""

REFUSED = _compile_any(*_DENIED, *_WORDS_OF_PROTOCOLS, *_THE_CALLER_MAY_NOT, *_LACKS_A_RIGHT)
"""Matches a refusal of the caller."""
