from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from harness.judging.checks.witness.conditions import UndecidedError
from harness.judging.checks.witness.search import WitnessResult, WitnessSearch
from harness.judging.matching.json_values import ABSENT
from harness.judging.matching.matchers import check_matcher, matches_partly, matches_pattern

NUMBERS: list[Any] = [n / 2 for n in range(-4, 25)] + list(range(-2, 13))
TEXTS = ["", "a", "b", "ab", "abc", "5", "abcd", "2024-01-01", "2024-01-02T00:00:00Z", "tomorrow"]
TEXTS += ["20240102", "Jan 2, 2024"]
SMALL: list[Any] = [None, True, False, 0, 1, 2, 3, 5, 6, 2.5, "", "a", "ab", "5", "abcd"]
LISTS = [list(each) for size in range(3) for each in itertools.product(SMALL[2:], repeat=size)]
OBJECTS = [
    {name: value for name, value in zip("abc", each, strict=True) if value is not ABSENT}
    for each in itertools.product([ABSENT, 1, 3, "a", "5", [], {"a": 1}], repeat=3)
]
EVERY = [None, True, False, *NUMBERS, *TEXTS, *LISTS, *OBJECTS]
"""Values of every sort; an expectation that no valid call matches must match none of them."""


def flat(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=keywords)


LITTLE = st.integers(0, 6)
TYPES = ["string", "integer", "number", "boolean", "null", "array", "object"]
SCALARS = st.sampled_from(SMALL)
LEAVES = flat(
    type=st.sampled_from(TYPES) | st.lists(st.sampled_from(TYPES), min_size=1, unique=True),
    enum=st.lists(SCALARS, min_size=1, max_size=3),
    minimum=LITTLE,
    exclusiveMaximum=LITTLE,
    multipleOf=st.sampled_from([1, 2, 3]),
    minLength=LITTLE,
    maxLength=LITTLE,
) | flat(const=SCALARS, type=st.sampled_from(TYPES))


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        st.builds(
            lambda more, names, rest: {**more, "properties": names, "additionalProperties": rest},
            flat(
                type=st.just("object"),
                required=st.lists(st.sampled_from("abc"), max_size=2, unique=True),
            ),
            st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            st.booleans() | inner,
        )
        | flat(
            type=st.just("array"),
            items=inner,
            prefixItems=st.lists(inner, min_size=1, max_size=2),
            minItems=st.integers(0, 2),
            maxItems=st.integers(0, 3),
        )
        | st.builds(
            lambda word, options: {word: options},
            st.sampled_from(["anyOf", "allOf", "oneOf"]),
            st.lists(inner, min_size=1, max_size=2),
        )
        | st.just({"$ref": "#/$defs/word"})
    )


SCHEMAS = st.recursive(LEAVES | st.booleans(), nested, max_leaves=5)
BOUNDS = st.integers(-1, 8) | st.sampled_from(["2024-01-01", "2024-01-02T00:00:00Z"])
MATCHERS = flat(
    **{
        "$gt": BOUNDS,
        "$lte": BOUNDS,
        "$approx": st.sampled_from([2, {"value": 3, "tolerance": 1}]),
        "$type": st.sampled_from(TYPES),
        "$length": st.integers(0, 3),
        "$absent": st.booleans(),
        "$any": st.just(True),
        "$equals": SCALARS,
    }
).filter(bool)


def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
        | st.lists(inner, max_size=2)
        | st.builds(
            lambda key, part: {key: part},
            st.sampled_from(["$contains", "$every", "$not"]),
            inner,
        )
        | st.builds(lambda parts: {"$one_of": parts}, st.lists(inner, min_size=1, max_size=2))
        | st.builds(
            lambda path, part: {"$path": {path: part}},
            st.sampled_from(["a", "a.b", "[0]", "a[*]", "[-1]"]),
            inner,
        )
    )


PATTERNS = st.recursive(SCALARS | MATCHERS, around, max_leaves=4)


def searched(pattern: Any, schema: Any) -> WitnessResult | None:
    """Return what is found of one argument ``a``; ``None`` if that is undecided."""
    try:
        search = WitnessSearch(
            {"$defs": {"word": {"type": "string", "maxLength": 2}}, "allOf": [schema]}
        )
        return search.find_values([pattern], [search.schemas.root])
    except UndecidedError:
        return None


def validator(schema: Any) -> Any:
    whole = {"$defs": {"word": {"type": "string", "maxLength": 2}}, "allOf": [schema]}
    return Draft202012Validator(whole)


@settings(max_examples=100)
@given(PATTERNS, SCHEMAS)
def test_a_witness_is_valid_and_matches_and_without_one_nothing_does(
    pattern: Any, schema: Any
) -> None:
    check_matcher(pattern)
    found, valid = searched(pattern, schema), validator(schema)
    if found is None:
        return
    for value in found.values:
        assert valid.is_valid(value)
        assert matches_pattern(pattern, value)
    if not found.values and found.sure:
        assert [one for one in EVERY if matches_pattern(pattern, one) and valid.is_valid(one)] == []


@settings(max_examples=100)
@given(SCALARS | MATCHERS, LEAVES)
def test_of_scalars_it_is_always_known(pattern: Any, schema: Any) -> None:
    found = searched(pattern, schema)
    assert found is not None
    assert found.values or found.sure


