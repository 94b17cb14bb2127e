"""Any MCP tool list becomes one that both providers accept, and every call finds its way back.

What a provider accepts is not asked of our own code but of the strict rules of the fake provider.
"""

from __future__ import annotations

import gc
import json
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from harness.models.anthropic import _build_tools as messages_wire
from harness.models.model import Dialect
from harness.models.openai_chat import _build_tools as chat_wire
from harness.models.openai_responses import _build_tools as responses_wire
from harness.models.provider_schemas import fit_schema
from harness.models.providers.anthropic import COMPATIBLE as LIKE_ANTHROPIC
from harness.models.providers.anthropic import DIALECT as ANTHROPIC
from harness.models.providers.anthropic import get_dialect as dialect_of_anthropic
from harness.models.providers.openai import (
    COMPATIBLE,
    GEMINI,
    HOSTED,
    LLAMA_CPP,
    VERTEX,
    get_dialect,
)
from harness.models.providers.openai import DIALECT as OPENAI
from harness.models.tool_translation import KEPT, Translation, Translator, translate_tools
from harness.types import ModelSpec, Reply, Tool, ToolList
from tests.fake_provider import chat_rules, messages_rules
from tests.fake_provider.schema_dialects import (
    gemini_problem,
    llama_cpp_problem,
    openai_problem,
    vertex_problem,
)
from tests.fake_provider.tools import responses as responses_tools
from tests.often import often

STRICT: dict[Any, Callable[[Any], str | None]] = {
    OPENAI: openai_problem,
    HOSTED: openai_problem,
    GEMINI: gemini_problem,
    VERTEX: vertex_problem,
    LLAMA_CPP: llama_cpp_problem,
}
"""Rules for tools → what those who made them say of a schema."""

DIALECTS = pytest.mark.parametrize(
    "dialect", [ANTHROPIC, OPENAI], ids=lambda dialect: dialect.provider
)


def tool_list(*tools: tuple[str, dict[str, Any]]) -> ToolList:
    return ToolList(tools=tuple(Tool(name=name, input_schema=schema) for name, schema in tools))


def refuse_nothing(tools: ToolList) -> dict[str, Translation]:
    """Translate for every API, and let the API's own rules judge the result."""
    messages = Translator(ANTHROPIC, messages_wire)(tools)
    chat = Translator(OPENAI, chat_wire)(tools)
    responses = Translator(OPENAI, responses_wire)(tools)
    for dialect, problem in STRICT.items():
        for tool in Translator(dialect, chat_wire)(tools).wire:
            assert problem(tool["function"]["parameters"]) is None
    messages_rules._check_tools(messages.wire)
    chat_rules._check_tools(chat.wire)
    responses_tools.check_tools(responses.wire)
    return {"messages": messages, "chat": chat, "responses": responses}


# ── Any tool list ────────────────────────────────────────────────────────────────────────────

