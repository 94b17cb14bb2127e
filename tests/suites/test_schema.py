import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from harness.base.errors import InvalidInput
from harness.judging.checks import VOCABULARY
from harness.suites.readers import read_suite
from harness.suites.schema import SCHEMA_FILE, build_suite_schema, format_schema
from harness.types import Suite
from tests.suites.suites import NAMES, SUITES, spoilt_suites
from tests.suites.vocabulary import PlainVocabulary

VALIDATOR = Draft202012Validator(build_suite_schema(PlainVocabulary()))


def read(suite: Any, factory: pytest.TempPathFactory) -> Suite:
    """Read a suite that is given as data; JSON is YAML."""
    path = factory.getbasetemp() / "suite.yml"
    path.write_text(json.dumps(suite, ensure_ascii=False), encoding="utf-8")
    return read_suite(path, PlainVocabulary())


def test_the_shipped_schema_is_that_of_the_built_in_checks() -> None:
    shipped = SCHEMA_FILE.read_text(encoding="utf-8")
    assert shipped == format_schema(VOCABULARY), (
        "write it anew: python -m tests.suites.write_schema"
    )


def test_the_schema_is_a_valid_schema_of_its_draft() -> None:
    Draft202012Validator.check_schema(build_suite_schema(PlainVocabulary()))
    Draft202012Validator.check_schema(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))


@given(suite=SUITES)
def test_a_valid_suite_passes_the_reader_and_the_schema(
    suite: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    found = read(suite, tmp_path_factory)
    VALIDATOR.validate(suite)
    assert [case.name.partition("[")[0] for case in found.cases] == [
        name for test in suite["tests"] for name in _names(test)
    ]


def _names(test: Any) -> list[str]:
    """Return how the cases of a test are called.

    What the names of rows look like is shown elsewhere.
    """
    rows = math.prod(len(values) for values in test.get("matrix", {}).values()) * len(
        test.get("parameters", [1])
    )
    return [test["name"]] * rows


@given(suite=spoilt_suites())
def test_what_the_reader_accepts_the_schema_accepts(
    suite: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    try:
        read(suite, tmp_path_factory)
    except InvalidInput:
        return
    VALIDATOR.validate(suite)


@given(suite=SUITES, data=st.data())
def test_an_unknown_key_passes_neither(
    suite: Any, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    strict = [suite, suite["tests"][0], suite["tests"][0]["assertions"]]
    strict += [
        part
        for part in (suite.get("defaults"), *suite["tests"][0].get("turns", ()))
        if part is not None
    ]
    strict += [server for server in [suite.get("server")] if isinstance(server, dict)]
    part = data.draw(st.sampled_from(strict))
    part[f"x_{data.draw(NAMES)}"] = 1
    assert not VALIDATOR.is_valid(suite)
    with pytest.raises(InvalidInput, match="unknown key 'x_"):
        read(suite, tmp_path_factory)


@given(suite=SUITES, data=st.data())
def test_keys_of_the_author_change_nothing(
    suite: Any, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    expected = read(suite, tmp_path_factory).cases
    test = suite["tests"][0]
    part = data.draw(st.sampled_from([suite, test, test["assertions"]]))
    part[f"x-{data.draw(NAMES)}"] = {"anything": [1]}
    VALIDATOR.validate(suite)
    found = read(suite, tmp_path_factory).cases
    assert [(case.name, len(case.checks)) for case in found] == [
        (case.name, len(case.checks)) for case in expected
    ]


def test_nothing_is_a_choice_of_one() -> None:
    def choices(part: Any) -> list[Any]:
        inside = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        own = (
            [part["anyOf"]]
            if isinstance(part, dict) and isinstance(part.get("anyOf"), list)
            else []
        )
        return [*own, *(found for one in inside for found in choices(one))]

    found = choices(build_suite_schema(VOCABULARY))
    assert found
    assert [one for one in found if len(one) < 2] == []


def test_every_key_is_described() -> None:
    schema = build_suite_schema(VOCABULARY)
    for part in (
        schema,
        *(
            schema["$defs"][name]
            for name in ("test", "turn", "defaults", "call", "server", "identity")
        ),
    ):
        for name, value in part["properties"].items():
            assert "description" in value, name


def test_the_schema_of_a_check_stands_in_it_once() -> None:
    text = format_schema(VOCABULARY)
    assert len(text) < 200_000
    assert '"$ref": "#/$defs/check_must_call"' in text
