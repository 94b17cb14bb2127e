"""The variant of a model, read again from a log's header."""

from __future__ import annotations

import json

from harness.runner.variants.shown_tools import read_logged_variant
from harness.suites.axes import describe_variant
from harness.types import Decoys, ParameterEdit, ToolEdit, ToolSearch, Variant

FULL = Variant(
    name="full",
    tools={
        "a": ToolEdit(
            name="b",
            without_sentences=(2,),
            parameters={"x": ParameterEdit(name="y", default=(None,)), "z": None},
        ),
        "c": None,
    },
    order=("a",),
    add=(Decoys(count=3),),
    prompts={"case": "Other words"},
    prefix="mcp__",
    max_result_tokens=10,
    tool_search=ToolSearch(beyond=3),
)


def test_a_variant_is_read_as_it_was_written() -> None:
    for variant in (FULL, Variant(name="plain", order=7)):
        assert read_logged_variant(json.loads(json.dumps(describe_variant(variant)))) == variant


def test_no_variant_and_edits_of_another_version_are_none() -> None:
    assert read_logged_variant(None) is None
    assert read_logged_variant({"name": "x", "edits": {"tools": "all"}}) is None
    assert read_logged_variant({"name": "x"}) is None