keys = st.one_of(
    st.sampled_from(["id", "order id", "größe", "a.b", "x" * 65, "", "$ref", "type"]),
    st.text(max_size=70),
)
names = st.one_of(
    st.sampled_from(["get", "get/it", "get.it", "get_it", "", "n" * 65, "n" * 129]),
    st.text(max_size=140),
)
leaves: st.SearchStrategy[Any] = st.sampled_from(
    [
        {},
        True,
        {"type": "string", "description": "words"},
        {"type": "array"},
        {"type": ["array", "null"], "prefixItems": [{"type": "integer"}]},
        {"type": "array", "items": [{"type": "string"}], "additionalItems": False},
        {"type": "integer", "minimum": 1, "exclusiveMinimum": True},
        {"type": "any"},
        {"enum": [1, 2], "default": {"type": "array"}},
        {"$ref": "#/$defs/A"},
        {"type": "string", "pattern": "^(?!x)y$", "format": "uri"},
        {"enum": ["a", ""], "title": "t"},
        {"const": "a", "examples": ["a"], "exclusiveMinimum": 1, "type": ["integer", "null"]},
        {"oneOf": [{"type": "string", "pattern": "a"}, {"type": "null"}]},
        {"if": {"type": "string"}, "then": {"minLength": 2}},
        7,
    ]
)
parts: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "object", "string", ["object", "null"], None]),
            "properties": st.dictionaries(keys, inner, max_size=4),
            "required": st.one_of(
                st.lists(keys, max_size=3, unique=True), st.just("id"), st.just([1])
            ),
            "items": inner,
            "anyOf": st.lists(inner, max_size=3),
            "oneOf": st.lists(inner, max_size=3),
            "allOf": st.lists(inner, max_size=3),
            "not": inner,
            "const": st.just({"id": 1}),
            "enum": st.just([{"id": 1}, {"id": 2}]),
            "$defs": st.fixed_dictionaries({"A": inner}),
            "$ref": st.sampled_from(["#/$defs/A", "#", "#/nowhere", "https://example.com/x"]),
            "$schema": st.sampled_from(["http://json-schema.org/draft-07/schema#", "x", 1]),
            "additionalProperties": st.one_of(st.booleans(), inner),
            "dependentRequired": st.dictionaries(
                keys, st.lists(keys, max_size=2, unique=True), max_size=2
            ),
        },
    ),
    max_leaves=8,
)
schemas = parts.filter(lambda part: isinstance(part, dict))
tool_lists = st.lists(st.tuples(names, schemas), max_size=6).map(lambda tools: tool_list(*tools))


@given(tools=tool_lists)
def test_any_tool_list_is_accepted_whole(tools: ToolList) -> None:
    for translation in refuse_nothing(tools).values():
        assert [offer.tool for offer in translation.offers] == list(tools.tools)


@given(tools=tool_lists, arguments=st.dictionaries(keys, st.integers(), max_size=5))
def test_every_call_finds_its_way_back(tools: ToolList, arguments: dict[str, int]) -> None:
    for dialect in (ANTHROPIC, OPENAI):
        translation = Translator(dialect, lambda offers: [])(tools)
        for offer in translation.offers:
            known = {
                key: value
                for key, value in arguments.items()
                if key in offer.tool.input_schema.get("properties", {})
            }
            sent = {offer.keys.get(key, key): value for key, value in known.items()}
            assert translation.translate_inward(offer.name, sent) == (offer.tool.name, known)


@given(
    tools=st.lists(st.tuples(names, schemas), max_size=6, unique_by=lambda tool: tool[0]).map(
        lambda t: tool_list(*t)
    )
)
def test_the_mapping_of_names_is_a_bijection(tools: ToolList) -> None:
    for dialect in (ANTHROPIC, OPENAI):
        translation = Translator(dialect, lambda offers: [])(tools)
        for tool in tools.tools:
            name, _ = translation.translate_outward(tool.name, {})
            assert translation.translate_inward(name, {})[0] == tool.name
        assert len({offer.name for offer in translation.offers}) == len(tools.tools)


@given(tools=tool_lists)
def test_the_same_list_is_always_translated_in_the_same_way(tools: ToolList) -> None:
    for dialect in (ANTHROPIC, OPENAI):
        assert translate_tools(tools, dialect) == translate_tools(tools, dialect)


def _levels(word: str) -> dict[str, Any]:
    """Return a schema each of whose 15 levels refers to the next one eight times."""
    levels = {f"d{n}": {word: [{"$ref": f"#/$defs/d{n + 1}"}] * 8} for n in range(15)}
    return {
        "type": "object",
        "$ref": "#/$defs/d0",
        "$defs": {**levels, "d15": {"properties": {"a": {}}}},
    }


HOSTILE: dict[str, dict[str, Any]] = {
    "allOf": _levels("allOf"),
    "anyOf": _levels("anyOf"),
    "in turns": {
        "type": "object",
        "allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}] * 2_000,
        "$defs": {
            "a": {"properties": {"x": {"enum": [*range(500)]}}},
            "b": {"properties": {"x": {"enum": [*range(501)]}}},
        },
    },
    "invalid": {"type": "object", "properties": {f"p{n}": {"type": "zz"} for n in range(1_000)}},
    "many": {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(2_500)}},
}


