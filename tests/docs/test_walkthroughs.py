"""The tutorial and the page on migration, followed step by step."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.site.pages import ROOT
from tests.docs.conftest import FILESYSTEM
from tests.docs.walkthrough import Step, follow, not_shown, steps

TUTORIAL = ROOT / "docs" / "tutorial" / "index.md"
MIGRATE = ROOT / "docs" / "migrate.md"


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(not FILESYSTEM.exists(), reason="npm ci --prefix tests/strangers")
def test_the_tutorial_shows_what_happens(tmp_path: Path, programs: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    assert [*follow(TUTORIAL.read_text("utf-8"), folder, programs)] == []


@pytest.mark.slow
def test_the_page_on_migration_shows_what_happens(tmp_path: Path, programs: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    assert [*follow(MIGRATE.read_text("utf-8"), folder, programs)] == []


def test_a_page_is_read_as_files_and_commands() -> None:
    page = """\
In `a.yml`, and then in `evals/b.yml`:

```yaml
suite: b
```

```console
$ harness one
…
two
$ harness three
```

```sh
harness evals --model claude-4-sonnet
```

```sh
mkdir x
```
"""
    assert [*steps(page)] == [
        Step(path="evals/b.yml", text="suite: b\n"),
        Step(command="harness one", shown=("…", "two")),
        Step(command="harness three"),
        Step(command="mkdir x\n"),
    ]


@pytest.mark.parametrize(
    ("shown", "missing"),
    [
        (
            ("passed  a  12 ms", "…", "log .harness/runs/20261123T230509Z-notes-10edd7/log.jsonl"),
            None,
        ),
        (("1 planned: 1 passed",), None),
        (("1 planned: 1 pas…",), None),
        (("1 planned: 1 failed",), "1 planned: 1 failed"),
        (("1 planned: 1 passed", "passed  a  12 ms"), "passed  a  12 ms"),
    ],
)
def test_what_is_shown_must_be_in_the_output_in_its_order(
    shown: tuple[str, ...], missing: str | None
) -> None:
    output = "passed  a  3 ms\nlog .harness/runs/20270101T000000Z-notes-abcdef/log.jsonl\n"
    assert not_shown(shown, f"{output}1 planned: 1 passed\n") == missing


def test_a_wrong_output_of_a_page_is_told(tmp_path: Path, programs: Path) -> None:
    (told,) = follow("```console\n$ echo a; echo b\na\nc\n```\n", tmp_path, programs)
    assert told == "$ echo a; echo b\n'c' is not in:\na\nb\n"