@settings(max_examples=100)
@given(st.dictionaries(st.sampled_from("abc"), SCALARS | MATCHERS, max_size=2), st.data())
def test_of_arguments_that_are_scalars_it_is_always_known(
    args: dict[str, Any], data: st.DataObject
) -> None:
    names = st.dictionaries(st.sampled_from("abc"), LEAVES, max_size=3)
    required = st.lists(st.sampled_from("abc"), max_size=2, unique=True)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": data.draw(names),
        "required": data.draw(required),
    }
    schema["additionalProperties"] = data.draw(st.booleans())
    found, valid = searched({"$contains": args}, schema), validator(schema)
    assert found is not None
    assert found.values or found.sure
    for value in found.values:
        assert valid.is_valid(value)
        assert matches_partly(args, value)


@pytest.mark.parametrize(
    ("pattern", "schema"),
    [
        ("ab", {"not": {"type": "integer"}}),
        ({"$any": True}, {"type": "object", "properties": {"a": {}}, "required": ["b"]}),
        ({"$contains": {"b": 1}}, {"type": "object", "properties": {"a": {}}, "required": ["b"]}),
        (7, {"if": {"minimum": 5}, "then": {"multipleOf": 7}}),
        ({"a": 1}, {"dependentSchemas": {"a": {"required": ["a"]}}}),
        ({"$matches": "^CUST_"}, {"type": "string", "pattern": "^[A-Z]+_[0-9]+$", "minLength": 7}),
        ({"$iequals": "red"}, {"enum": ["Red", "Blue"]}),
        (
            {"$length": {"$gte": 3}},
            {"type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": True},
        ),
        ([{"$gt": 1}, {"$gt": 1}], {"type": "array", "items": {"type": "integer"}}),
        ({"$contains": {"a": {"$gt": 5}}}, {"items": {"properties": {"a": {"type": "number"}}}}),
        ({"a": {"$absent": True}}, {"type": "object", "properties": {"b": {}}}),
        ({"$gte": "2024-01-01", "$lt": "2024-01-02"}, {"type": "string", "maxLength": 10}),
        ({"$gt": "2024-01-01T10:00:00Z", "$lt": "2024-01-01T10:00:02Z"}, {"type": "string"}),
        ({"$not": {"$gte": 5}}, {"type": "integer", "minimum": 4}),
        (5.0, {"type": "integer"}),
        ("5", {"type": ["integer", "string"]}),
        ({"$approx": {"value": 100, "tolerance": "2%"}}, {"type": "integer", "minimum": 102}),
        (4, {"$ref": "#/$defs/four", "$defs": {"four": {"const": 4}}}),
        ({"next": {"next": {"v": 1}, "v": {"$any": True}}}, {"$ref": "#/$defs/node"}),
    ],
)
def test_what_can_be_matched_is_not_refused(pattern: Any, schema: dict[str, Any]) -> None:
    node = {
        "type": "object",
        "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}},
    }
    try:
        search = WitnessSearch({**schema, "$defs": {"node": node, **schema.get("$defs", {})}})
        found = search.find_values([pattern], [search.schemas.root])
    except UndecidedError:
        return
    assert found.values or not found.sure


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"$ref": "other.json"}}},
        {"$id": "x", "properties": {"a": {"$id": "y", "type": "string"}}},
        {"properties": {"a": {"$dynamicRef": "#x"}}},
        {"properties": {"a": {"$ref": "#/nowhere"}}},
        {"properties": {"a": {"not": {"pattern": "(?<=a)b"}}}},
    ],
)
def test_what_cannot_be_decided_is_accepted(schema: dict[str, Any]) -> None:
    try:
        search = WitnessSearch(schema)
        found = search.find_values([{"$contains": {"a": 5}}], [search.schemas.root])
    except UndecidedError:
        return
    assert found.values or not found.sure


@pytest.mark.parametrize(
    ("pattern", "schema"),
    [
        ({"$matches": "^C"}, {"allOf": [{"type": "integer"}, {"type": ["integer", "string"]}]}),
        ({"$matches": "^C"}, {"type": "array", "pattern": "^C"}),
        ("12", {"type": "string", "pattern": "^[0-9]{4}$"}),
        ({"$contains": {"a": 1}, "$type": "object"}, {"properties": {"b": {}}}),
        (
            {"$contains": {"a": {"$contains": {"c": 1}}}},
            {"type": "object", "properties": {"a": {"$ref": "#"}}},
        ),
        ({"$every": {"$type": "null"}}, {"items": {"type": "string"}, "minItems": 1}),
        ({"$gt": "2024-01-01", "$lt": "2024-01-01"}, {}),
        ({"$gt": 4, "$lt": 6}, {"multipleOf": 3}),
        ({"$gt": 5, "$lt": "2024-01-01"}, {}),
        (5, {"anyOf": [{"maximum": 4}, {"type": "string"}, {"const": 6}]}),
        ({"$gt": 5}, {"type": ["string", "null"]}),
        ({"$contains": {"$gt": 5}}, {"type": "array", "minItems": 30, "items": {"maximum": 4}}),
        ({"$contains": 5}, {"type": "array", "prefixItems": [{"const": 1}], "items": False}),
    ],
)
def test_what_no_value_matches_is_known(pattern: Any, schema: dict[str, Any]) -> None:
    search = WitnessSearch(schema)
    found = search.find_values([pattern], [search.schemas.root])
    assert not found.values
    assert found.sure