@DIALECTS
@pytest.mark.parametrize("name", often(HOSTILE, 2))
def test_a_schema_that_grows_without_end_is_offered_wider_and_named(
    dialect: Dialect, name: str
) -> None:
    tools = tool_list(
        ("t", HOSTILE[name]), ("u", {"type": "object", "properties": {"n": {"type": "integer"}}})
    )
    offers, problems = translate_tools(tools, dialect)
    assert {problem.tool for problem in problems} == {"t"}  # the neighbour is offered as it is
    assert any(
        "takes too much work" in one.problem or "more than 500 parts" in one.problem
        for one in problems
    )
    assert len(json.dumps(offers[0].schema)) < 2 * len(json.dumps(HOSTILE[name])) + 10_000
    assert Draft202012Validator(Draft202012Validator.META_SCHEMA).is_valid(offers[0].schema)


# ── Names ────────────────────────────────────────────────────────────────────────────────────


@DIALECTS
def test_a_legal_name_stays_even_when_another_would_become_it(dialect: Dialect) -> None:
    offers, problems = translate_tools(
        tool_list(("a.b", {}), ("a/b", {}), ("a_b", {}), ("a_b_2", {})), dialect
    )
    assert [offer.name for offer in offers] == ["a_b_3", "a_b_4", "a_b", "a_b_2"]
    assert [problem.tool for problem in problems] == ["a.b", "a/b"]
    assert all(problem.usable for problem in problems)
    assert (
        problems[0].problem
        == f"{dialect.provider} does not accept its name; it is offered as 'a_b_3'"
    )


@DIALECTS
def test_long_names_that_begin_alike_stay_apart(dialect: Dialect) -> None:
    offers, _ = translate_tools(tool_list(("x" * 200, {}), ("x" * 201, {})), dialect)
    first, second = (offer.name for offer in offers)
    assert len(first) == len(second) == dialect.longest_name
    assert (first, second) == ("x" * dialect.longest_name, "x" * (dialect.longest_name - 2) + "_2")


def test_two_tools_of_one_name_get_two_names_that_lead_to_it() -> None:
    translation = Translator(OPENAI, chat_wire)(tool_list(("a", {}), ("a", {})))
    assert [offer.name for offer in translation.offers] == ["a", "a_2"]
    assert translation.translate_inward("a_2", {}) == ("a", {})


def test_a_name_that_was_never_offered_stays_as_it_is_in_both_directions() -> None:
    translation = Translator(OPENAI, chat_wire)(tool_list(("a", {})))
    assert translation.translate_inward("b c", {"x": 1}) == ("b c", {"x": 1})
    assert translation.translate_outward("b c", {"x": 1}) == ("b c", {"x": 1})


# ── Schemas ──────────────────────────────────────────────────────────────────────────────────

PLAIN = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "tags": {"type": "array", "items": {"anyOf": [{}, {"const": 1}]}},
    },
    "required": ["id"],
    "additionalProperties": False,
}


@DIALECTS
def test_a_schema_that_is_accepted_passes_through_untouched(dialect: Dialect) -> None:
    fitted = fit_schema(PLAIN, dialect)
    assert fitted.schema is PLAIN
    assert (fitted.keys, fitted.hints, fitted.problems) == ({}, [], [])


def test_keys_that_only_one_provider_refuses_are_renamed_for_that_one() -> None:
    schema = {
        "type": "object",
        "properties": {"order id": {}, "order_id": {}},
        "required": ["order id"],
    }
    fitted = fit_schema(schema, ANTHROPIC)
    assert fitted.keys == {"order id": "order_id_2"}
    assert fitted.schema == {
        "type": "object",
        "properties": {"order_id_2": {}, "order_id": {}},
        "required": ["order_id_2"],
    }
    assert fit_schema(schema, OPENAI).schema is schema


@DIALECTS
def test_the_server_schema_is_never_changed(dialect: Dialect) -> None:
    schema = {
        "properties": {"größe": {"type": "array"}},
        "anyOf": [{"required": ["größe"]}],
        "$schema": "draft-07",
    }
    before = repr(schema)
    fit_schema(schema, dialect)
    assert repr(schema) == before


