"""The faults that pass in silence, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping

_LEAVES_OPEN = "RFC 7519 leaves the expiry open: the report tells it, and it fails nothing"
_NO_MORE = "an unknown role gets no more than the role that it was made from"
_NOTHING_OPENS = "nothing comes of it: the search for such a name finds nobody, whoever asks"

SILENT: Mapping[str, str] = {
    "identity_in_text": _NOTHING_OPENS,
    "deny_list": _NO_MORE,
    "expiry_optional": _LEAVES_OPEN,
}
"""Fault → why no probe finds it."""

NOT_MEASURED: frozenset[str] = frozenset()
"""Faults that have not been probed with the present code, or were cut off."""
