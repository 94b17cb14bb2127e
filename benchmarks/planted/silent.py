"""The faults that pass in silence, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping

_NOT_ASKED = "the record that leaks is one that no call of the suite asks for"
_NO_NAME = "what opens has a name that nothing suggests: no schema, list or answer holds it"
_CONCLUDED = "a conclusion from other data: not measured since the suite alters them"

_OTHER_TYPE = "arguments of another type than the schema's are not sent: they end simple servers"
_NO_PLACE = "identities are not sent in headers or addresses beside the token"

_NOT_KNOWN = "not known yet"
_SUITE = "rows that one list shows and another leaves out are no contradiction by themselves"

SILENT: Mapping[str, str] = {
    "who_am_i": _NOT_ASKED,
    "refusal_names_hidden": _NOT_ASKED,
    "old_tool_unlisted": _NO_NAME,
    "id_as_list": _OTHER_TYPE,
    "null_argument": _OTHER_TYPE,
    "number_as_text": _OTHER_TYPE,
    "identity_in_text": _NO_NAME,
    "eleventh_call": "an answer that does not come again is taken for chance",
    "cached_by_role": "the suite has one identity of each role, and they get their own answers",
    "token_like": "what looks like a token is redacted before anything is kept or searched",
    "prompt_argument": "prompts that need an argument are not asked for",
    "completions": "completions of arguments are not asked for",
    "resource_traversal": "addresses with `..` of resources are not tried",
    "wards_ignored": _SUITE,
    "protected_in_lists": _SUITE,
    "protected_invoices": _SUITE,
    "cursor_of_all": _CONCLUDED,
    "empty_rows": _CONCLUDED,
    "has_more": _CONCLUDED,
    "refusal_names_ward": _CONCLUDED,
    "rights_add_up": _NOT_KNOWN,
    "deny_list": "an unknown role gets no more than the role that it was made from",
    "ward_argument": _NOT_KNOWN,
    "all_wards": "the values stand under other names than where they are withheld",
    "email_as_id": "only values of fields of its name, or named id, are tried as an id",
    "expiry_optional": "RFC 7519 leaves the expiry open: the report tells it, and it fails nothing",
    "token_in_address": _NO_PLACE,
    "role_header": _NO_PLACE,
    "claims_from_header": _NO_PLACE,
    "first_claim_counts": "claims twice are a damage, and this group is probed without damage",
    "echoes_token": "the body of an HTTP refusal is not searched for the token",
    "linked_record": "what a result links to is not read",
    "past_the_end": "cursors are sent that a server gave, and none that it did not",
    "meta_debug": _NO_NAME,
    "negative_amount": _NOT_KNOWN,
    "operator_in_id": _OTHER_TYPE,
    "role_by_number": _NOT_KNOWN,
    "forwarded_user": _NO_PLACE,
    "sort_unchecked": "values outside an enumeration are not sent",
    "hashed_national_id": "hashes are not undone, though few numbers can be tried",
    "suggestion": _NOT_KNOWN,
    "decision_cached": _NOT_KNOWN,
    "failing_row": _NOT_KNOWN,
    "empty_change": _NOT_KNOWN,
    "tool_in_other_case": _NOT_KNOWN,
}
"""Fault → why no probe finds it."""

NOT_MEASURED = frozenset(
    {
        "trailing_newline",
        "null_byte",
        "expired_in_session",
        "no_token_in_session",
    }
)
"""Faults that have not been probed with the present code, or were cut off."""