@DIALECTS
def test_a_missing_type_or_properties_is_filled_in_without_a_word(dialect: Dialect) -> None:
    schemas_: list[dict[str, Any]] = [
        {},
        {"properties": {}},
        {"type": ["object", "null"]},
        {"properties": None},
    ]
    for schema in schemas_:
        fitted = fit_schema(schema, dialect)
        assert fitted.schema == {"type": "object", "properties": {}}
        assert fitted.problems == []


@DIALECTS
def test_a_reference_at_the_top_is_followed(dialect: Dialect) -> None:
    order = {
        "type": "object",
        "properties": {"id": {"$ref": "#/definitions/Id"}},
        "required": ["id"],
    }
    schema = {
        "$ref": "#/definitions/Order",
        "definitions": {"Order": order, "Id": {"type": "integer"}},
    }
    fitted = fit_schema(schema, dialect)
    assert fitted.schema == {**order, "definitions": schema["definitions"]}
    assert fitted.problems == []


@DIALECTS
@pytest.mark.parametrize("reference", ["#", "#/nowhere", "https://example.com/schema", 7])
def test_a_reference_that_leads_nowhere_leaves_the_arguments_open(
    dialect: Dialect, reference: object
) -> None:
    fitted = fit_schema({"$ref": reference}, dialect)
    assert fitted.schema == {"type": "object", "properties": {}}
    assert bool(fitted.problems) is (reference != "#")


@DIALECTS
def test_all_of_is_merged_exactly(dialect: Dialect) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "allOf": [
            {"properties": {"a": {"minimum": 1}, "b": {}}, "required": ["a"]},
            {"required": ["b"], "additionalProperties": False},
        ],
    }
    fitted = fit_schema(schema, dialect)
    assert fitted.schema == {
        "type": "object",
        "properties": {"a": {"allOf": [{"type": "integer"}, {"minimum": 1}]}, "b": {}},
        "required": ["a", "b"],
    }
    assert fitted.problems == []


@DIALECTS
def test_alternatives_are_merged_and_said_in_words(dialect: Dialect) -> None:
    circle = {
        "properties": {"kind": {"const": "circle"}, "radius": {}},
        "required": ["kind", "radius"],
    }
    square = {"properties": {"kind": {"const": "square"}, "side": {}}, "required": ["kind", "side"]}
    fitted = fit_schema({"type": "object", "oneOf": [circle, square]}, dialect)
    assert fitted.schema == {
        "type": "object",
        "properties": {
            "kind": {"anyOf": [{"const": "circle"}, {"const": "square"}]},
            "radius": {},
            "side": {},
        },
        "required": ["kind"],
    }
    assert fitted.hints == [
        'Give the arguments of exactly one of: (kind="circle", radius) or (kind="square", side).'
    ]
    assert fitted.problems == [
        f"{dialect.provider} takes no oneOf at the top of a schema; it is offered wider"
    ]


def test_the_hint_stands_in_the_description_that_the_model_reads() -> None:
    schema = {
        "type": "object",
        "properties": {"id": {}, "name": {}},
        "anyOf": [{"required": ["id"]}, {"required": ["name"]}],
    }
    tools = ToolList(tools=(Tool(name="find", description="Find it.", input_schema=schema),))
    ((offer,), _) = translate_tools(tools, ANTHROPIC)
    assert offer.description == "Find it.\nGive the arguments of at least one of: (id) or (name)."


def test_values_at_the_top_are_said_in_words_to_openai() -> None:
    fitted = fit_schema(
        {"type": "object", "properties": {}, "not": {"required": ["x"]}, "enum": [{}]}, OPENAI
    )
    assert fitted.schema == {"type": "object", "properties": {}}
    assert sorted(fitted.hints) == [
        'The arguments must be anything but: {"required": ["x"]}',
        "The arguments must be one of: [{}]",
    ]


def test_arrays_say_what_they_hold_to_openai_and_defaults_stay_as_they_are() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "array", "default": {"type": "array"}}},
    }
    assert fit_schema(schema, OPENAI).schema == {
        "type": "object",
        "properties": {"a": {"type": "array", "default": {"type": "array"}, "items": {}}},
    }
    assert fit_schema(schema, ANTHROPIC).schema is schema


