from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.base.errors import InvalidInput
from harness.judging.checks import VOCABULARY
from harness.judging.checks.judge.faithfulness import STAND_IN
from harness.judging.checks.judge.judge import JUDGE_TIMEOUT_S
from harness.judging.checks.judge.labelled_answers import OPTIONAL, REQUIRED, read_labelled
from harness.judging.checks.judge.prompt import (
    JUDGE_PROMPT_VERSION,
    MAX_ANSWER,
    MAX_CALLS,
    MAX_OUTPUT,
    MAX_OUTPUTS,
    MAX_QUERY,
)
from harness.judging.checks.kinds.grading import THRESHOLD
from harness.suites.csv_dataset import COLUMNS, MAX_CASES
from harness.suites.readers import read_suite

DOCS = Path(__file__).parents[3] / "docs"
DATASETS, JUDGE = (
    (DOCS / name).read_text(encoding="utf-8") for name in ("datasets.md", "judge.md")
)


def examples(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("text", [*examples(DATASETS, "yaml"), *examples(JUDGE, "yaml")])
def test_every_suite_in_the_pages_is_valid(text: str, tmp_path: Path) -> None:
    path = tmp_path / "example.yml"
    path.write_text(text, encoding="utf-8")
    assert read_suite(path, VOCABULARY).cases


def test_the_dataset_in_the_page_is_valid(tmp_path: Path) -> None:
    (text,) = examples(DATASETS, "csv")
    path = tmp_path / "example.csv"
    path.write_text(text, encoding="utf-8")
    assert len(read_suite(path, VOCABULARY).cases) == 2


def test_the_labels_in_the_page_are_valid(tmp_path: Path) -> None:
    (text,) = examples(JUDGE, "csv")
    path = tmp_path / "labels.csv"
    path.write_text(text, encoding="utf-8")
    assert [item.human for item in read_labelled(path)] == [0.9, "fail", "partially correct"]


def test_the_mistakes_that_the_page_shows_are_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = (
        ",".join(COLUMNS),
        "1,q,a,{},",
        "2,q,a,{},",
        "3,q,Get Stock Price,{},",
        '4,q,a,"{""ticker"":}",',
        "5,q,a,{},",
        '6,q,"[""a"",""b""]",{},',
    )
    (tmp_path / "evals").mkdir()
    path = Path("evals", "prices.csv")
    path.write_text("\n".join(rows))
    with pytest.raises(InvalidInput) as caught:
        read_suite(path, VOCABULARY)
    assert str(caught.value) in DATASETS


def test_the_pages_name_every_column_and_the_true_numbers() -> None:
    assert not [name for name in COLUMNS if f"`{name}`" not in DATASETS]
    assert not [name for name in (*REQUIRED, *OPTIONAL) if f"`{name}`" not in JUDGE]
    assert STAND_IN in DATASETS
    assert f"{MAX_CASES} rows" in DATASETS
    assert f"{THRESHOLD} passes" in DATASETS
    assert f"The judge's prompt has a version, currently {JUDGE_PROMPT_VERSION}" in JUDGE
    assert f"after {JUDGE_TIMEOUT_S:g} seconds" in JUDGE
    for bound in (MAX_QUERY, MAX_ANSWER, MAX_OUTPUT, MAX_OUTPUTS, MAX_CALLS):
        assert f" {bound:,}" in JUDGE
