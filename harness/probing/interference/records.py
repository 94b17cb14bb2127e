"""The recorded answers with both sets of data, one record for each call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

from harness.judging import Leaf, Result, fold_text, is_masked
from harness.probing.caller_views import NO_ANSWER, get_caller_name, get_facts
from harness.probing.interference.answer_locations import (
    RESULT,
    AnswerLocation,
    Places,
    collect_call_locations,
    collect_side_locations,
    collect_tool_locations,
)
from harness.probing.interference.data_sets import Which
from harness.types import ToolList, Transcript, TrialResult

Stage: TypeAlias = Literal["own", "further", "again"]
"""``own``: the regular calls. ``further``: calls with tampered arguments, and those that contain
the value. ``again``: repeated suspicious calls."""
SHOWN = "what is shown before any call"
"""In place of a call: the list of tools, the server's instructions, lists of resources …"""


class CallerCall(NamedTuple):
    """A caller and its call."""

    caller: str
    """Name of the caller."""
    call: str
    """The call's name in tables, or `SHOWN`."""


@dataclass(frozen=True)
class Record:
    """One answered call."""

    asked: CallerCall
    """Who asked what."""
    which: Which
    """With which data."""
    stage: Stage
    """What for."""
    run: TrialResult
    """The call."""
    transcript: Transcript
    """What happened."""
    tools: ToolList
    """The tools that the caller was shown."""

    @property
    def tool(self) -> str:
        """The tool that was called."""
        return str(get_facts(self.run)["tool"])

    @cached_property
    def result(self) -> Result | None:
        """The call and its answer; ``None`` if no session was opened."""
        calls = self.transcript.tool_calls
        return Result(call=calls[0]) if calls else None

    @cached_property
    def locations(self) -> Places:
        """The places of the answer."""
        if self.asked.call == SHOWN:
            return {
                **collect_tool_locations(self.tools),
                **collect_side_locations(self.transcript.beside),
            }
        if self.result is None:
            # A refused session is an answer, too: it may depend on the value.
            how = self.transcript.refused_words
            return {AnswerLocation(RESULT, "outcome"): f"no session ({how})"}
        return collect_call_locations(self.result.call)

    def find_leaves(self, name: str) -> Iterator[Leaf]:
        """Yield the unmasked fields of that name in a successful answer, of one channel."""
        if self.asked.call == SHOWN or self.result is None or self.result.call.outcome != "ok":
            return
        named = [
            leaf
            for leaf in self.result.leaves
            if fold_text(leaf.name) == fold_text(name) and not is_masked(leaf.value)
        ]
        # The field is often in both forms of the result: one is compared.
        form = named[0].channel if named else ""
        yield from (leaf for leaf in named if leaf.channel == form)


def build_records(
    result: TrialResult, transcript: Transcript | None, tools: ToolList
) -> Iterator[Record]:
    """Yield the record of a trial, and for a caller's first call also one for `SHOWN`.

    A call without an answer has no record.
    """
    facts = get_facts(result)["data"]
    if transcript is None or facts["call"] is None:
        return
    calls = transcript.tool_calls
    if calls and calls[0].outcome in NO_ANSWER:
        return
    if not calls and transcript.refused_status is None:
        return
    names = [facts["call"], *([SHOWN] if facts["first"] and calls else [])]
    for name in names:
        yield Record(
            asked=CallerCall(get_caller_name(result), name),
            which=facts["which"],
            stage=facts["stage"],
            run=result,
            transcript=transcript,
            tools=tools,
        )