@DIALECTS
def test_older_drafts_are_said_in_the_newest(dialect: Dialect) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "object",
        "properties": {
            "pair": {
                "type": "array",
                "items": [{"type": "integer"}, {"type": "string"}],
                "additionalItems": False,
            },
            "above": {"type": "integer", "minimum": 0, "exclusiveMinimum": True},
            "upto": {"type": "integer", "maximum": 9, "exclusiveMaximum": False},
        },
    }
    fitted = fit_schema(schema, dialect)
    assert fitted.schema["properties"] == {
        "pair": {
            "type": "array",
            "prefixItems": [{"type": "integer"}, {"type": "string"}],
            "items": False,
        },
        "above": {"type": "integer", "exclusiveMinimum": 0},
        "upto": {"type": "integer", "maximum": 9},
    }
    assert fitted.problems == []


@DIALECTS
def test_what_is_no_schema_is_left_open_and_named(dialect: Dialect) -> None:
    schema = {
        "type": "object",
        "properties": {"good": {"type": "string"}, "bad": {"type": "any"}},
        "required": True,
    }
    fitted = fit_schema(schema, dialect)
    assert fitted.schema == {
        "type": "object",
        "properties": {"good": {"type": "string"}, "bad": {}},
    }
    assert sorted(fitted.problems) == [
        "its schema is invalid at properties/bad/type; that part is left open",
        "its schema is invalid at required; that part is left open",
    ]


@DIALECTS
def test_arguments_that_are_no_object_are_offered_as_none_and_named(dialect: Dialect) -> None:
    fitted = fit_schema({"type": "string", "minLength": 1}, dialect)
    assert fitted.schema == {"type": "object", "properties": {}}
    assert fitted.problems == [
        'its arguments are "string" and not an object; it is offered without any'
    ]


# ── Once ─────────────────────────────────────────────────────────────────────────────────────


def test_a_list_is_translated_once_and_so_is_an_equal_one() -> None:
    translator = Translator(OPENAI, chat_wire)
    tools = tool_list(("a", {}))
    assert translator(tools) is translator(tools)
    same = [ToolList(tools=tools.tools, digest="d") for _ in range(2)]
    assert translator(same[0]) is translator(same[1])


def test_memory_stays_flat_over_many_lists() -> None:
    translator = Translator(OPENAI, chat_wire)
    first = translator(tool_list(("a", {})))
    gone = weakref.ref(first)
    del first
    for number in range(KEPT):
        translator(tool_list((f"a{number}", {})))
    gc.collect()
    assert gone() is None


