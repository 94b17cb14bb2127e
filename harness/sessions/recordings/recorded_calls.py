"""What a run log holds of one server: tool lists and answers, by identity."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import Any

from harness.base import UsageError, canonical_json, digest_json
from harness.runlog import RunLog, read_log
from harness.sessions.call_record import restore_frame
from harness.sessions.recordings.recording_spec import choose_server
from harness.types import NOT_SENT, JsonObject, Tool, ToolCall, ToolList, Transcript, dataclass

_CUT = ("[… cut by harness", "[lost: a secret of several lines")
"""Notices in a frame whose content the log does not hold."""
_SHOWN = 300
"""Most characters of the nearest recorded call in a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedResponse:
    """How the server answered one call."""

    body: JsonObject = field(default_factory=dict)
    """``{"result": …}`` or ``{"error": …}``, as in the frame."""
    lacking: str | None = None
    """Why the log has no whole answer, in words."""

    @property
    def digest(self) -> str:
        """Equal for equal answers."""
        return digest_json([dict(self.body), self.lacking])


class RecordedCalls:
    """The answers of one recording, as its server gives them in one process."""

    def __init__(self, log: RunLog, server: str) -> None:
        """Index everything that ``log`` has of ``server``."""
        self.header = log.header
        self.lists: dict[str, ToolList] = {}
        self._refused: dict[str, str] = {}
        self._answers: dict[str, dict[str, list[RecordedResponse]]] = defaultdict(dict)
        self._given: dict[tuple[str, str], int] = {}
        # In the order in which they began, as their answers came.
        found = sorted(_iterate_transcripts(log, server), key=lambda one: one[0])
        for _, caller, transcript in found:
            self._add_transcript(log, canonical_json(caller), transcript)

    def _add_transcript(self, log: RunLog, caller: str, transcript: Transcript) -> None:
        if transcript.refused_status is not None:
            self._refused[caller] = transcript.refused_words
        if transcript.tools_digest in log.tools:
            self.lists.setdefault(caller, log.tools[transcript.tools_digest])
        made = (
            *transcript.setup_calls,
            *sorted(
                (*transcript.tool_calls, *transcript.user_calls), key=lambda one: one.started_s
            ),
            *transcript.teardown_calls,
        )
        for call in made:
            if (answer := _read_answer(call)) is not None:
                key = _build_key(call.tool, call.arguments)
                self._answers[caller].setdefault(key, []).append(answer)

    def get_tools(self, user_context: JsonObject | None) -> ToolList:
        """Return the list that was recorded for this user.

        Raises:
            UsageError: nothing was recorded for them.
        """
        caller = canonical_json(user_context)
        if caller in self.lists:
            return self.lists[caller]
        if caller in self._refused:
            raise UsageError(f"the server refused this caller: {self._refused[caller]}")
        known = ", ".join(map(_name_caller, self.lists)) or "nobody"
        raise UsageError(
            f"{self.name_run()} has no session of {_name_caller(caller)}; it has those of {known}"
        )

    def answer(
        self, user_context: JsonObject | None, tool: str, arguments: JsonObject
    ) -> RecordedResponse:
        """Return the next recorded answer to this call of this user."""
        caller, key = canonical_json(user_context), _build_key(tool, arguments)
        recorded = self._answers.get(caller, {}).get(key, [])
        if not recorded:
            return RecordedResponse(lacking=self._explain_unknown(caller, tool, key))
        # Where all answers are equal, any number of calls gets them.
        if len({one.digest for one in recorded}) == 1:
            return recorded[0]
        given = self._given.get((caller, key), 0)
        if given == len(recorded):
            return RecordedResponse(
                lacking=f"{self.name_run()} has {given} answers to {_shorten(key)} of "
                f"{_name_caller(caller)}, which differ, and all of them were given"
            )
        self._given[caller, key] = given + 1
        return recorded[given]

    def name_run(self) -> str:
        """Return which recording this is, and of when."""
        return f"the recording {self.header.run_id} of {self.header.started_at}"

    def _explain_unknown(self, caller: str, tool: str, key: str) -> str:
        words = f"{self.name_run()} has no call {_shorten(key)} of {_name_caller(caller)}"
        own = self._answers.get(caller, {})
        same_tool = [one for one in own if one.startswith(f"{tool}(")]
        if near := difflib.get_close_matches(key, same_tool or own, n=1, cutoff=0.0):
            return f"{words}; the nearest is {_shorten(near[0])}"
        others = [who for who, calls in self._answers.items() if key in calls]
        if others:
            return f"{words}; it has that of {', '.join(map(_name_caller, others))}"
        return f"{words}, and none of another tool"


def open_recording(path: Path, server: str | None = None) -> RecordedCalls:
    """Return the recording in the log at ``path``, of the only server or the one named.

    Raises:
        InvalidInput: the file is no run log.
        UsageError: the log has no such server, or several and none is named.
    """
    log = read_log(path)
    return RecordedCalls(log, choose_server(log.header, server))


def _iterate_transcripts(
    log: RunLog, server: str
) -> Iterator[tuple[str, JsonObject | None, Transcript]]:
    for result in log.results:
        servers = log.header.suites.get(result.suite, {}).get("servers", ())
        if servers and server not in servers:
            continue
        transcript = log.read_transcript(result.key)
        if transcript is not None:
            yield transcript.started_at, result.case.user_context, transcript


def _read_answer(call: ToolCall) -> RecordedResponse | None:
    """Return the answer to ``call``; ``None`` if it was never sent."""
    if call.outcome in NOT_SENT or (call.wire is None and not call.duration_s):
        return None
    if call.wire is not None and call.wire.response is not None:
        body = restore_frame(call.wire.response, call)
        kept: JsonObject = {name: body[name] for name in ("result", "error") if name in body}
        is_cut = any(notice in canonical_json(kept) for notice in _CUT)
        if is_cut or call.result_sha256 is not None or call.cut is not None:
            return RecordedResponse(lacking="the log holds only a part of the recorded result")
        return RecordedResponse(body=kept)
    if call.outcome == "denied":
        error = {"code": _REFUSED, "message": call.text, "data": {"code": "forbidden"}}
        return RecordedResponse(body={"error": error})
    return RecordedResponse(lacking=f"the recorded call ended as {call.outcome}: {call.text}")


_REFUSED = -32001
"""The error code for what only HTTP can say by a status: that a call was refused."""


def _build_key(tool: str, arguments: JsonObject) -> str:
    return f"{tool}({canonical_json(arguments)})"


def _name_caller(caller: str) -> str:
    return "an anonymous caller" if caller == "null" else f"the caller {_shorten(caller)}"


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def describe_tools(listed: ToolList) -> list[dict[str, Any]]:
    """Return ``listed`` as in an answer to ``tools/list``."""
    return [dict(_iterate_tool_parts(tool)) for tool in listed.tools]


def _iterate_tool_parts(tool: Tool) -> Iterator[tuple[str, Any]]:
    yield "name", tool.name
    if tool.title is not None:
        yield "title", tool.title
    yield "description", tool.description
    yield "inputSchema", dict(tool.input_schema)
    if tool.output_schema is not None:
        yield "outputSchema", dict(tool.output_schema)
    hints = {"readOnlyHint": tool.read_only, "destructiveHint": tool.destructive}
    if said := {name: hint for name, hint in hints.items() if hint is not None}:
        yield "annotations", said
