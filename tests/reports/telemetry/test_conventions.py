"""Every name that is sent is one of the conventions, or one of ours that the page explains."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from opentelemetry import semconv
from opentelemetry.semconv._incubating.attributes.gen_ai_attributes import GenAiOperationNameValues
from opentelemetry.semconv._incubating.attributes.network_attributes import NetworkTransportValues
from opentelemetry.semconv._incubating.attributes.test_attributes import (
    TestCaseResultStatusValues as CaseStatus,
)
from opentelemetry.semconv.schemas import Schemas

from harness.reports.telemetry import conventions
from harness.types import Wire
from tests.often import often
from tests.reports.telemetry.test_spans import RUN, TRANSCRIPT, trace

OPENINFERENCE = {"input.value", "output.value", "openinference.span.kind"}
"""Of https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md, which has no
package of its own here."""


GENAI = json.loads(Path(__file__).with_name("genai_conventions.json").read_text("utf-8"))
"""Names of the conventions for generative AI and MCP, which no package for Python has yet."""


def general() -> dict[str, bool]:
    """Return each name that the package of the general conventions has → whether it is deprecated.

    The words on a constant stand below it, as a text of their own.
    """
    found = {}
    for path in Path(semconv.__path__[0]).rglob("*.py"):
        body = ast.parse(path.read_text("utf-8")).body
        for constant, words in pairwise(body):
            match constant, words:
                case (
                    ast.Assign(value=ast.Constant(value=str(name)))
                    | ast.AnnAssign(value=ast.Constant(value=str(name))),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    found[name] = text.strip().startswith("Deprecated")
    return found


def unknown(names: set[str]) -> set[str]:
    """Return those of ``names`` that no convention has, or only as deprecated."""
    current = {name for name, deprecated in general().items() if not deprecated}
    genai = {*GENAI["attributes"], *GENAI["events"], *GENAI["metrics"]}
    return {name for name in names if not ours(name)} - current - genai - OPENINFERENCE


def ours(name: str) -> bool:
    return name.startswith("harness.")


def test_every_name_in_the_table_is_known_to_the_conventions_or_is_ours() -> None:
    sent = {
        value
        for name, value in vars(conventions).items()
        if name.isupper() and isinstance(value, str) and "." in value
    } - {conventions.SCHEMA_URL}
    assert "gen_ai.operation.name" in sent, "the table was not read"
    assert unknown(sent) == set()


@pytest.mark.parametrize(
    "name",
    often(
        [
            "gen_ai.client.token.usage",
            "gen_ai.token.type",
            "gen_ai.usage.cache_creation.input_tokens",
            "gen_ai.system",
        ],
        1,
    ),
)
def test_names_that_a_release_calls_deprecated_count_as_unknown(name: str) -> None:
    assert general()[name]
    assert unknown({name}) == {name}


def test_the_span_of_a_trial_has_none_of_the_attributes_that_the_conventions_removed_from_it() -> (
    None
):
    agent, *others = trace(transcript=TRANSCRIPT).spans
    assert agent.attributes[conventions.OPERATION] == conventions.INVOKE_AGENT
    assert not set(GENAI["not_on_invoke_agent"]) & set(agent.attributes)
    assert any(conventions.PROVIDER in span.attributes for span in others)


def test_every_attribute_of_a_trace_stands_in_the_table() -> None:
    table = {value for value in vars(conventions).values() if isinstance(value, str)}
    for content in (True, False):
        for span in trace(transcript=TRANSCRIPT, content=content).spans:
            assert set(span.attributes) <= table
            for event in span.events:
                assert {event.name, *event.attributes} <= table


def test_values_of_a_closed_set_are_members_of_it() -> None:
    closed = {
        conventions.OPERATION: GenAiOperationNameValues,
        conventions.TRANSPORT: NetworkTransportValues,
        conventions.CASE_STATUS: CaseStatus,
    }
    wires = [Wire(transport=transport) for transport in ("pipe", "tcp")]
    calls = zip(TRANSCRIPT.tool_calls, wires, strict=True)
    traced = replace(TRANSCRIPT, tool_calls=tuple(replace(call, wire=w) for call, w in calls))
    seen: dict[str, set[object]] = {name: set() for name in closed}
    for status in ("passed", "failed", "error", "cancelled"):
        for span in trace(replace(RUN, status=status), traced).spans:
            for name in closed:
                seen[name] |= {span.attributes[name]} if name in span.attributes else set()
    for name, members_of in closed.items():
        assert seen[name], name
        assert seen[name] <= {one.value for one in members_of}


def test_the_schema_is_one_that_the_conventions_have_published() -> None:
    assert conventions.SCHEMA_URL in {schema.value for schema in Schemas}
