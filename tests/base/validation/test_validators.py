"""Schemas that others wrote.

Judged as the reference validator judges them, and never beyond a bound of work.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator, Draft7Validator, Draft201909Validator, Draft202012Validator
from referencing import Registry

from harness.base.validation.budget import Budget, OutOfSteps, apply_budget
from harness.base.validation.validators import (
    Validation,
    meta_errors,
    schema_problem,
    validate_value,
)
from tests.often import often

STEPS = 50_000


def held(value: Any, schema: Any, steps: int = STEPS) -> Validation:
    return validate_value(value, schema, Budget(steps))


def doubling(word: str, inner: dict[str, Any]) -> dict[str, Any]:
    """Return a schema of 30 levels, each of which applies the next one twice."""
    levels = {f"d{n}": {word: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)}
    return {"$ref": "#/$defs/d0", "$defs": {**levels, "d30": inner}}


def deep(levels: int) -> Any:
    schema: Any = {}
    for _ in range(levels):
        schema = {"items": schema}
    return schema


HOSTILE: dict[str, tuple[Any, Any]] = {
    "references": (doubling("allOf", {"type": "object"}), {}),
    "alternatives": (doubling("anyOf", {"type": "string"}), {}),
    "unevaluated": ({**doubling("anyOf", {}), "unevaluatedProperties": False}, {"a": 1}),
    "dependent": (
        {**doubling("allOf", {}), "dependentSchemas": {"a": {"$ref": "#/$defs/d0"}}},
        {"a": 1},
    ),
    "contains": ({"contains": {"allOf": [{"type": "string"}] * 50}}, list(range(20_000))),
    "messages": ({"anyOf": [{"type": "string"}] * 20_000}, ["x" * 1_000] * 1_000),
    "names": (
        {
            "items": {"$ref": "#x"},
            "$defs": {"many": {"anyOf": [{}] * 50_000}, "x": {"$anchor": "x"}},
        },
        [1] * 10_000,
    ),
    "choices": ({"items": {"enum": [{"a": n} for n in range(10_000)]}}, [{"a": -1}] * 10_000),
    "unknown words": (
        {"allOf": [{"$ref": "#/x"}] * 20_000, "x": {f"u{n}": 1 for n in range(50_000)}},
        {},
    ),
    "required": (
        {"items": {"anyOf": [{"required": [f"a{n}" for n in range(20_000)]}]}},
        [{}] * 20_000,
    ),
    "pattern on long texts": ({"items": {"pattern": "(.{1,100}){1,9}y"}}, ["x" * 1_000_000] * 100),
}


@pytest.mark.parametrize("name", often(HOSTILE, 3))
def test_the_work_of_one_validation_is_bounded_and_what_was_given_up_says_so(name: str) -> None:
    schema, value = HOSTILE[name]
    assert held(value, schema).gave_up == "to validate it takes more than 50,000 steps"


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (
            {"pattern": r"^([a-zA-Z0-9_.-])+@(([a-zA-Z0-9-])+\.)+([a-zA-Z0-9]{2,4})+$"},
            "a" * 5_000 + "@",
        ),
        (
            {"patternProperties": {"^(a+)+$": False}, "additionalProperties": False},
            {"a" * 40 + "!": 1},
        ),
        ({"propertyNames": {"pattern": "^(a|a)+$"}}, {"a" * 40 + "!": 1}),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "^(a+)+$"},
            "a" * 40 + "!",
        ),
        (
            {
                "allOf": [
                    {"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "^(a+)+$"}
                ]
            },
            "a" * 40 + "!",
        ),
        (
            {"uniqueItems": True},
            [{"n": n, "x": None} for n in range(10_000)] + [{"x": None, "n": 7.0}],
        ),
        ({"unevaluatedItems": False, "prefixItems": [{}] * 9_000}, list(range(18_000))),
        ({"enum": [f"v{n}" for n in range(200_000)]}, "w"),
    ],
)
def test_what_takes_others_for_ever_is_judged(schema: Any, value: Any) -> None:
    verdict = held(value, schema)
    assert verdict.gave_up is None
    assert len(verdict.errors) == 1


@pytest.mark.parametrize("pattern", [r"^(?!admin)\w+$", r"(a)\1", r"x{2000}"])
def test_a_pattern_that_has_no_linear_form_is_valid_and_judges_nothing(pattern: str) -> None:
    assert schema_problem({"pattern": pattern}, Budget(STEPS)) is None
    verdict = held("admin", {"pattern": pattern})
    assert verdict.errors == ()
    assert "cannot be matched in linear time" in str(verdict.gave_up)


def test_code_points_of_ecma_are_understood() -> None:
    assert held("€5", {"pattern": r"^\u20ac\u{35}$"}) == Validation()
    assert held("\\u20ac", {"pattern": r"^\\u20ac$"}) == Validation()


def test_what_was_found_before_the_end_is_kept() -> None:
    schema = {"required": ["b"], **doubling("allOf", {})}
    verdict = held({}, schema)
    assert verdict.errors == ("'b' is a required property",)
    assert verdict.gave_up is not None


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {f"p{n}": {"type": "string"} for n in range(20_000)}},
        {"anyOf": [{}] * 20_000},
        deep(400),
    ],
)
def test_finding_out_whether_a_schema_is_one_is_bounded(schema: Any) -> None:
    with pytest.raises(OutOfSteps):
        schema_problem(schema, Budget(STEPS))


def test_the_same_work_always_comes_to_the_same_end() -> None:
    schema, value = HOSTILE["references"]
    budgets = [Budget(STEPS) for _ in range(2)]
    assert validate_value(value, schema, budgets[0]) == validate_value(value, schema, budgets[1])
    assert budgets[0].left == budgets[1].left


def test_work_that_nobody_waits_for_ends_at_its_next_step() -> None:
    budget = Budget(STEPS)
    budget.end()
    assert validate_value({}, {"type": "string"}, budget).gave_up is not None


# ── the same verdicts as the reference validator ─────────────────────────────────────────────

scalars = st.sampled_from([None, True, False, 0, 1, 1.0, 1.5, -3, 10, "", "a", "ab", "b1"])
names = st.sampled_from(["a", "b", "ab", "c1"])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=8,
)
patterns = st.sampled_from(["^a", "b$", "[0-9]", "^.b?$", ""])
counts = st.integers(0, 3)
types = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
PLAIN = {
    "type": types,
    "enum": st.lists(values, min_size=1, max_size=4),
    "const": values,
    "pattern": patterns,
    "minLength": counts,
    "maxLength": counts,
    "minimum": counts,
    "exclusiveMaximum": counts,
    "multipleOf": st.sampled_from([1, 2, 0.5]),
    "minItems": counts,
    "maxItems": counts,
    "uniqueItems": st.booleans(),
    "minProperties": counts,
    "required": st.lists(names, unique=True, max_size=2),
    "minContains": counts,
    "maxContains": counts,
}


def schemas(newest: bool) -> st.SearchStrategy[Any]:
    references = {"$ref": st.sampled_from(["#/$defs/x", "#/$defs/y"])}
    leaves = st.booleans() | st.fixed_dictionaries({}, optional={**PLAIN, **references})

    def larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        several = st.lists(inner, min_size=1, max_size=3)
        named = st.dictionaries(names, inner, max_size=3)
        holding: dict[str, st.SearchStrategy[Any]] = {
            "allOf": several,
            "anyOf": several,
            "oneOf": several,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "properties": named,
            "patternProperties": st.dictionaries(patterns, inner, max_size=2),
            "additionalProperties": inner,
            "propertyNames": inner,
            "contains": inner,
            "items": inner,
        }
        if newest:
            holding |= {
                "prefixItems": several,
                "dependentSchemas": named,
                "unevaluatedItems": inner,
                "unevaluatedProperties": inner,
            }
        else:
            holding |= {"items": inner | several, "additionalItems": inner, "dependencies": named}
        return st.fixed_dictionaries({}, optional={**PLAIN, **references, **holding})

    return st.recursive(leaves, larger, max_leaves=10)


def agree(validator: Any, schema: Any, value: Any, defined: Any) -> None:
    whole = {"$schema": validator.META_SCHEMA["$schema"], "$defs": defined, "allOf": [schema]}
    reference = validator(whole, registry=Registry())
    try:
        expected = sorted(error.json_path for error in reference.iter_errors(value))
    except RecursionError:
        return
    verdict = validate_value(value, whole, Budget(1_000_000), most=1_000)
    assert verdict.gave_up is None
    assert len(verdict.errors) == len(expected)


DEFINED = st.fixed_dictionaries(
    {"x": st.fixed_dictionaries({}, optional=PLAIN), "y": st.booleans()}
)


@pytest.mark.slow
@given(schemas(newest=True), values, DEFINED)
def test_draft_2020_12_is_judged_as_the_reference_does(
    schema: Any, value: Any, defined: Any
) -> None:
    agree(Draft202012Validator, schema, value, defined)


@given(
    schemas(newest=False),
    values,
    DEFINED,
    st.sampled_from([Draft7Validator, Draft4Validator, Draft201909Validator]),
)
def test_older_drafts_are_judged_as_the_reference_does(
    schema: Any, value: Any, defined: Any, draft: Any
) -> None:
    agree(draft, schema, value, defined)


@given(schemas(newest=True) | values)
def test_what_is_a_schema_is_judged_as_the_reference_does(schema: Any) -> None:
    reference = Draft202012Validator(Draft202012Validator.META_SCHEMA)
    expected = {error.json_path for error in reference.iter_errors({"allOf": [schema]})}
    assert (schema_problem({"allOf": [schema]}, Budget(1_000_000)) is None) == (expected == set())
    with apply_budget(Budget(1_000_000)):
        assert {error.json_path for error in meta_errors({"allOf": [schema]})} == expected


FIELDS = st.text("abcde", min_size=1, max_size=5)


@given(name=FIELDS, inner=FIELDS, value=st.one_of(st.text(max_size=500), st.booleans()))
def test_an_error_inside_a_union_names_the_field_and_the_reason(
    name: str, inner: str, value: Any
) -> None:
    union = [
        {"type": "null"},
        {"type": "object", "properties": {inner: {"anyOf": [{"type": "array"}, {"type": "null"}]}}},
        {"type": "string"},
    ]
    for word in ("anyOf", "oneOf"):
        (said,) = held({name: {inner: value}}, {"properties": {name: {word: union}}}).errors
        assert said.startswith(f"at '{name}.{inner}': ")
        assert "is not of type 'array', 'null'" in said


def test_a_long_value_does_not_hide_what_is_wrong_with_it() -> None:
    (said,) = held({"a": "x" * 5_000}, {"properties": {"a": {"maxLength": 5}}}).errors
    assert said.startswith("at 'a': 'xxx")
    assert said.endswith("… is too long")


@pytest.mark.parametrize("options", [[False], [False, {"type": "string"}], [{"const": 1}, False]])
def test_a_union_with_a_schema_that_allows_nothing_is_judged_as_any_other(
    options: list[Any],
) -> None:
    found = validate_value({}, {"anyOf": options}, Budget(10_000))
    assert len(found.errors) == 1
    assert found.gave_up is None