# ── What is refused at any depth ─────────────────────────────────────────────────────────────

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "look-ahead": ({"type": "string", "pattern": "^(?=.*x)a$"}, "^(before: .*x)a$"),
    "look-behind": ({"type": "string", "pattern": "^a(?<!b)$"}, "^a(not after: b)$"),
    "back-reference": ({"type": "string", "pattern": r"^(a)\1$"}, "(a)"),
    "open pattern": ({"type": "string", "pattern": "[A-Z]{3}"}, "[A-Z]{3}"),
    "format": ({"type": "string", "format": "uri"}, "uri"),
    "enum of numbers": ({"type": "integer", "enum": [17, 23]}, "23"),
    "const": ({"type": "integer", "const": 17}, "17"),
    "bounds": ({"type": "number", "exclusiveMinimum": 17.5}, "17.5"),
    "multipleOf": ({"type": "integer", "multipleOf": 17}, "17"),
    "not": ({"not": {"const": "abc"}}, "abc"),
    "if": ({"if": {"type": "string"}, "then": {"minLength": 17}}, "17"),
    "allOf": ({"allOf": [{"enum": ["a17", "b"]}, {"enum": ["a17", "c23"]}]}, "c23"),
    "patternProperties": (
        {"type": "object", "properties": {}, "patternProperties": {"^x17": {}}},
        "^x17",
    ),
    "uniqueItems": ({"type": "array", "items": {}, "uniqueItems": True}, "uniqueItems"),
    "prefixItems": ({"type": "array", "prefixItems": [{"const": 17}], "items": {}}, "17"),
    "letters of a script": ({"type": "string", "pattern": r"^\p{L}17$"}, "p{L}17"),
    "named group": ({"type": "string", "pattern": "^(?<n17>a)$"}, "n17"),
    "digits": ({"type": "string", "pattern": r"^\d{17}$"}, "d{17}"),
    "escape in a set": ({"type": "string", "pattern": r"^[\w17-]+$"}, "w17"),
    "count": ({"type": "string", "pattern": "^.{1,5000}$"}, "5000"),
    "maxLength": ({"type": "string", "maxLength": 2000}, "2000"),
    "minItems": ({"type": "array", "items": {"type": "string"}, "minItems": 4000}, "4000"),
    "key": (
        {"type": "object", "properties": {}, "patternProperties": {"^(?!x17)": {}}},
        "x17",
    ),
    "dead reference": ({"$ref": "#/$defs/X17"}, "X17"),
    "number as a choice": ({"enum": ["a", 17, None]}, "17"),
    "format of a number": ({"type": "integer", "format": "uint17"}, "uint17"),
    "foreign reference": ({"$ref": "https://example.com/x17"}, "x17"),
}
"""A part that some provider refuses → what a model must still read of it."""
DEPTHS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "property": lambda part: part,
    "items": lambda part: {"type": "array", "items": part},
    "nested": lambda part: {"type": "object", "properties": {"b": part}},
    "anyOf": lambda part: {"anyOf": [{"type": "boolean"}, part]},
    "deep": lambda part: {
        "type": "object",
        "properties": {"b": {"type": "array", "items": {"anyOf": [part, {"type": "null"}]}}},
    },
}


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("what", REFUSED)
def test_what_a_provider_refuses_is_left_out_at_any_depth_and_described(
    what: str, depth: str
) -> None:
    part, words = REFUSED[what]
    schema = {"type": "object", "properties": {"a": DEPTHS[depth](part)}}
    tools = tool_list(("t", schema))
    for dialect, problem in STRICT.items():
        (offer,) = translate_tools(tools, dialect)[0]
        assert problem(offer.schema) is None
        assert words in json.dumps(offer.schema, ensure_ascii=False).replace("\\", "")
        if problem(schema) is not None:
            assert offer.refused
        assert offer.tool.input_schema is schema  # by which calls are judged


@pytest.mark.parametrize("what", REFUSED)
def test_an_endpoint_that_may_be_any_gets_what_openai_and_llama_cpp_take(what: str) -> None:
    schema = {"type": "object", "properties": {"a": REFUSED[what][0]}}
    (offer,) = translate_tools(tool_list(("t", schema)), COMPATIBLE)[0]
    assert openai_problem(offer.schema) is None
    assert llama_cpp_problem(offer.schema) is None


def test_what_can_be_said_in_the_words_that_gemini_takes_loses_nothing() -> None:
    schema = {
        "type": "object",
        "properties": {
            "unit": {"const": "EUR"},
            "size": {"type": "integer", "exclusiveMinimum": 0},
            "note": {"type": ["string", "null"]},
            "by": {"oneOf": [{"type": "string"}, {"$ref": "#/$defs/Id"}]},
        },
        "$defs": {"Id": {"type": "integer", "minimum": 1}},
        "additionalProperties": False,
    }
    (offer,) = translate_tools(tool_list(("t", schema)), GEMINI)[0]
    assert offer.refused == ()
    assert offer.schema == {
        "type": "object",
        "properties": {
            "unit": {"type": "string", "enum": ["EUR"]},
            "size": {"type": "integer", "minimum": 1},
            "note": {"type": "string", "nullable": True},
            "by": {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 1}]},
        },
    }


