from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import InvalidValue
from harness.judging.matching.json_values import ABSENT, is_equal, to_plain_json
from harness.judging.matching.matchers import (
    OPERATORS,
    check_matcher,
    describe_pattern,
    explain_unlike,
    matches_partly,
    matches_pattern,
)
from tests.judging.checks.strategies import JSON, PLAIN


@given(PLAIN)
def test_a_plain_value_matches_itself(value: Any) -> None:
    check_matcher(value)
    assert matches_pattern(value, to_plain_json(value))


@given(PLAIN, JSON)
def test_a_plain_value_matches_what_equals_it_and_nothing_else(pattern: Any, value: Any) -> None:
    assert matches_pattern(pattern, value) == is_equal(pattern, value)


@given(
    st.dictionaries(
        st.text(max_size=4).filter(lambda key: not key.startswith("$")), PLAIN, max_size=4
    ),
    st.data(),
)
def test_an_object_matches_any_part_of_itself(value: dict[str, Any], data: st.DataObject) -> None:
    part = data.draw(st.sets(st.sampled_from(sorted(value)))) if value else set()
    assert matches_partly({key: value[key] for key in part}, value)
    assert matches_partly({}, value)
    assert not matches_partly(
        {**value, "more": 1}, {key: value[key] for key in value if key != "more"}
    )


@given(JSON, JSON)
def test_equals_takes_anything_as_it_stands(pattern: Any, value: Any) -> None:
    check_matcher({"$equals": pattern})
    assert matches_pattern({"$equals": pattern}, pattern)
    assert matches_pattern({"$equals": pattern}, value) == is_equal(pattern, value)


@given(JSON, st.dictionaries(st.sampled_from(sorted(OPERATORS)), JSON, min_size=1, max_size=2))
def test_any_pattern_is_refused_or_can_be_matched_and_told(
    value: Any, pattern: dict[str, Any]
) -> None:
    try:
        check_matcher(pattern)
    except InvalidValue as error:
        assert error.path  # noqa: PT017 - both outcomes are right
        return
    assert matches_pattern(pattern, value) in (True, False)
    assert matches_pattern(pattern, ABSENT) in (True, False)
    assert matches_pattern({"$not": pattern}, value) != matches_pattern(pattern, value) or is_equal(
        {"$not": pattern}, value
    )
    assert len(describe_pattern(pattern, 40)) <= 80


@given(
    st.integers(-100, 100), st.integers(-100, 100), st.integers(-100, 100) | st.floats(-100, 100)
)
def test_bounds_are_those_of_the_number_line(low: int, high: int, value: float) -> None:
    assert matches_pattern({"$gte": low, "$lte": high}, value) == (low <= value <= high)
    assert matches_pattern({"$gt": low, "$lt": high}, value) == (low < value < high)


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        ({"$equals": {"a": 1}}, {"a": 1}),
        ({"$iequals": "Red"}, "RED"),
        ({"$contains": "ed"}, "red"),
        ({"$contains": 2}, [1, 2]),
        ({"$contains": {"id": 1}}, [{"id": 1}]),
        ({"$contains": {"id": {"$gt": 1}}}, {"id": 2, "more": True}),
        ({"$matches": "^C\\d+$"}, "C12"),
        ({"$one_of": ["a", 1, {"$gt": 5}]}, 6),
        ({"$one_of": ["a", {"$absent": True}]}, ABSENT),
        ({"$gte": "2024-01-01", "$lt": "2025-01-01"}, "2024-06-30"),
        ({"$lte": "2024-12-31"}, "2024-12-31T23:59:59-08:00"),
        ({"$gt": "2024-01-01T00:00:00+02:00"}, "2023-12-31T22:30:00Z"),
        ({"$approx": 0.3}, 0.1 + 0.2),
        ({"$approx": {"value": 100, "tolerance": 2}}, 98),
        ({"$approx": {"value": 100, "tolerance": "2%"}}, 102),
        ({"$length": 3}, "abc"),
        ({"$length": {"$gte": 1}}, [1]),
        ({"$length": 1}, {"a": 1}),
        ({"$type": "integer"}, 5.0),
        ({"$type": ["string", "null"]}, None),
        ({"$every": {"$gt": 0}}, [1, 2]),
        ({"$every": 1}, []),
        (
            {"$path": {"range.min": 1, "tags[0]": {"$contains": "a"}}},
            {"range": {"min": 1}, "tags": ["cat"]},
        ),
        ({"$path": {"range.max": {"$absent": True}}}, {"range": {}}),
        ({"$path": {"[*].id": 2}}, [{"id": 1}, {"id": 2}]),
        ({"$not": "a"}, "b"),
        ({"$not": "a"}, ABSENT),
        ({"$absent": True}, ABSENT),
        ({"$absent": False}, None),
        ({"$any": True}, None),
        ({"a": {"$gt": 1}, "b": [{"$any": True}]}, {"a": 2, "b": [0]}),
        ({"a": 1, "b": {"$absent": True}}, {"a": 1}),
        ({"$gt": 5}, {"$gt": 5}),
    ],
)
def test_a_matcher_holds(pattern: Any, value: Any) -> None:
    check_matcher(pattern)
    assert matches_pattern(pattern, value)


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        ({"$equals": {"a": 1}}, {"a": 1, "b": 2}),
        ({"$iequals": "Red"}, "reds"),
        ({"$iequals": "1"}, 1),
        ({"$contains": "ED"}, "red"),
        ({"$contains": 2}, "2"),
        ({"$contains": 2}, 2),
        ({"$contains": {"id": 1}}, {"more": 1}),
        ({"$matches": "^C\\d+$"}, "xC12"),
        ({"$matches": "1"}, 1),
        ({"$one_of": ["1"]}, 1),
        ({"$gt": 5}, "6"),
        ({"$gt": 5}, True),
        ({"$gte": "2024-01-01"}, 1),
        ({"$gte": "2024-01-01"}, "tomorrow"),
        ({"$gt": "2024-12-31"}, "2024-12-31T23:59:59Z"),
        ({"$gt": 5}, ABSENT),
        ({"$approx": 1}, 1.001),
        ({"$approx": 1}, True),
        ({"$approx": {"value": 100, "tolerance": 2}}, 97.9),
        ({"$approx": {"value": 1.5, "tolerance": 1}}, 10**400),
        ({"$length": 3}, 3),
        ({"$type": "integer"}, 5.5),
        ({"$type": "integer"}, True),
        ({"$type": "array"}, ABSENT),
        ({"$every": {"$gt": 0}}, [1, -2]),
        ({"$every": 1}, 1),
        ({"$path": {"a.b": 1}}, {"a": 1}),
        ({"$path": {"a": 1, "b": 2}}, {"a": 1, "b": 3}),
        ({"$path": {"a.b": 1}}, ABSENT),
        ({"$not": "a"}, "a"),
        ({"$absent": True}, None),
        ({"$absent": False}, ABSENT),
        ({"$any": True}, ABSENT),
        ({"a": {"$gt": 1}}, {"a": 2, "b": 1}),
        ({"$gte": 1, "$lte": 5}, 6),
    ],
)
def test_a_matcher_does_not_hold(pattern: Any, value: Any) -> None:
    check_matcher(pattern)
    assert not matches_pattern(pattern, value)


