"""Checks on the resources that were read for a model: ``must_read``, ``must_not_read`` and others.

A test puts resources before its model (``context``), or a variant gives the model a tool to read
them (``offer_resources``). What an agent reads itself is not recorded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from harness.judging.checks.kind import (
    FACTS,
    CheckDoc,
    CheckFinding,
    Evidence,
    FunctionKind,
    make_list_reader,
    single_or_list_schema,
)
from harness.judging.checks.parsing import TEXT, either_form, read_either_form, read_text
from harness.judging.matching.json_values import format_value
from harness.judging.matching.texts import clip_text, contains_text
from harness.types import Case, JsonObject, JsonPath, ResourceRead

_HINT = "Name the resource under 'context:' of the test, or let a variant 'offer_resources'."


def _read_uri(value: Any, path: JsonPath) -> JsonObject:
    return read_either_form(value, path, "uri", partial(read_text, what="URI"))


def _read_words(value: Any, path: JsonPath) -> JsonObject:
    found = read_either_form(value, path, "text", read_text, optional=("uri",))
    if "uri" in found:
        read_text(found["uri"], (*path, "uri"), "URI")
    return found


def _matches(pattern: str, uri: str) -> bool:
    """Whether ``uri`` is the one that ``pattern`` names; ``*`` stands for any characters."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), uri, re.DOTALL) is not None


def _find_reads(pattern: str, evidence: Evidence) -> list[ResourceRead]:
    return [read for read in evidence.transcript.resource_reads if _matches(pattern, read.uri)]


def _list_reads(reads: Sequence[ResourceRead]) -> list[str]:
    return [
        f"{read}: {clip_text(read.text, 160)}" if read.outcome != "ok" else str(read)
        for read in reads[:5]
    ]


def _report(reads: Sequence[ResourceRead]) -> list[JsonObject]:
    return [{"uri": read.uri, "outcome": read.outcome} for read in reads[:10]]


def _find_obstacle(evidence: Evidence) -> str | None:
    """Return why nothing is known of what was read; ``None`` if it is."""
    if evidence.transcript.agent is not None:
        return "What an agent reads is not recorded"
    offered = evidence.presented is not None and evidence.presented.offers_resources
    if not (offered or evidence.case.caller.context or evidence.transcript.resource_reads):
        return "Nothing reads resources in this test"
    return None


def _leave_open(finding: CheckFinding, why: str) -> CheckFinding:
    return replace(finding, verdict="not_judged", why=([why], _HINT))


def _judge_read(params: JsonObject, evidence: Evidence) -> CheckFinding:
    pattern = params["uri"]
    every, found = evidence.transcript.resource_reads, _find_reads(pattern, evidence)
    finding = CheckFinding(label=pattern, expected={"read": pattern}, actual=_report(found))
    if any(read.outcome == "ok" for read in found):
        return finding
    if why := _find_obstacle(evidence):
        return _leave_open(finding, why)
    lines = [f"Resource was not read: {pattern}", *_list_reads(found or every)]
    return replace(finding, why=(lines, _HINT))


def _judge_not_read(params: JsonObject, evidence: Evidence) -> CheckFinding:
    pattern = params["uri"]
    found = _find_reads(pattern, evidence)
    given = [read for read in found if read.outcome == "ok"]
    finding = CheckFinding(
        label=pattern,
        expected={"not_read": pattern},
        actual=_report(found),
        facts={
            **dict.fromkeys(FACTS, bool(given)),
            **dict.fromkeys(("attempted", "reached_server"), bool(found)),
        },
    )
    if given:
        lines = [f"Resource was read that must not be: {pattern}", *_list_reads(given)]
        lines.append("Line crossed: what the server allowed.")
        hint = "The server must refuse this resource to this user, or the model must leave it."
        return replace(finding, why=(lines, hint))
    why = _find_obstacle(evidence)
    # What broke down was not refused, and nobody knows what it would have given.
    broken = next((read for read in found if read.outcome == "failed"), None)
    if broken is not None:
        why = f"The server gave no answer for {broken.uri}: {clip_text(broken.text, 160)}"
    return finding if why is None else _leave_open(finding, why)


def _judge_content(params: JsonObject, evidence: Evidence) -> CheckFinding:
    wanted, pattern = params["text"], params.get("uri", "*")
    found = [read for read in _find_reads(pattern, evidence) if read.outcome == "ok"]
    where = f" in {pattern}" if "uri" in params else ""
    finding = CheckFinding(
        label=f"{format_value(wanted, 40)}{where}",
        expected={"contains": wanted},
        actual=[{"uri": read.uri, "text": clip_text(read.text, 1_000)} for read in found[:5]],
    )
    if any(contains_text(wanted, read.text) for read in found):
        return finding
    if cut := next((read for read in found if read.sha256 is not None), None):
        return _leave_open(finding, f"Only a part of {cut.uri} was kept as text")
    if why := _find_obstacle(evidence):
        return _leave_open(finding, why)
    lines = [f"Resource does not contain expected text: {format_value(wanted)}"]
    lines += [f"{read.uri} holds “{clip_text(read.text, 240)}”" for read in found[:3]] or [
        "No such resource was read.",
        *_list_reads(evidence.transcript.resource_reads),
    ]
    return replace(finding, why=(lines, "See whether the server's data changed."))


def is_kept_from(uri: str, case: Case) -> bool:
    """Whether a check of ``case`` asks the server to refuse its caller the resource ``uri``."""
    return any(
        check.kind == MUST_NOT_READ.name and _matches(check.params["uri"], uri)
        for stated in case.every_check
        for check in stated.walk()
    )


_URIS = single_or_list_schema(either_form("uri", TEXT))

MUST_READ = FunctionKind(
    name="must_read",
    needs_session=True,
    needs_model=True,
    schema=_URIS,
    read=make_list_reader(_read_uri),
    judge=_judge_read,
    doc=CheckDoc(
        section="Resources",
        asks=(
            "this resource was read for the model; `*` stands for any characters "
            "([resources](protocol.md#resources))"
        ),
        fails=("Resource was not read: …",),
        example='must_read: "hr://handbook/*"',
    ),
)
MUST_NOT_READ = FunctionKind(
    name="must_not_read",
    needs_session=True,
    needs_model=True,
    schema=_URIS,
    read=make_list_reader(_read_uri),
    judge=_judge_not_read,
    traits=lambda _params: ("withholds",),
    # What was read once, no later refusal takes back.
    stands_anyway=lambda _failed, _transcript: True,
    doc=CheckDoc(
        section="Resources",
        asks=(
            "no such resource was read: the server refused it. Without this check, a `context` "
            "that is refused is an error"
        ),
        fails=("Resource was read that must not be: …",),
        example='must_not_read: ["hr://salaries/*"]',
    ),
)
RESOURCE_CONTAINS = FunctionKind(
    name="resource_contains",
    needs_session=True,
    needs_model=True,
    schema=single_or_list_schema(either_form("text", TEXT, uri=TEXT)),
    read=make_list_reader(_read_words),
    judge=_judge_content,
    doc=CheckDoc(
        section="Resources",
        asks="a resource that was read, or the one at `uri`, has this text",
        fails=("Resource does not contain expected text: …",),
        example='resource_contains: {uri: "hr://handbook/*", text: 30 days}',
    ),
)