@pytest.mark.parametrize(
    ("part", "taken"),
    [
        (
            {"anyOf": [{"$ref": "#/$defs/Kind"}, {"type": "null"}], "default": None},
            {"nullable": True, "default": None, "type": "string", "enum": ["a", "b"]},
        ),
        (
            {"allOf": [{"$ref": "#/$defs/Kind"}], "description": "d"},
            {"description": "d", "type": "string", "enum": ["a", "b"]},
        ),
        ({"enum": ["a", None]}, {"enum": ["a"], "nullable": True, "type": "string"}),
        ({"type": "string", "properties": {"a": {}}, "required": ["a"]}, {"type": "string"}),
        (
            {"type": ["array", "integer"], "items": {"type": "string"}, "minimum": 1},
            {
                "anyOf": [
                    {"type": "array", "items": {"type": "string"}},
                    {"type": "integer", "minimum": 1},
                ]
            },
        ),
    ],
)
def test_each_part_gets_the_one_type_that_gemini_asks_for(part: Any, taken: Any) -> None:
    kind = {"type": "string", "enum": ["a", "b"]}
    schema = {"type": "object", "properties": {"a": part}, "$defs": {"Kind": kind}}
    (offer,) = translate_tools(tool_list(("t", schema)), GEMINI)[0]
    assert (offer.schema["properties"]["a"], offer.refused) == (taken, ())


def test_what_stands_beside_alternatives_stands_in_each_for_vertex() -> None:
    part = {
        "description": "d",
        "anyOf": [{"type": "string"}, {"type": "object", "properties": {"x": {"type": "string"}}}],
    }
    schema = {"type": "object", "properties": {"a": part}}
    (offer,) = translate_tools(tool_list(("t", schema)), VERTEX)[0]
    assert vertex_problem(schema) is not None
    assert vertex_problem(offer.schema) is None
    alternatives = offer.schema["properties"]["a"]["anyOf"]
    assert [one["description"] for one in alternatives] == ["d", "d"]
    assert (offer.refused, alternatives[1]["properties"]) == ((), {"x": {"type": "string"}})


TAKEN: dict[str, tuple[Dialect, ...]] = {
    r"^\(?=x$": (OPENAI, COMPATIBLE, LLAMA_CPP),
    "^[(?=]+$": (OPENAI, COMPATIBLE, LLAMA_CPP),
    r"^a\\1$": (OPENAI, COMPATIBLE, LLAMA_CPP),
    r"^\d{3}$": (OPENAI, HOSTED),
    "[A-Z]": (OPENAI, HOSTED),
    r"^(?!x)\p{L}$": (ANTHROPIC,),
    "^(?!x)y$": (ANTHROPIC, LIKE_ANTHROPIC),
    "^.{1,1999}$": (OPENAI, COMPATIBLE, LLAMA_CPP),
}


@pytest.mark.parametrize("pattern", TAKEN)
def test_a_pattern_that_is_taken_is_sent_as_it_is(pattern: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}
    for dialect in TAKEN[pattern]:
        (offer,) = translate_tools(tool_list(("t", schema)), dialect)[0]
        assert offer.schema is schema


def test_llama_cpp_keeps_a_condition_beside_a_type() -> None:
    part = {"type": "string", "not": {"pattern": r"^\d"}, "if": {}, "then": {"minLength": 1}}
    schema = {"type": "object", "properties": {"a": part}}
    (offer,) = translate_tools(tool_list(("t", schema)), LLAMA_CPP)[0]
    assert offer.schema is schema


def test_gemini_gets_names_that_begin_with_a_letter() -> None:
    names = [offer.name for offer in translate_tools(tool_list(("3d", {}), ("-a", {})), GEMINI)[0]]
    assert names == ["_3d", "_-a"]


def test_a_schema_that_refers_to_itself_is_written_out_to_an_end() -> None:
    schema = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/Tree"}},
        "$defs": {
            "Tree": {
                "type": "object",
                "properties": {
                    "left": {"$ref": "#/$defs/Tree"},
                    "right": {"$ref": "#/$defs/Tree"},
                },
            }
        },
    }
    (offer,) = translate_tools(tool_list(("t", schema)), GEMINI)[0]
    assert gemini_problem(offer.schema) is None
    assert {refusal.what for refusal in offer.refused} == {"'$ref' that cannot be written out"}
    assert len(json.dumps(offer.schema)) < 200_000


