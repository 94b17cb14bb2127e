"""Whatever a user gets wrong is told in words that help, with exit code 3 and no traceback."""

from __future__ import annotations

import json
import sys

import pytest

from tests.end_to_end.harness_process import Finished, Project, plain_server

TEST = {"name": "one", "prompt": "Say something.", "assertions": {"answer_contains": ["x"]}}


def refused(finished: Finished, *words: str, code: int = 3) -> None:
    assert finished.code == code, finished.stdout + finished.stderr
    assert "Traceback" not in finished.stderr
    for word in words:
        assert word in finished.stderr


def test_an_unknown_suite_is_answered_with_the_nearest_name(project: Project) -> None:
    refused(project.run("evals", "data_governence"), "data_governence", "data_governance")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("suite: shop\ntests:\n  - name: 'a\n", ("evals/shop.yml:3:",)),
        ("suite: s\ntests:\n  - name: a\n    prompt: b\n    expected_tool: t\n",
         ("evals/shop.yml:5:5", "must_call")),
        ("suite: shop\ntests:\n  - name: a\n    assertions: {answer_contains: [x]}\n",
         ("evals/shop.yml:3", "prompt")),
        ("suite: shop\ntests:\n  - name: a\n    prompt: b\n    assertions: {}\n",
         ("evals/shop.yml:5", "assertions")),
        ("suite: shop\ntests: []\n", ("evals/shop.yml:2", "tests")),
        (
            ("suite: shop\ntests:\n  - &a {name: a, prompt: b, assertions: {must_call: [t]}}\n  - "
        "*a\n"),
            ("evals/shop.yml:", "'a'"),
        ),
        ("suite: shop\nsuite: shop\ntests: []\n", ("evals/shop.yml:2:1", "suite")),
        ("suite: s\ntests:\n  - {name: a, prompt: b, assertions: {must_cal: t}}\n",
         ("evals/shop.yml:3", "must_call")),
    ],
    ids=[
        "syntax", "misplaced key", "no prompt", "no assertions", "no tests", "duplicate test",
        "duplicate key", "typo",
    ],
)  # fmt: skip
def test_a_mistake_in_a_suite_is_told_with_its_line(
    project: Project, text: str, words: tuple[str, ...]
) -> None:
    (project.folder / "evals").mkdir()
    (project.folder / "evals" / "shop.yml").write_text(text)
    refused(project.run("evals"), *words)


def test_an_unknown_model_is_answered_with_what_there_is(project: Project) -> None:
    refused(
        project.run("evals", "data_governance", "--model", "lexicall"),
        "lexicall",
        "Did you mean 'lexical'?",
    )


def test_a_missing_key_names_the_variable_and_the_way_without_one(project: Project) -> None:
    finished = project.run("evals", "data_governance", "--model", "claude-4-sonnet")
    refused(finished, "ANTHROPIC_API_KEY", "--model lexical")


def test_an_unset_variable_is_named_with_the_line_that_needs_it(project: Project) -> None:
    project.suite("shop", [TEST], server=plain_server(env={"TOKEN": "${SHOP_TOKEN}"}))
    refused(project.run("evals", "shop"), "SHOP_TOKEN")


def test_a_server_command_that_does_not_exist_is_told_as_the_servers_error(
    project: Project,
) -> None:
    project.suite("shop", [TEST], server={"command": "no-such-server"})
    finished = project.run("evals", "shop")
    refused(finished, "no-such-server", code=4)
    assert "no-such-server" in finished.stdout


def test_a_server_that_exits_at_start_is_told_with_its_last_words(project: Project) -> None:
    project.suite(
        "shop",
        [TEST],
        server={"command": sys.executable, "args": ["-c", "raise SystemExit('no database')"]},
    )
    finished = project.run("evals", "shop")
    assert finished.code == 4
    assert "no database" in finished.stdout
    assert "Traceback" not in finished.stderr


def test_no_case_that_matches_is_nothing_to_run(project: Project) -> None:
    project.suite("shop", [TEST], server=plain_server())
    refused(project.run("evals", "shop", "-k", "two"), "one", code=2)


def test_with_json_output_a_refusal_is_one_json_document(project: Project) -> None:
    finished = project.run("evals", "no_such_suite", "--json-output")
    assert finished.code == 3
    document = json.loads(finished.stdout)
    assert document["status"] == "error"
    assert "no_such_suite" in document["error"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("evals", "--concurrency", "0"),
        ("evals", "--timeout", "soon"),
        ("evals", "--user-context", "admin"),
        ("evals", "--user-context", "@no-such-file.json"),
        ("evals", "--no-such-option"),
        ("evils",),
        ("evals", "data_governance", "--shard", "4/3"),
        ("evals", "data_governance", "--resume", "no-such-run"),
        ("evals", "data_governance", "--model", "replay:no-such-run"),
        ("grade", "no-such-run"),
    ],
)
def test_wrong_usage_is_told_in_words(project: Project, arguments: tuple[str, ...]) -> None:
    refused(project.run(*arguments))
