"""What tokens in an answer hold, beside the answer."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import chain

from harness.judging import payloads_in
from harness.sessions import an_aside, bounded
from harness.types import ToolCall


def with_payloads(made: ToolCall) -> ToolCall:
    """Return a call with what tokens in its answer hold beside it: no log keeps the tokens."""
    whole = f"{made.text}\n{json.dumps(made.structured, ensure_ascii=False, default=str)}"
    payloads = dict.fromkeys(payloads_in(whole))
    if not payloads:
        return made
    asides = (an_aside("the payload of a token in the answer", text) for text in payloads)
    return replace(made, beside=bounded((*made.beside, *chain.from_iterable(asides))))
