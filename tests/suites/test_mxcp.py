from pathlib import Path

import pytest

from harness.base.errors import InvalidInput
from harness.judging.checks import VOCABULARY
from harness.suites.readers import read_suite
from harness.types import Check, Limits, Location
from tests.suites.files import TESTS, problems, read, refusal, write
from tests.suites.vocabulary import PlainVocabulary

WHOLE = """\
    mxcp: 1
    suite: customer_analysis
    description: "What analysts ask"
    model: claude-3-opus
    tests:
      - name: test_name
        description: "Looks things up"
        prompt: "Who is our best customer?"
        user_context: {role: analyst, permissions: ["read_data"], custom_field: value}
        assertions:
          must_call:
            - tool: search_products
              args: {category: "electronics", max_results: 10}
            - tool: analyze_sales
              args: {}
            - tool: get_orders
            - get_customer
          must_not_call: [delete_user, drop_table]
          answer_contains: ["customer satisfaction", "98%"]
          answer_not_contains: ["error"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ── What is read ─────────────────────────────────────────────────────────────────────────────


def test_the_whole_mxcp_format_is_read_with_the_built_in_checks(folder: Path) -> None:
    suite = read(folder, WHOLE, VOCABULARY)
    (case,) = suite.cases
    assert (suite.name, suite.model, suite.description) == (
        "customer_analysis",
        "claude-3-opus",
        "What analysts ask",
    )
    assert case.caller.user_context == {
        "role": "analyst",
        "permissions": ["read_data"],
        "custom_field": "value",
    }
    assert [check.kind for check in case.checks] == [
        *["must_call"] * 4,
        *["must_not_call"] * 2,
        *["answer_contains"] * 2,
        "answer_not_contains",
    ]
    assert [check.params["tool"] for check in case.checks[:4]] == [
        "search_products",
        "analyze_sales",
        "get_orders",
        "get_customer",
    ]


def test_every_check_knows_the_line_of_its_own_item(folder: Path) -> None:
    (case,) = read(folder, WHOLE, VOCABULARY).cases
    assert [check.at.line if check.at else None for check in case.checks] == [
        12,
        14,
        16,
        17,
        18,
        18,
        19,
        19,
        20,
    ]
    assert case.checks[5].at == Location(file="shop.yml", line=18, column=36)
    assert case.at == Location(file="shop.yml", line=6, column=5)


@pytest.mark.parametrize(
    "version", ["", "mxcp: 1", 'mxcp: "1"', "mxcp: 1.0", 'mxcp: "1.0"', "mxcp: 1.0.0"]
)
def test_every_spelling_of_version_one_is_accepted(folder: Path, version: str) -> None:
    assert read(folder, f"{version}\nsuite: shop\n{TESTS}").name == "shop"


@pytest.mark.parametrize("version", ["2", "true", '"2.0"', "1.5", "[1]", "{}"])
def test_no_other_version_is_accepted(folder: Path, version: str) -> None:
    (problem,) = problems(folder, f"mxcp: {version}\nsuite: shop\n{TESTS}")
    assert problem.startswith("1:7: mxcp: expected version 1 of the format")


def test_what_is_not_given_is_unknown(folder: Path) -> None:
    suite = read(folder, f"suite: shop\n{TESTS}")
    (case,) = suite.cases
    assert (
        suite.description,
        suite.model,
        suite.server,
        suite.system_prompt,
        suite.judge_model,
    ) == (None,) * 5
    assert (case.caller.user_context, case.limits, case.tags, case.metadata) == (
        None,
        Limits(),
        (),
        {},
    )


def test_a_key_without_a_value_counts_as_absent(folder: Path) -> None:
    suite = read(
        folder,
        f"suite: shop\nmodel:\nserver: null\ntimeout: ~\n{TESTS}    user_context:\n    tags:\n",
    )
    assert (
        suite.model,
        suite.server,
        suite.cases[0].limits,
        suite.cases[0].caller.user_context,
    ) == (
        None,
        None,
        Limits(),
        None,
    )


def test_an_assertion_of_mxcp_without_a_value_is_read_as_mxcp_reads_it_and_noted(
    folder: Path,
) -> None:
    blanks = "must_call: , must_not_call: null, answer_contains: [x], answer_not_contains: ~"
    tests = f"tests: [{{name: a, prompt: x, assertions: {{{blanks}}}, expected_answer: }}]\n"
    suite = read(folder, f"suite: shop\n{tests}", VOCABULARY)
    assert [check.kind for check in suite.cases[0].checks] == ["answer_contains"]
    assert suite.notes == tuple(
        f"shop.yml:2:{column}: {kind!r} of test 'a' has no value, so it checks nothing."
        for column, kind in (
            (43, "must_call"),
            (56, "must_not_call"),
            (99, "answer_not_contains"),
            (124, "expected_answer"),
        )
    )
    with pytest.raises(InvalidInput, match="2:43: max_calls: "):
        read(folder, f"suite: shop\n{tests.replace('must_call: ,', 'max_calls: ,', 1)}", VOCABULARY)


def test_an_empty_user_context_is_not_a_missing_one(folder: Path) -> None:
    assert (
        read(folder, f"suite: shop\n{TESTS}    user_context: {{}}\n").cases[0].caller.user_context
        == {}
    )


def test_a_user_context_may_hold_any_json(folder: Path) -> None:
    context = "{role: null, n: 1.5, deep: {list: [true, {}]}, since: 2024-05-01, '5': x}"
    assert read(folder, f"suite: shop\n{TESTS}    user_context: {context}\n").cases[
        0
    ].caller.user_context == {
        "role": None,
        "n": 1.5,
        "deep": {"list": [True, {}]},
        "since": "2024-05-01",
        "5": "x",
    }


def test_the_digest_follows_every_byte(folder: Path) -> None:
    first = read(folder, f"suite: shop\n{TESTS}").digest
    assert first == read(folder, f"suite: shop\n{TESTS}").digest
    assert first != read(folder, f"suite: shop\n{TESTS}# a comment\n").digest


def test_the_suite_knows_where_it_stands(folder: Path) -> None:
    assert read(folder, f"mxcp: 1\nsuite: shop\n{TESTS}").at == Location(
        file="shop.yml", line=2, column=8
    )


# ── The later dialect and our additions ──────────────────────────────────────────────────────


@pytest.mark.parametrize("place", ["    expected_answer: 42\n", "      expected_answer: 42\n"])
def test_an_expected_answer_is_a_check_beside_or_under_assertions(folder: Path, place: str) -> None:
    (case,) = read(folder, f"suite: shop\n{TESTS}{place.replace('42', 'Paris')}").cases
    assert case.checks[1] == Check(
        kind="expected_answer",
        params={"text": "Paris"},
        at=Location(file="shop.yml", line=7, column=place.index("42") + 1),
    )


def test_an_expected_answer_alone_is_enough(folder: Path) -> None:
    suite = read(
        folder, "suite: shop\ntests:\n  - {name: one, prompt: Where?, expected_answer: Paris}\n"
    )
    assert [check.kind for check in suite.cases[0].checks] == ["expected_answer"]


def test_an_expected_answer_is_refused_where_there_is_no_such_check(folder: Path) -> None:
    error = refusal(
        folder, f"suite: shop\n{TESTS}    expected_answer: Paris\n", PlainVocabulary(["must_call"])
    )
    assert str(error) == (
        "shop.yml:7:5: unknown key 'expected_answer' in test 'one'.\n"
        "    There is no check of that name here; 'answer_contains' needs no judge."
    )


@pytest.mark.parametrize("key", ["expected_answer_model", "judge_model"])
def test_the_judge_has_two_names(folder: Path, key: str) -> None:
    assert read(folder, f"suite: shop\n{key}: gpt-4o\n{TESTS}").judge_model == "gpt-4o"


def test_both_names_of_the_judge_at_once_are_refused(folder: Path) -> None:
    (problem,) = problems(folder, f"suite: shop\njudge_model: a\nexpected_answer_model: b\n{TESTS}")
    assert problem.startswith("2:1: 'judge_model' and 'expected_answer_model' are two names")


def test_a_system_prompt_is_read(folder: Path) -> None:
    assert (
        read(folder, f"suite: shop\nsystem_prompt: Be brief.\n{TESTS}").system_prompt == "Be brief."
    )


def test_limits_of_a_test_go_before_those_of_its_suite(folder: Path) -> None:
    text = """\
        suite: shop
        timeout: 90
        max_replies: 5.0
        max_cost: 0.5
        tests:
          - name: one
            prompt: x
            timeout: 1.5
            max_calls: 0
            max_tokens: 1000
            expected_answer: x
          - name: two
            prompt: x
            expected_answer: x
    """
    one, two = read(folder, text).cases
    assert one.limits == Limits(
        timeout_s=1.5, max_replies=5, max_calls=0, max_tokens=1000, max_cost_usd=0.5
    )
    assert two.limits == Limits(timeout_s=90.0, max_replies=5, max_cost_usd=0.5)


def test_tags_add_up_and_metadata_of_a_test_goes_first(folder: Path) -> None:
    text = (
        f"suite: shop\ntags: [smoke, pii]\nmetadata: {{owner: a, level: 1}}\n{TESTS}    tags: "
        f"[pii, slow]\n"
    )
    (case,) = read(folder, f"{text}    metadata: {{owner: b}}\n").cases
    assert case.tags == ("smoke", "pii", "slow")
    assert case.metadata == {"owner": "b", "level": 1}


# ── Mistakes ─────────────────────────────────────────────────────────────────────────────────


def test_a_mistake_is_told_with_its_place_and_what_was_meant(folder: Path) -> None:
    error = refusal(folder, f"suite: shop\n{TESTS}    expected_tool: do_it\n")
    assert str(error) == (
        "shop.yml:7:5: unknown key 'expected_tool' in test 'one'.\n"
        "    Use assertions.must_call to name the tool that must be called."
    )


@pytest.mark.parametrize(
    ("key", "advice"),
    [
        ("project", "configuration"),
        ("profile", "configuration"),
        ("expected_tool", "assertions.must_call"),
        ("tools", "tools that the server has"),
        ("resources", "under 'context:' of the test"),
        ("name", "under 'suite:'"),
        ("cases", "under 'tests:'"),
        ("prompt", "into a test"),
        ("assertions", "into a test"),
        ("must_call", "under 'assertions:'"),
        ("user_context", "into each test"),
        ("modle", "Did you mean 'model'?"),
        ("Tags", "Did you mean 'tags'?"),
        ("zzz", "Known keys: mxcp, suite,"),
    ],
)
def test_a_key_at_the_wrong_place_is_told_the_right_one(
    folder: Path, key: str, advice: str
) -> None:
    (problem,) = refusal(folder, f"suite: shop\n{key}: x\n{TESTS}").problems
    assert problem.message == f"unknown key '{key}' in the suite."
    assert advice in str(problem.meant)


@pytest.mark.parametrize(
    ("key", "advice"),
    [
        ("project", "configuration"),
        ("tools", "tools that the server has"),
        ("model", "at the top of the suite"),
        ("server", "at the top of the suite"),
        ("must_call", "under 'assertions:'"),
        ("promt", "Did you mean 'prompt'?"),
    ],
)
def test_a_key_that_no_test_has_is_told_where_it_belongs(
    folder: Path, key: str, advice: str
) -> None:
    (problem,) = refusal(folder, f"suite: shop\n{TESTS}    {key}: x\n").problems
    assert problem.message == f"unknown key '{key}' in test 'one'."
    assert advice in str(problem.meant)


@pytest.mark.parametrize(
    ("key", "advice"),
    [
        ("must_cal", "Did you mean 'must_call'?"),
        ("expected_tool", "assertions.must_call"),
        ("prompt", "into a test"),
    ],
)
def test_an_unknown_assertion_is_told_the_nearest(folder: Path, key: str, advice: str) -> None:
    (problem,) = refusal(folder, f"suite: shop\n{TESTS}      {key}: x\n").problems
    assert str(problem).startswith(
        f"shop.yml:7:7: unknown key '{key}' in assertions of test 'one'."
    )
    assert advice in str(problem.meant)


def test_a_mistake_within_a_check_is_found_in_its_line(folder: Path) -> None:
    text = """\
        suite: shop
        tests:
          - name: one
            prompt: x
            assertions:
              must_call:
                - good
                - tool: bad
                  arg: {a: 1}
              must_not_call: x
    """
    assert problems(folder, text) == [
        "9:16: must_call: unknown key 'arg'.",
        "10:22: must_not_call: expected a list.",
    ]


@pytest.mark.parametrize(
    ("tests", "problem"),
    [
        ("tests: []", "2:8: tests: there are no tests."),
        ("tests:", "2:1: the suite has no 'tests'."),
        ("tests: {one: {}}", "2:8: tests: expected a list of tests, found a mapping."),
        ("tests: x", "2:8: tests: expected a list (lines that begin with '- '), found \"x\"."),
        ("tests: [5]", "2:9: test number 1: expected a mapping (lines of 'key: value'), found 5."),
        (
            "tests: [null]",
            "2:9: test number 1: expected a mapping (lines of 'key: value'), found nothing.",
        ),
        ("tests: [{name: a, prompt: x}]", "2:9: test 'a' checks nothing."),
        ("tests: [{name: a, prompt: x, assertions: {}}]", "2:42: test 'a' checks nothing."),
        (
            "tests: [{name: a, prompt: x, assertions: {must_call: []}}]",
            "2:42: test 'a' checks nothing.",
        ),
        (
            "tests: [{name: a, prompt: x, assertions: {must_call: }}]",
            "2:42: test 'a' checks nothing.",
        ),
        (
            "tests: [{name: a, prompt: x, assertions: [x]}]",
            "2:42: assertions: expected a mapping (lines of 'key: value'), found a list.",
        ),
        ("tests: [{name: a, expected_answer: x}]", "2:9: test 'a' has no 'prompt'."),
        ("tests: [{name: a, prompt: , expected_answer: x}]", "2:19: test 'a' has no 'prompt'."),
        (
            'tests: [{name: a, prompt: " ", expected_answer: x}]',
            "2:27: prompt: expected text, found only spaces.",
        ),
        ("tests: [{prompt: x, expected_answer: x}]", "2:9: test number 1 has no 'name'."),
        (
            "tests: [{name: 5, prompt: x, expected_answer: x}]",
            "2:16: name: expected text, found 5.",
        ),
        (
            'tests: [{name: " a", prompt: x, expected_answer: x}]',
            '2:16: name: there are spaces around this name: " a".',
        ),
        (
            'tests: [{name: "a\\nb", prompt: x, expected_answer: x}]',
            '2:16: name: expected a name on one line, found "a\\nb".',
        ),
        (
            "tests: [{name: a, prompt: x, expected_answer: x, user_context: admin}]",
            "2:64: there is no context 'admin'.",
        ),
        (
            "tests: [{name: a, prompt: x, expected_answer: [x]}]",
            "2:47: expected_answer: expected text.",
        ),
        ("tests: [{name: a, prompt: x, expected_answer: x, tags: x}]", None),
        (
            "tests: [{name: a, prompt: x, expected_answer: x, tags: [x, 5]}]",
            "2:60: tags: expected text, found 5.",
        ),
    ],
)
def test_an_invalid_test_is_refused(folder: Path, tests: str, problem: str | None) -> None:
    found = problems(folder, f"suite: shop\n{tests}\n")
    assert len(found) == 1
    assert problem is None or found == [problem]


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("timeout: 0", "a number of seconds above 0, found 0"),
        ("timeout: true", "a number of seconds above 0, found true"),
        ("timeout: 1000000001", "a number of seconds above 0, found 1000000001"),
        ("timeout: 10s", 'a number of seconds above 0, found "10s"'),
        ("max_replies: 0", "a whole number from 1 up, found 0"),
        ("max_replies: 2.5", "a whole number from 1 up, found 2.5"),
        ("max_calls: -1", "a whole number from 0 up, found -1"),
        ("max_tokens: many", 'a whole number from 1 up, found "many"'),
        ("max_cost: -0.5", "a number of US dollars, 0 or more, found -0.5"),
        ("max_cost: [1]", "a number of US dollars, 0 or more, found a list"),
    ],
)
def test_a_limit_out_of_its_bounds_is_refused(folder: Path, limit: str, expected: str) -> None:
    (problem,) = problems(folder, f"suite: shop\n{limit}\n{TESTS}")
    assert problem.endswith(f": expected {expected}.")


def test_a_test_that_is_defined_twice_is_told_with_both_lines(folder: Path) -> None:
    tests = "  - {name: a, prompt: x, expected_answer: x}\n"
    text = f"suite: shop\ntests:\n{tests}{tests}"
    assert problems(folder, text) == ["4:12: test 'a' is defined twice; first at line 3."]


def test_all_problems_of_a_file_are_told_in_the_order_of_its_lines(folder: Path) -> None:
    text = """\
        mxcp: 2
        suite: shop
        suite: shop
        projekt: x
        tests:
          - name: one
            timeout: soon
            assertions: {must_cal: [x]}
          - name: one
            prompt: y
            zzz: !tag 1
            assertions: {must_call: [x]}
        server: {comand: x}
    """
    assert [line.split(": ")[0] for line in problems(folder, text)] == [
        "1:7",
        "3:1",
        "4:1",
        "6:5",
        "7:14",
        "8:18",
        "9:11",
        "11:5",
        "11:10",
        "13:9",
        "13:10",
    ]


def test_a_problem_in_a_part_that_is_repeated_is_told_once(folder: Path) -> None:
    text = """\
        suite: shop
        tests:
          - name: one
            prompt: x
            assertions: &same
              must_call: 5
          - name: two
            prompt: x
            assertions: *same
    """
    assert problems(folder, text) == ["6:18: must_call: expected a list."]


def test_several_tests_may_share_their_assertions(folder: Path) -> None:
    text = """\
        suite: shop
        tests:
          - &base
            name: one
            prompt: x
            assertions: {must_call: [x]}
          - <<: *base
            name: two
    """
    one, two = read(folder, text).cases
    assert [check.params for check in one.checks] == [check.params for check in two.checks]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the file is empty."),
        ("# only a comment", "the file is empty."),
        (
            "openapi: 3.0.0\ninfo: {}\n",
            "this is not a suite: it has neither 'suite:' nor 'tests:'.",
        ),
        ("- a\n- b\n", "this is not a suite: it has neither 'suite:' nor 'tests:'."),
        ("just text", "this is not a suite: it has neither 'suite:' nor 'tests:'."),
        ("{}", "this is not a suite: it has neither 'suite:' nor 'tests:'."),
    ],
)
def test_a_file_that_is_no_suite_is_told_so(folder: Path, text: str, problem: str) -> None:
    (found,) = refusal(folder, text).problems
    assert (found.at, found.message) == (Location(file="shop.yml"), problem)


def test_a_suite_without_a_name_is_refused(folder: Path) -> None:
    assert problems(folder, TESTS) == ["1:1: the suite has no 'suite'."]


def test_a_syntax_error_is_told_with_its_place(folder: Path) -> None:
    with pytest.raises(InvalidInput, match=r"^evals/shop.yml:2:10: YAML syntax: "):
        read_suite(write(Path("evals/shop.yml"), "suite: shop\nprompt: a: b\n"), PlainVocabulary())


def test_the_end_state_is_asked_for_in_the_last_turn_or_of_the_whole(folder: Path) -> None:
    state = "{resource: 'db://x', value: 1}"
    text = f"""\
        suite: shop
        tests:
          - name: a
            turns:
              - prompt: one
                assertions:
                  end_state: {state}
              - prompt: two
                assertions:
                  any_of: [{{end_state: {state}}}, {{must_call: [x]}}]
              - prompt: three
                assertions: {{end_state: {state}}}
            assertions: {{end_state: {state}}}
    """
    words = "'end_state' is read when the conversation is over, but it goes on after this turn."
    assert problems(folder, text, VOCABULARY) == [
        f"7:22: turn 1 of test 'a': {words}",
        f"10:19: turn 2 of test 'a': {words}",
    ]
