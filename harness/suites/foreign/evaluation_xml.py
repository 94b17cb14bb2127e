"""Writes a suite as an evaluation of mcp-builder, if it is one: a question and its exact answer."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from harness.base import InvalidInput, Problem
from harness.suites.foreign.mcp_builder import SYSTEM_PROMPT, TAG
from harness.types import Case, Location, Suite

_FORM = f"A pair has a prompt, and answer_verbatim: {{equals: …, tag: {TAG}}}."


def format_evaluation(suite: Suite, name: str) -> str:
    """Return ``suite`` as XML, for a file of that ``name``.

    What else it has is found by whoever reads the text again and compares.

    Raises:
        InvalidInput: it is no list of questions with one exact answer each.
    """
    problems = [*_find_losses(suite, name)]
    if problems:
        raise InvalidInput(problems)
    lines = ["<evaluation>"]
    for case in suite.cases:
        answer = case.checks[0].params["equals"]
        lines += [
            "   <qa_pair>",
            f"      <question>{escape(case.prompt)}</question>",
            f"      <answer>{escape(answer)}</answer>",
            "   </qa_pair>",
        ]
    return "\n".join([*lines, "</evaluation>", ""])


def _find_losses(suite: Suite, name: str) -> Iterator[Problem]:
    if suite.name != name:
        meant = f"An evaluation has its file's name: write it to {suite.name}.xml."
        yield _build_loss(suite.at, f"the name {suite.name!r} of the suite", meant)
    if suite.system_prompt != SYSTEM_PROMPT:
        meant = f"The suite needs this 'system_prompt': {SYSTEM_PROMPT}"
        yield _build_loss(suite.at, "another system prompt than its own", meant)
    for number, case in enumerate(suite.cases, start=1):
        if case.name != f"pair_{number}":
            meant = f"Its tests are numbered: call it pair_{number}."
            yield _build_loss(case.at, f"the name of test {case.name!r}", meant)
        if not _is_pair(case):
            yield _build_loss(case.at, f"the assertions of test {case.name!r}", _FORM)


def _is_pair(case: Case) -> bool:
    return [(one.kind, *one.params) for one in case.checks] == [
        ("answer_verbatim", "equals", "tag")
    ]


def _build_loss(at: Location | None, what: str, meant: str) -> Problem:
    message = f"an evaluation in XML cannot express {what}."
    return Problem(at=at or Location(file="?"), message=message, meant=meant)
