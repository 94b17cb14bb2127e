from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.documents.syntax import strict_json
from harness.base.errors import InvalidValue

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(), parts, max_size=3),
    max_leaves=8,
)


@given(value=VALUES)
def test_whatever_json_holds_is_read(value: object) -> None:
    assert strict_json(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "the key 'c' is given twice"),
        ("[NaN]", "NaN is not a number in JSON"),
        ("[-Infinity]", "-Infinity is not a number in JSON"),
        ("1" * 5000, "a number in it has too many digits"),
        ("[" * 100_000, "this is nested too deeply"),
        (
            "{'a': 1}",
            (
                "this is not JSON: Expecting property name enclosed in double quotes at "
                "character 2 "
                "of "
                "\"{'a': 1}\""
            ),
        ),
        ("", "this is not JSON: Expecting value at character 1 of ''"),
    ],
)
def test_what_python_alone_would_read_is_refused(text: str, said: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        strict_json(text, meant="Help.")
    assert caught.value.message == said
    assert caught.value.meant == ("Help." if "not JSON" in said else None)


@pytest.mark.parametrize("pair", ["“”", "„“", "«»", "‘’", "＂＂"])
def test_typographic_quotes_are_named(pair: str) -> None:
    opening, closing = pair[0], pair[1]
    with pytest.raises(
        InvalidValue, match=f"a typographic quote {opening} at character 2"
    ) as caught:
        strict_json(f"{{{opening}a{closing}: 1}}", meant="Help.")
    assert caught.value.meant == 'Replace every such quote by the straight one, ".'
