"""The faults that pass in silence, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping

_NOT_ASKED = "the record that leaks is one that no call of the suite asks for"
_NO_NAME = "what opens has a name that nothing suggests: no schema, list or answer holds it"
_CONCLUDED = "a conclusion from other data: not measured yet since the suite alters them"

_OTHER_TYPE = "arguments of another type than the schema's are not sent: they end simple servers"
_VOUCHED = "whoever issues identities vouches for an attribute: a server may take it for a right"
_SPELLING = "whether case and blanks matter in an attribute is for the server to say"

_NOT_KNOWN = "not known yet"
_SUITE = "rows that one list shows and another leaves out are no contradiction by themselves"

SILENT: Mapping[str, str] = {
    "who_am_i": _NOT_ASKED,
    "refusal_names_hidden": _NOT_ASKED,
    "old_tool_unlisted": _NO_NAME,
    "id_as_list": _OTHER_TYPE,
    "null_argument": _OTHER_TYPE,
    "number_as_text": _OTHER_TYPE,
    "admin_flag": _VOUCHED,
    "plural_roles": _VOUCHED,
    "any_case": _SPELLING,
    "trimmed": _SPELLING,
    "self_any_case": _SPELLING,
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
    "total_of_all": _CONCLUDED,
    "report_of_all": _CONCLUDED,
    "sum_of_all": _CONCLUDED,
    "cursor_of_all": _CONCLUDED,
    "empty_rows": _CONCLUDED,
    "has_more": _CONCLUDED,
    "refusal_names_ward": _CONCLUDED,
    "bad_token_is_director": "only tokens of the right form are shown",
    "highest_of_session": _NOT_KNOWN,
    "owner_kept": _NOT_KNOWN,
    "rights_add_up": _NOT_KNOWN,
}
"""Fault → why no probe finds it."""
