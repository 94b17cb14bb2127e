"""Every name that is sent is one of the conventions, or one of ours that the page explains."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from types import ModuleType

from opentelemetry.semconv import attributes
from opentelemetry.semconv._incubating import attributes as incubating
from opentelemetry.semconv._incubating.attributes.gen_ai_attributes import GenAiOperationNameValues
from opentelemetry.semconv._incubating.attributes.network_attributes import NetworkTransportValues
from opentelemetry.semconv._incubating.attributes.test_attributes import (
    TestCaseResultStatusValues as CaseStatus,
)
from opentelemetry.semconv.schemas import Schemas

from harness.telemetry import conventions
from harness.types import Wire
from tests.telemetry.test_spans import RUN, TRANSCRIPT, trace

OPENINFERENCE = {"input.value", "output.value", "openinference.span.kind"}
"""Of https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md, which has no
package of its own here."""


def members(package: ModuleType) -> Iterator[str]:
    """Yield the names that a package of the conventions defines."""
    for found in pkgutil.iter_modules(package.__path__):
        module = import_module(f"{package.__name__}.{found.name}")
        yield from (
            value
            for name, value in vars(module).items()
            if name.isupper() and isinstance(value, str)
        )


def ours(name: str) -> bool:
    return name.startswith("harness.")


def test_every_name_in_the_table_is_known_to_the_conventions_or_is_ours() -> None:
    known = {*members(attributes), *members(incubating), *OPENINFERENCE}
    assert "gen_ai.operation.name" in known, "the conventions were not read"
    no_attributes = {conventions.EVALUATION, conventions.TOKENS_USED, conventions.CALL_DURATION}
    sent = {
        value
        for name, value in vars(conventions).items()
        if name.isupper() and isinstance(value, str) and "." in value
    } - {conventions.SCHEMA_URL, *no_attributes}
    assert {name for name in sent if not ours(name)} <= known


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
