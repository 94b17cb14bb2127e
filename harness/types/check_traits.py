"""What a kind of check says of its checks, so that every output treats kinds alike."""

from __future__ import annotations

from typing import Literal, TypeAlias

CheckTrait: TypeAlias = Literal[
    "expects_calls",
    "forbids_calls",
    "no_success",
    "withholds",
    "decides_access",
    "judges_refused_session",
    "wants_refused_session",
    "reads_end_state",
    "grades",
    "judge_decides",
    "counts_turns",
]
"""One thing that holds for a check because of its kind and settings:

- ``expects_calls``: its tools must be called, however the calls end.
- ``forbids_calls``: the calls that it describes must not be made.
- ``no_success``: it asks for calls that do not succeed, or for none.
- ``withholds``: it asks the server to keep something back: a refusal is what it asks for, a
  breakdown is not.
- ``decides_access``: it states the server's decision about a caller, under ``is`` of its params and
  of what it expects and finds, and the fields to be withheld under ``without``.
- ``judges_refused_session``: it can be judged although the server refused the caller a session.
- ``wants_refused_session``: it passes only if the server did.
- ``reads_end_state``: it can be judged only when the conversation is over.
- ``grades``: what it finds has ``metrics`` with scores.
- ``judge_decides``: a judge alone decides it, and what it finds names the ``judge``.
- ``counts_turns``: the share of right turns decides, so that no single turn does.
"""
