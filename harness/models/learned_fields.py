"""What a model takes beside the conversation, learned from what its API refuses.

Names of models say nothing certain: fields are sent as they are configured, and a refusal of one
(``Unsupported parameter: 'max_tokens' … Use 'max_completion_tokens' instead``) changes the request
for the rest of the run: the field gets its other name, or is left out. Each field is changed once.
Fields of the configured ``body`` are never changed: somebody wants just them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from harness.models.http_failures import ModelFault

_OTHER_NAMES = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}
"""Fields with a second name, which APIs accept where they refuse the first."""
_LEFT_OUT = ("temperature", "include", "store")
"""Fields that may be left out."""
_REFUSED = re.compile(
    r"unsupported|not supported|n[o']t support|unknown|unrecogni[sz]ed|unexpected|"
    r"extra (?:inputs|fields)|extra_forbidden|not permitted|not allowed|deprecated|"
    r"only the default|incompatible|not compatible|may only be|"
    r"only [\d.]+ is (?:allowed|supported)",
    re.IGNORECASE,
)
# Then the field is taken, and its value is the configuration's mistake.
_OF_THE_VALUE = re.compile(r"too (?:large|small|high|low)|exceed|at (?:most|least)|between|range")


class LearnedFields:
    """The changes to one model's requests, shared by all trials of a run."""

    def __init__(self, configured: Mapping[str, Any]) -> None:
        """``configured`` are the fields of the configuration's own ``body``."""
        # Somebody wants just these fields: to leave one out would test something else.
        self._configured = frozenset(configured)
        self._changes: dict[str, str | None] = {}  # field → its other name; None: left out

    def fit_body(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return ``body`` as the model takes it."""
        # The usual case, and the same object.
        if not self._changes.keys() & body.keys():
            return body
        return {
            self._changes.get(name, name) or name: value
            for name, value in body.items()
            if self._changes.get(name, name) is not None
        }

    def learn_from(self, fault: ModelFault, sent: Mapping[str, Any]) -> str | None:
        """Return what ``fault`` teaches about the request ``sent``, in words; ``None``: nothing.

        Another trial may have learned it meanwhile: then the request is to be sent again, too.
        """
        name = self._find_refused_field(fault, sent)
        # Both names are refused: without this the two would be exchanged for ever.
        if name is None or (name in self._changes.values()):
            return None
        other = _OTHER_NAMES.get(name)
        self._changes[name] = other
        if other is None:
            return f"{name} is not sent any more: the API does not take it"
        return f"{name} is sent as {other}: the API does not take {name}"

    def _find_refused_field(self, fault: ModelFault, sent: Mapping[str, Any]) -> str | None:
        """Return the field of ours that the API refuses as such, and not for its value."""
        error = fault.error
        # Only words that say so: 400 alone may mean a schema, a message or anything else.
        if fault.event != "bad_request" or error is None or not _REFUSED.search(error.words):
            return None
        if _OF_THE_VALUE.search(error.words):
            return None
        own = [
            name
            for name in (*_OTHER_NAMES, *_LEFT_OUT)
            if name in sent and name not in self._configured
        ]
        # Exact where the API has a field for it; otherwise the first field that its words name.
        if error.field in own:
            return error.field
        places = {
            name: found.start()
            for name in own
            if (found := re.search(rf"\b{name}\b", error.words)) is not None
        }
        return min(places, key=places.__getitem__, default=None)