@pytest.mark.parametrize(
    ("pattern", "path", "said", "meant"),
    [
        ({"a": {"$gtt": 5}}, ("a", "$gtt"), "there is no matcher $gtt", "Did you mean $gt"),
        ({"$regex": "x"}, ("$regex",), "there is no matcher $regex", "Did you mean $matches?"),
        ({"$zzzzz": 1}, ("$zzzzz",), "there is no matcher $zzzzz", "Known: $equals"),
        ({"$ref": "#/x"}, ("$ref",), "there is no matcher $ref", "put it under $equals"),
        ({"$gt": 5, "age": 3}, ("age",), "the key 'age' stands beside a $ operator", "$equals"),
        ([{"$gt": None}], (0, "$gt"), "$gt takes a number or a date, not null", ""),
        ({"$lt": "b"}, ("$lt",), '$lt takes a number or a date, not "b"', "use $one_of"),
        ({"$gte": "2025"}, ("$gte",), "a number or a date", "written 2024-03-31"),
        ({"$matches": "("}, ("$matches",), "missing )", ""),
        (
            {"$matches": 5},
            ("$matches",),
            "$matches takes a regular expression as a string, not 5",
            "",
        ),
        ({"$one_of": []}, ("$one_of",), "a list of at least one value", ""),
        ({"$one_of": [{"$gtt": 5}]}, ("$one_of", 0, "$gtt"), "there is no matcher $gtt", ""),
        ({"$length": -1}, ("$length",), "$length takes a count or a matcher, not -1", ""),
        ({"$length": 1.5}, ("$length",), "$length takes a count or a matcher", ""),
        ({"$approx": "5"}, ("$approx",), "$approx takes a number", ""),
        ({"$approx": {"value": 5}}, ("$approx",), "{value: number, tolerance", ""),
        (
            {"$approx": {"value": 5, "tolerance": "5"}},
            ("$approx", "tolerance"),
            "a tolerance is",
            '"1%"',
        ),
        (
            {"$approx": {"value": 5, "tolerance": -1}},
            ("$approx", "tolerance"),
            "a tolerance is",
            "",
        ),
        ({"$type": "int"}, ("$type",), "one or more of string, number", ""),
        ({"$path": {"a..b": 1}}, ("$path", "a..b"), "is wrong at character", "orders[0].status"),
        ({"$path": {}}, ("$path",), "a mapping of paths", ""),
        ({"$absent": 1}, ("$absent",), "true or false", ""),
        ({"$any": False}, ("$any",), "$any takes true", ""),
    ],
)
def test_a_matcher_that_does_not_fit_is_refused(
    pattern: Any, path: tuple[Any, ...], said: str, meant: str
) -> None:
    with pytest.raises(InvalidValue) as caught:
        check_matcher(pattern)
    assert caught.value.path == path
    assert said in caught.value.message
    assert meant in (caught.value.meant or "")


