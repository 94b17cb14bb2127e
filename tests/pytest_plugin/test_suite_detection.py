"""Only suites are collected; whoever has none pays nothing for the plugin."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.errors import InvalidInput
from harness.judging.checks import VOCABULARY
from harness.pytest_plugin.options import rename_options
from harness.pytest_plugin.suite_detection import is_suite, python_suites
from harness.suites.csv_dataset import MAX_CASES
from harness.suites.readers import make_reader
from tests.pytest_plugin.sessions import ROOT

SUITE = "suite: shop\ntests:\n  - name: a\n    prompt: Hello\n"
PYTHON = (
    "class Shop:\n    name = 'shop'\n    def cases(self):\n        return []\n    def "
    "check(self, case, run): ...\n"
)
ASSERTED = (
    "class Shop:\n    name = 'shop'\n    def cases(self):\n        return [{'assertions': {}}]\n"
)


def config(root: Path, invoked_in: Path | None = None) -> Any:
    return SimpleNamespace(
        invocation_params=SimpleNamespace(dir=invoked_in or root),
        rootpath=root,
        getini=lambda _: ["test_*.py", "*_test.py"],
    )


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


COLUMNS = "test_id,query,expected_tool,expected_args,expected_response_contains\n"
OURS = {
    "shop.yml": SUITE,
    "old.yml": "mxcp: 1\nsuite: shop\n",
    "quoted.yaml": '"suite": shop\ntests:\n- {"name": a, "prompt": x}',
    "marked.yml": f"\ufeff{SUITE}",
    "windows.yml": SUITE.replace("\n", "\r\n"),
    "as_json.yml": (
        '{"suite": "shop", "tests": [{"name": "a", "prompt": "Hello", "assertions": {}}]}'
    ),
    "dumped.yml": "suite: shop\ntests:\n- name: a\n  prompt: Hello\n",
    "turns.yml": "suite: shop\ntests:\n  - name: a\n    turns: []\n",
    "data.csv": COLUMNS,
    "spread.csv": COLUMNS.replace(",", ";").upper(),
    "memory.jsonl": '{"name": "a", "chunks": ["x"], "questions": ["?"], "answers": ["x"]}\n',
    "bench.jsonl": (
        '{"context": "x", "questions": ["?"], "answers": [["x"]], "metadata": {"source": "y"}}\n'
    ),
    "book.jsonl": '{"context": "%s", "questions": ["?"], "answers": ["x"]}\n' % ("word " * 200_000),
}
OURS_WITH_MISTAKES = {
    "promt.yml": (
        "suite: shop\ntests:\n  - name: a\n    promt: Hello\n    assertions: {must_call: [x]}\n"
    ),
    "tset.yml": (
        "suite: shop\ntset:\n  - name: a\n    prompt: Hello\n    assertions:\n      "
        "must_call: [x]\n"
    ),
    "nameless.yml": (
        "tests:\n  - name: a\n    prompt: Hello\n    assertions:\n      must_not_call: [x]\n"
    ),
    "unclosed.yml": f"{SUITE}    user_context: {{role: admin\n",
    "misspelt.csv": COLUMNS.replace("expected_args", "expected_arguments"),
    "missing.csv": "test_id,query,expected_tool\n1,?,x\n",
    "broken.jsonl": '{"context": "x", "questions": ["?"], "answers": ["x"\n',
    "second.jsonl": (
        '{"contxt": 1}\n{"context": "x", "questions": ["?"], "answers": ["x"], "nme": "x"}\n'
    ),
}
OTHERS = {
    "promptfoo.yaml": "prompts: ['{{q}}']\nproviders: [openai:gpt-4o]\n"
    "tests:\n  - vars: {q: hi}\n    assert:\n      - type: contains\n        value: x\n",
    "promptfoo_tests.csv": "question,__expected\nhi,contains: x\n",
    "openai_evals.yaml": "test-match:\n  id: test-match.s1.simple-v0\n  metrics: [accuracy]\n",
    "openai_samples.jsonl": '{"input": [{"role": "user", "content": "hi"}], "ideal": "x"}\n',
    "deepeval.csv": "input,actual_output,expected_output,context,retrieval_context\na,b,c,d,e\n",
    "ragas.csv": "user_input,retrieved_contexts,response,reference\n",
    "langsmith.jsonl": '{"inputs": {"question": "?"}, "outputs": {"answer": "x"}}\n',
    "lm_eval.yaml": "task: mmlu\ndataset_path: x\ndoc_to_text: '{{question}}'\n",
    "squad.jsonl": (
        '{"id": "1", "title": "t", "context": "x", "question": "?", "answers": {"text": ["x"]}}\n'
    ),
    "quac.jsonl": (
        '{"context": "x", "questions": ["?"], "answers": {}, "followups": [], "yesnos": []}\n'
    ),
    "prompts.csv": "prompt,expected\nhi,x\n",
    "queries.csv": "test_id,query,answer\n1,hi,x\n",
    "columns.csv": "my_test_id,query_text,expected_tool_name,expected_args_json\n",
    "workflow.yml": (
        "name: evals\non: [push]\njobs:\n  test:\n    steps:\n      - name: a\n      "
        "  "
        "run: pytest\n"
    ),
    "compose.yml": "services:\n  db: {image: postgres}\n",
    "chart_test.yaml": "suite: deployment\ntemplates: [a.yaml]\ntests:\n  - it: works\n    set: "
    "{user: x, name: y}\n"
    "    asserts:\n      - equal: {path: a, value: b}\n",
    "mcp_tool.yml": "mxcp: 1\ntool:\n  name: x\n  tests:\n    - name: y\n      arguments: []\n",
    "mxcp-site.yml": "mxcp: 1\nproject: x\n",
    "venom.yml": (
        "name: x\ntestcases:\n  - name: a\n    steps:\n      - type: exec\n        "
        "assertions: [x]\n"
    ),
    "tavern.yaml": "test_name: x\nstages:\n  - name: a\n    request: {url: b}\n",
    "nested.yml": "other:\n  suite: shop\n  prompt: x\n",
    "goose.yaml": "version: 1\ntitle: x\nprompt: do it\n",
    "binary.yml": "\x00\x01\x02",
    "scalar.jsonl": "1\n2\n",
    "empty.yml": "",
    "empty.csv": "",
    "empty.jsonl": "",
    ".hidden.yml": SUITE,
    "notes.md": SUITE,
}


@pytest.mark.parametrize("name", OURS)
def test_a_suite_is_known_by_what_it_says_wherever_it_lies(tmp_path: Path, name: str) -> None:
    assert is_suite(write(tmp_path / "evals" / "deep" / name, OURS[name]))
    assert is_suite(write(tmp_path / name, OURS[name]))


@pytest.mark.parametrize("name", OURS_WITH_MISTAKES)
def test_a_suite_with_mistakes_is_still_ours_so_that_they_are_told(
    tmp_path: Path, name: str
) -> None:
    path = write(tmp_path / "evals" / name, OURS_WITH_MISTAKES[name])
    assert is_suite(path)
    with pytest.raises(InvalidInput) as caught:
        make_reader(MAX_CASES)(path, VOCABULARY)
    assert all(problem.at.line for problem in caught.value.problems)


@pytest.mark.parametrize("name", OTHERS)
def test_files_of_other_tools_are_left_alone_below_evals_too(tmp_path: Path, name: str) -> None:
    assert not is_suite(write(tmp_path / "evals" / name, OTHERS[name]))


def test_a_pipe_or_a_folder_with_such_a_name_is_no_suite(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yml")
    (tmp_path / "folder.csv").mkdir()
    assert not any(
        map(is_suite, (tmp_path / "pipe.yml", tmp_path / "folder.csv", tmp_path / "nothing.yml"))
    )


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "evals").iterdir()))
def test_every_suite_of_the_project_is_known(name: str) -> None:
    assert is_suite(ROOT / "evals" / name)


@pytest.mark.parametrize(
    ("name", "text", "named", "expected"),
    [
        ("evals/shop.py", PYTHON, False, ("Shop",)),
        ("evals/shop.py", PYTHON + "class Other:\n    name = 'other'\n", False, ("Shop",)),
        ("evals/shop.py", ASSERTED, False, ("Shop",)),
        (
            "evals/shop.py",
            f"class Base:\n    def check(self, case, run): ...\n{ASSERTED}",
            False,
            ("Shop",),
        ),
        (
            "evals/shop.py",
            PYTHON.replace("Shop", "Shop(Base)").replace("check", "checks"),
            False,
            (),
        ),
        (
            "evals/shop.py",
            PYTHON.replace("Shop", "Shop(Base)").replace("check", "checks"),
            True,
            ("Shop",),
        ),
        (
            "evals/data.py",
            "class Data(Dataset):\n    name = 'x'\n    cases = [1, 2]\n    check = None\n",
            False,
            (),
        ),
        ("evals/model.py", "class Model(Base):\n    name: str\n    cases: list[str]\n", True, ()),
        ("evals/broken.py", "class Shop(", False, ()),
        ("evals/test_shop.py", PYTHON, False, ()),
        ("bench/shop.py", PYTHON, False, ()),
        ("bench/shop.py", PYTHON, True, ("Shop",)),
        ("tests/test_shop.py", PYTHON, True, ()),
    ],
)
def test_python_suites_are_those_below_evals_and_those_that_are_named(
    tmp_path: Path, name: str, text: str, named: bool, expected: tuple[str, ...]
) -> None:
    parent: Any = SimpleNamespace(
        config=config(tmp_path), session=SimpleNamespace(isinitpath=lambda _: named), name="parent"
    )
    assert python_suites(write(tmp_path / name, text), parent) == expected


def test_the_plugin_loads_nothing_before_a_suite_is_found() -> None:
    script = (
        "import pytest, sys; before = set(sys.modules)\n"
        "import harness.pytest_plugin\n"
        "print(sorted(name for name in set(sys.modules) - before))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        cwd=ROOT,
    ).stdout
    assert set(ast.literal_eval(printed)) == {
        "harness",
        "harness.base",
        "harness.base.platforms",
        "harness.re_exports",
        "harness.pytest_plugin",
        "harness.pytest_plugin.session_end",
        "harness.pytest_plugin.options",
        "harness.pytest_plugin.suite_detection",
        "harness.runner",
        "harness.runner.planning",
        "harness.runner.planning.option_types",
        "harness.runner.planning.options",
        "harness.version",
    }


def test_texts_of_harness_name_the_options_as_they_are_called_here() -> None:
    text = "name one with --model, for example --model claude; see --models, --report and -m"
    assert rename_options(text) == (
        "name one with --harness-model, for example --harness-model claude; see --models, "
        "--report and -m"
    )
