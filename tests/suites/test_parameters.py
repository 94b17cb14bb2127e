"""One test becomes many: `matrix`, `parameters` and placeholders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.suites import parameters
from harness.suites.discovery import select_cases
from harness.suites.readers import read_suite
from harness.types import Case
from tests.suites.files import problems, read, refusal
from tests.suites.suites import JSON, NAMES
from tests.suites.vocabulary import PlainVocabulary


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cases(folder: Path, test: str, extra: str = "") -> tuple[Case, ...]:
    return read(folder, f"suite: weather\n{extra}tests:\n  - {test}\n").cases


def told(folder: Path, test: str) -> str:
    return str(refusal(folder, f"suite: weather\ntests:\n  - {test}\n"))


CALLS = "assertions: {must_call: [{tool: forecast, args: {city: ${{ city }}, unit: ${{ unit }}}}]}"
MATRIX = (
    f"{{name: warm, prompt: 'How warm is ${{{{ city }}}}?', matrix: {{city: [Paris, Oslo], "
    f"unit: [C, F]}}, {CALLS}}}"
)


# ── What comes of it ─────────────────────────────────────────────────────────────────────────


def test_a_matrix_makes_a_case_of_every_combination(folder: Path) -> None:
    found = cases(folder, MATRIX)
    assert [case.name for case in found] == [
        "warm[city=Paris,unit=C]",
        "warm[city=Paris,unit=F]",
        "warm[city=Oslo,unit=C]",
        "warm[city=Oslo,unit=F]",
    ]
    assert found[2].prompt == "How warm is Oslo?"
    assert [check.params["args"] for check in found[2].checks] == [{"city": "Oslo", "unit": "C"}]


def test_the_cases_that_are_made_of_a_test_know_it_and_a_single_one_is_its_own(
    folder: Path,
) -> None:
    who = "server: {command: x, identity: meta}\nidentities: {a: {r: a}, b: {r: b}}\n"
    both = MATRIX.replace("name: warm,", "name: warm, as: [a, b],")
    rows = "{name: one, prompt: '${{ p }}', parameters: [{p: x}], assertions: {must_call: [x]}}"
    assert [case.test for case in cases(folder, MATRIX)] == ["warm"] * 4
    assert [case.test for case in cases(folder, both, who)] == ["warm"] * 8
    assert [case.test for case in cases(folder, rows)] == [None]


def test_rows_of_parameters_make_a_case_each(folder: Path) -> None:
    rows = "parameters: [{city: Paris, unit: C}, {city: Oslo, unit: F}]"
    found = cases(folder, MATRIX.replace("matrix: {city: [Paris, Oslo], unit: [C, F]}", rows))
    assert [case.name for case in found] == ["warm[city=Paris,unit=C]", "warm[city=Oslo,unit=F]"]


@pytest.mark.parametrize(
    "value", ["5", "2.5", "true", "null", '"5"', "[1, {a: b}]", "{deep: [null]}"]
)
def test_a_placeholder_that_is_a_whole_value_keeps_its_type(folder: Path, value: str) -> None:
    test = (
        f"{{name: a, prompt: x, matrix: {{v: [{value}]}}, "
        "assertions: {must_call: [{tool: t, args: {here: '${{v}}', deep: [{x: ${{ v }}}]}}]}}"
    )
    expected = {"5": 5, "2.5": 2.5, "true": True, "null": None, '"5"': "5"}
    wanted = expected.get(value, [1, {"a": "b"}] if value[0] == "[" else {"deep": [None]})
    (case,) = cases(folder, test)
    assert json.dumps(case.checks[0].params["args"]) == json.dumps(
        {"here": wanted, "deep": [{"x": wanted}]}
    )


def test_within_a_text_values_are_written_as_json_writes_them(folder: Path) -> None:
    (case,) = cases(
        folder,
        "{name: a, prompt: '${{t}} ${{n}} ${{f}} ${{b}} ${{z}}', expected_answer: x, "
        "parameters: [{t: a b, n: 5, f: 2.50, b: true, z: null}]}",
    )
    assert case.prompt == "a b 5 2.5 true null"


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ("description: d ${{ x }}", lambda case: case.description == "d 1"),
        (
            "turns: [{prompt: t ${{ x }}, expected_answer: x}]",
            lambda case: case.prompts == ("t 1",),
        ),
        ("user_context: {level: ${{ x }}}", lambda case: case.caller.user_context == {"level": 1}),
        (
            "expected_answer: about ${{ x }}",
            lambda case: case.checks[-1].params == {"text": "about 1"},
        ),
        (
            "setup: [{tool: t, args: {n: ${{ x }}}}]",
            lambda case: case.setup[0].arguments == {"n": 1},
        ),
        ("teardown: [t${{ x }}]", lambda case: case.teardown[0].tool == "t1"),
        ("tags: [level-${{ x }}]", lambda case: case.tags == ("level-1",)),
        ("metadata: {n: [${{ x }}]}", lambda case: case.metadata == {"n": [1]}),
    ],
    ids=lambda value: value.partition(":")[0] if isinstance(value, str) else "",
)
def test_placeholders_are_filled_in_wherever_values_stand(
    folder: Path, part: str, found: Any
) -> None:
    prompt = "" if part.startswith("turns") else "prompt: x, "
    (case,) = cases(
        folder, f"{{name: a, {prompt}matrix: {{x: [1]}}, {part}, assertions: {{must_call: [x]}}}}"
    )
    assert found(case)


def test_a_context_may_be_a_parameter(folder: Path) -> None:
    extra = "contexts: {admin: {role: admin}, nobody: }\n"
    test = (
        "{name: a, prompt: x, matrix: {who: [admin, nobody]}, user_context: ${{ who }}, "
        "expected_answer: x}"
    )
    assert [case.caller.user_context for case in cases(folder, test, extra)] == [
        {"role": "admin"},
        None,
    ]


def test_a_whole_mapping_may_be_a_parameter(folder: Path) -> None:
    test = (
        "{name: a, prompt: x, parameters: [{args: {a: 1}, want: {must_call: [x]}}, {args: {b: 2}, "
        "want: {}}], "
        "setup: [{tool: t, args: ${{ args }}}], assertions: ${{ want }}, expected_answer: x}"
    )
    one, two = cases(folder, test)
    assert (one.setup[0].arguments, two.setup[0].arguments) == ({"a": 1}, {"b": 2})
    assert (len(one.checks), len(two.checks)) == (2, 1)


def test_other_signs_with_braces_are_left_alone(folder: Path) -> None:
    prompt = '${HOME} {{ x }} {"a": {"b": 1}} $${{ x }} ${{ x }}'
    (case,) = cases(
        folder, f"{{name: a, prompt: '{prompt}', matrix: {{x: [1]}}, expected_answer: x}}"
    )
    assert case.prompt == '${HOME} {{ x }} {"a": {"b": 1}} ${{ x }} 1'


def test_in_a_test_without_parameters_a_placeholder_is_a_text_like_any_other(folder: Path) -> None:
    (case,) = cases(folder, "{name: a, prompt: 'Say ${{ x }} and $${{ y }}', expected_answer: x}")
    assert case.prompt == "Say ${{ x }} and $${{ y }}"


def test_what_a_parameter_holds_is_not_filled_in_again(folder: Path) -> None:
    (case,) = cases(
        folder,
        "{name: a, prompt: '${{ x }}', expected_answer: x, matrix: {x: ['${{ x }} ${{ y }}']}}",
    )
    assert case.prompt == "${{ x }} ${{ y }}"


# ── Names ────────────────────────────────────────────────────────────────────────────────────


def test_names_stay_on_one_line_and_short(folder: Path) -> None:
    values = f'["a\\n b", "\\u200b", "{"y" * 99}", [1]]'
    test = (
        f"{{name: a, prompt: x, expected_answer: x, metadata: {{x: '${{{{x}}}}'}}, matrix: "
        f"{{x: "
        f"{values}}}}}"
    )
    assert [case.name for case in cases(folder, test)] == [
        "a[x=a b]",
        "a[x=�]",
        f"a[x={'y' * 40}…]",
        "a[x=[1]]",
    ]


def test_names_that_look_alike_are_numbered(folder: Path) -> None:
    test = (
        "{name: a, prompt: x, metadata: {x: '${{ x }}'}, expected_answer: x, matrix: {x: ['5', "
        "5, ' 5']}}"
    )
    assert [case.name for case in cases(folder, test)] == ["a[x=5]", "a[x=5,#2]", "a[x=5,#3]"]


def test_a_case_is_picked_by_its_whole_name_brackets_and_all(folder: Path) -> None:
    suite = read(folder, f"suite: weather\ntests:\n  - {MATRIX}\n")
    for pattern, count in (
        ("warm[city=Paris,unit=C]", 1),
        ("city=Paris", 2),
        ("weather::warm*unit=F]", 2),
    ):
        (picked,) = select_cases([suite], pattern)
        assert len(picked.cases) == count


def test_two_tests_of_one_name_are_told_by_the_cases_that_they_share(folder: Path) -> None:
    text = f"suite: weather\ntests:\n  - {MATRIX}\n  - {MATRIX.replace('[C, F]', '[F, K]')}\n"
    assert [problem.partition(": ")[2] for problem in problems(folder, text)] == [
        f"test 'warm[city={city},unit=F]' is defined twice; first at line 3."
        for city in ("Paris", "Oslo")
    ]


# ── Mistakes ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("test", "message"),
    [
        (
            (
                "{name: a, prompt: 'x ${{ cty }}', matrix: {city: [Paris]}, description: "
                "'${{city}}', "
                "expected_answer: x}"
            ),
            "shop.yml:3:23: there is no parameter 'cty'.\n    Did you mean 'city'?",
        ),
        (
            "{name: a, prompt: '${{ a.b() }} ${{ a }}', matrix: {a: [1]}, expected_answer: x}",
            "shop.yml:3:23: there is no parameter 'a.b()'.\n    Known: a.",
        ),
        (
            "{name: a, prompt: '${{ }} ${{ city }}', matrix: {city: [1]}, expected_answer: x}",
            (
                "shop.yml:3:23: there is no parameter ''.\n    Known: city. For the literal text "
                "write $${{ … }}."
            ),
        ),
        (
            "{name: a, prompt: x, matrix: {city: [Paris]}, expected_answer: x}",
            "is not used.\n    Use ${{ city }}, or remove it.",
        ),
        (
            "{name: a, prompt: x, parameters: [{city: Paris}], expected_answer: x}",
            "shop.yml:3:40: the parameter 'city' is not used.",
        ),
        (
            "{name: '${{x}}', prompt: '${{x}}', matrix: {x: [1]}, expected_answer: x}",
            "under 'name'.\n    The parameters are added to the tests' names automatically.",
        ),
        (
            "{name: a, prompt: x, timeout: '${{x}}', matrix: {x: [1]}, expected_answer: x}",
            "shop.yml:3:35: placeholders are not filled in under 'timeout'.",
        ),
        (
            "{name: a, prompt: x, metadata: {'${{x}}': 1}, matrix: {x: [1]}, expected_answer: x}",
            "placeholders are not filled in in keys.",
        ),
        (
            "{name: a, prompt: 'x ${{x}}', matrix: {x: [[1]]}, expected_answer: x}",
            "shop.yml:3:23: the parameter 'x' is a list: it cannot be used within a text.",
        ),
        (
            "{name: a, prompt: '${{x}}', matrix: {x: [1]}, expected_answer: x}",
            'shop.yml:3:23: prompt: expected text, found 1.\n    Quote it if it is text: "1".',
        ),
        (
            (
                "{name: a, prompt: '${{x}}', matrix: {x: [a]}, parameters: [{x: 1}], "
                "expected_answer: x}"
            ),
            "shop.yml:3:63: test 'a' has both 'matrix' and 'parameters'.",
        ),
        (
            "{name: a, prompt: '${{x}}', matrix: {x: a}, expected_answer: x}",
            "expected a list of at least one value",
        ),
        (
            "{name: a, prompt: '${{x}}', matrix: {x: []}, expected_answer: x}",
            "at least one value, found an empty list",
        ),
        ("{name: a, prompt: '${{x}}', matrix: {}, expected_answer: x}", "there are no parameters"),
        (
            "{name: a, prompt: '${{x}}', matrix: {x y: [1]}, expected_answer: x}",
            "'x y' is not a valid name of a parameter",
        ),
        (
            "{name: a, prompt: '${{x}}', matrix: {x: [1, 2, 1]}, expected_answer: x}",
            "is the same as number 1",
        ),
        ("{name: a, prompt: '${{x}}', parameters: [], expected_answer: x}", "there are no rows"),
        ("{name: a, prompt: '${{x}}', parameters: {x: 1}, expected_answer: x}", "expected a list"),
        (
            "{name: a, prompt: '${{x}}', parameters: [x], expected_answer: x}",
            "expected a mapping of parameters",
        ),
        (
            "{name: a, prompt: '${{x}}', parameters: [{x: 1}, {y: 1}], expected_answer: x}",
            "this row lacks 'y'",
        ),
        (
            "{name: a, prompt: '${{x}}', parameters: [{x: 1}, {x: 1}], expected_answer: x}",
            "is the same as number 1",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(folder: Path, test: str, message: str) -> None:
    assert message in told(folder, test)


def test_a_mistake_in_a_test_with_parameters_is_told_once_and_not_for_every_row(
    folder: Path,
) -> None:
    text = """\
        suite: weather
        tests:
          - name: warm
            promt: ${{ city }}
            matrix: {city: [Paris, Oslo]}
            assertions: {must_cal: [x]}
    """
    assert problems(folder, text) == [
        "3:5: test 'warm' has no 'prompt'.",
        "4:5: unknown key 'promt' in test 'warm'.",
        "6:18: unknown key 'must_cal' in assertions of test 'warm'.",
    ]


# ── Bounds ───────────────────────────────────────────────────────────────────────────────────


def test_parameters_cannot_make_cases_without_bound(folder: Path) -> None:
    values = json.dumps(list(range(30)))
    matrix = f"{{a: {values}, b: {values}, c: {values}}}"
    test = (
        f"{{name: a, prompt: '${{{{a}}}}${{{{b}}}}${{{{c}}}}', expected_answer: x, matrix: "
        f"{matrix}}}"
    )
    assert "these parameters make 27,000 tests, and those of the suite more than 10,000." in told(
        folder, test
    )


@pytest.mark.slow
def test_the_bound_holds_for_all_tests_of_a_suite_together(folder: Path) -> None:
    values = json.dumps(list(range(80)))
    matrix = f"{{a: {values}, b: {values}}}"
    tests = "".join(
        f"  - {{name: t{n}, prompt: '${{{{a}}}} ${{{{b}}}}', expected_answer: x, matrix: "
        f"{matrix}}}\n"
        for n in range(2)
    )
    assert len(problems(folder, f"suite: weather\ntests:\n{tests}")) == 1


def test_filling_in_cannot_copy_without_bound(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parameters, "MAX_COPIED", 10_000)
    prompt, values = "x" * 2000, json.dumps(list(range(20)))
    test = (
        f"{{name: a, prompt: '{prompt} ${{{{a}}}}', expected_answer: x, matrix: {{a: {values}}}}}"
    )
    assert "shop.yml:3:5: the tests made by the parameters of this suite are too large." in told(
        folder, test
    )


@given(value=JSON, name=st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True), key=NAMES)
def test_any_value_arrives_as_it_was_written(
    value: Any, name: str, key: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yml"
    test: dict[str, Any] = {
        "name": "a",
        "prompt": "x",
        "expected_answer": "x",
        "parameters": [{name: value}],
    }
    test["metadata"] = {key: [f"${{{{ {name} }}}}"]}
    path.write_text(
        json.dumps({"suite": "s", "tests": [test]}, ensure_ascii=False), encoding="utf-8"
    )
    (case,) = read_suite(path, PlainVocabulary()).cases
    assert json.dumps(case.metadata) == json.dumps({key: [value]})
    assert case.name.isprintable()
