"""What tokens in an answer hold, beside the answer."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import chain

from harness.judging import find_payloads
from harness.sessions import limit_side_channels, wrap_side_channel
from harness.types import ToolCall


def add_token_payloads(made: ToolCall) -> ToolCall:
    """Return a call with what tokens in its answer hold beside it: no log keeps the tokens."""
    # A token may be in either form of the result.
    whole = f"{made.text}\n{json.dumps(made.structured, ensure_ascii=False, default=str)}"
    payloads = dict.fromkeys(find_payloads(whole))
    if not payloads:
        return made
    asides = (wrap_side_channel("the payload of a token in the answer", text) for text in payloads)
    return replace(made, beside=limit_side_channels((*made.beside, *chain.from_iterable(asides))))