def test_a_long_description_is_continued_in_the_schema() -> None:
    words = " ".join(f"word{number}" for number in range(300))
    tool = Tool(name="t", description=words, input_schema=PLAIN)
    (offer,) = translate_tools(ToolList(tools=(tool,)), OPENAI)[0]
    assert len(offer.description) <= 1024
    joined = offer.description.rstrip("…") + " " + offer.schema["description"].lstrip("…")
    assert joined == words
    assert [one.what for one in offer.refused] == ["description of more than 1,024 characters"]
    (same,) = translate_tools(ToolList(tools=(tool,)), ANTHROPIC)[0]
    assert (same.description, same.refused) == (words, ())


def test_what_was_left_out_is_said_with_the_first_reply_alone() -> None:
    schema = {"type": "object", "properties": {"a": REFUSED["look-ahead"][0]}}
    translation = Translator(OPENAI, chat_wire)(tool_list(("t", schema), ("u", schema)))
    said = "OpenAI takes no 'pattern' with look-around: it stands in descriptions instead "
    said += "(t at properties/a, u at properties/a)"
    assert translation.say_once(Reply(text="a")).adapted == (said,)
    assert translation.say_once(Reply(text="a")).adapted == ()


def test_other_names_and_a_wider_schema_are_said_once_for_all_tools() -> None:
    top = {"type": "object", "anyOf": [{"required": ["a"]}], "properties": {"a b": {}}}
    tools = tool_list(*((f"get.{number}", top) for number in range(9)))
    said = Translator(ANTHROPIC, messages_wire)(tools).say_once(Reply(text="a")).adapted
    wider, renamed = said
    assert wider == (
        "Anthropic takes no anyOf at the top of a schema; it is offered wider "
        "(get.0, get.1, get.2, get.3, get.4, get.5 and 3 more)"
    )
    assert renamed.startswith("Anthropic does not accept every name: get.0 is offered as get_0, ")
    assert renamed.endswith("get.5 is offered as get_5 and 12 more")


@pytest.mark.parametrize(
    ("url", "dialect"),
    [
        (None, OPENAI),
        ("https://api.openai.com/v1", OPENAI),
        ("https://generativelanguage.googleapis.com/v1beta/openai/", GEMINI),
        ("https://europe-west1-aiplatform.googleapis.com/v1/x/openapi", VERTEX),
        ("https://acme.openai.azure.com/openai/deployments/d?api-version=2024-10-21", OPENAI),
        (" https://openrouter.ai/api/v1", HOSTED),
        ("http://127.0.0.1:8080/v1", COMPATIBLE),
        ("https://gateway.example.com/v1", COMPATIBLE),
        ("https://notgenerativelanguage.googleapis.com.example.com", COMPATIBLE),
    ],
)
def test_the_endpoint_decides_which_rules_hold(url: str | None, dialect: Dialect) -> None:
    spec = ModelSpec(name="m", provider="openai", model_id="m", base_url=url)
    assert get_dialect(spec) is dialect


@pytest.mark.parametrize(
    ("url", "model", "dialect"),
    [
        ("https://openrouter.ai/api/v1", "google/gemini-2.5-pro", VERTEX),
        ("http://127.0.0.1:4000", "vertex_ai/gemini-2.5-flash", VERTEX),
        ("http://127.0.0.1:4000", "gemini-2.5-flash", VERTEX),
        ("http://127.0.0.1:4000", "not-gemini", COMPATIBLE),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-pro", GEMINI),
        (None, "gemini-2.5-pro", OPENAI),
    ],
)
def test_a_gateway_asked_for_a_gemini_gets_its_rules(
    url: str | None, model: str, dialect: Dialect
) -> None:
    spec = ModelSpec(name="m", provider="openai", model_id=model, base_url=url)
    assert get_dialect(spec) is dialect


def test_an_endpoint_like_anthropics_has_its_own_rules() -> None:
    own = ModelSpec(name="m", provider="anthropic", model_id="claude-x")
    other = replace(own, base_url="https://api.z.ai/api/anthropic")
    assert dialect_of_anthropic(own) is ANTHROPIC
    assert dialect_of_anthropic(other) is LIKE_ANTHROPIC