@pytest.mark.parametrize("operand", [0, 1, 2.0, {"$gte": 0}])
def test_a_length_is_a_count_or_a_matcher(operand: Any) -> None:
    check_matcher({"$length": operand})
    assert matches_pattern({"$length": 2.0}, "ab")
    assert matches_pattern({"$length": 0}, [])


@pytest.mark.parametrize("operand", [-1, -0.5, 0.5, "2", None, True, [2], {"length": 2}])
def test_nothing_else_is_a_length(operand: Any) -> None:
    with pytest.raises(InvalidValue, match="a count or a matcher"):
        check_matcher({"$length": operand})


@pytest.mark.parametrize(
    ("pattern", "value", "held"),
    [
        ({}, {}, True),
        ({}, {"a": 1}, True),
        ({"a": 1, "b": 2}, {"a": 1, "b": 2, "c": 3}, True),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, False),
        ({"a": 1, "b": 2}, {"a": 1}, False),
        ({"a": 1, "b": {"$absent": True}}, {"a": 1, "c": 3}, True),
        ({"a": 1, "b": {"$absent": True}}, {"a": 1, "b": None}, False),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, False),
        ({"$contains": {"a": 1}}, {"a": 1, "b": 2}, True),
        ({"$contains": {"a": 1, "b": 3}}, {"a": 1, "b": 2}, False),
    ],
)
def test_every_key_that_a_part_names_must_match(pattern: Any, value: Any, held: bool) -> None:
    assert matches_partly(pattern, value) is held


@pytest.mark.parametrize(
    ("pattern", "value", "why"),
    [
        ({"$gte": "2024-01-01"}, "soon", "'soon' is not a date such as 2024-03-31"),
        ({"due": {"$gt": 5}}, {"due": "6"}, "'6' is not a number"),
        ({"$path": {"[*].due": {"$gt": 5}}}, [{"due": 7}, {"due": "6"}], "'6' is not a number"),
        ({"$every": {"$lt": 5}}, ["a", 4, "b"], "'a' is not a number"),
        ({"$contains": {"due": {"$lt": 5}}}, {"due": "a"}, "'a' is not a number"),
        (
            {"$one_of": ["now", {"$gte": "2024-01-01"}]},
            "soon",
            "'soon' is not a date such as 2024-03-31",
        ),
        ([1, {"$lt": 5}], [1, "a"], "'a' is not a number"),
        ({"$gte": 5}, 4, ""),
        ({"$equals": {"$gt": 5}}, "a", ""),
        ({"due": {"$gt": 5}}, {}, ""),
    ],
)
def test_what_cannot_be_compared_with_a_bound_is_said_at_any_depth(
    pattern: Any, value: Any, why: str
) -> None:
    check_matcher(pattern)
    assert explain_unlike(pattern, value) == why


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("red", '"red"'),
        ({"$gte": 1, "$lte": 5}, "at least 1 and at most 5"),
        ({"$not": {"$iequals": "red"}}, 'not "red" in any case'),
        ({"$absent": True}, "absent"),
        ({"$absent": False}, "given"),
        ({"$any": True}, "anything"),
        ({"$equals": {"$gt": 5}}, 'exactly {"$gt": 5}'),
        ({"$length": {"$gt": 5}}, "of length more than 5"),
    ],
)
def test_a_pattern_is_told_in_words(pattern: Any, told: str) -> None:
    assert describe_pattern(pattern) == told


@pytest.mark.parametrize(
    ("names", "known"),
    [
        ("string", True),
        (["string", "null"], True),
        (["string", "text"], False),
        (["text", "string"], False),
        ("text", False),
        ([], False),
        ([5], False),
    ],
)
def test_every_name_of_a_type_has_to_be_one(names: Any, known: bool) -> None:
    if known:
        check_matcher({"$type": names}, ())
    else:
        with pytest.raises(InvalidValue):
            check_matcher({"$type": names}, ())


@pytest.mark.parametrize("width", [None, 20, 60])
def test_what_a_pattern_asks_for_is_told_within_a_width_and_twice_that_for_matchers(
    width: int | None,
) -> None:
    def told(pattern: Any) -> str:
        return describe_pattern(pattern) if width is None else describe_pattern(pattern, width)

    whole = width or 60
    assert len(told("x" * 500)) == whole
    several = dict.fromkeys(("$contains", "$matches", "$iequals"), "y" * 500)
    assert len(told(several)) == 2 * whole
