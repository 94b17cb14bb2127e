"""The dataset: its form, and whether a model that uses the tools well scores well on it."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.harness_process import Project
from tests.servers.competent import Turns, run_suite
from tests.servers.data_governance.support import ROOT
from tests.servers.finance.support import ANYBODY, shared

PATH = ROOT / "evals" / "finance.csv"
with PATH.open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file))
WORDS = {"current price", "price", "comparison", "interest", "highest", "lowest"}
"""Keywords that an answer says in its own words."""


def calls_of(row: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    args = json.loads(row["expected_args"])
    if not row["expected_tool"].startswith("["):
        return [(row["expected_tool"], args)]
    return list(zip(json.loads(row["expected_tool"]), args, strict=True))


def keywords_of(row: dict[str, str]) -> list[str]:
    return row["expected_response_contains"].split(",")


def test_the_columns_are_those_of_the_format() -> None:
    assert PATH.read_bytes().startswith(
        b"test_id,query,expected_tool,expected_args,expected_response_contains\n"
        b'1,"What is Apple\'s stock price?",'
    )
    assert [row["test_id"] for row in ROWS] == [str(number) for number in range(1, len(ROWS) + 1)]
    assert {len(calls_of(row)) for row in ROWS} == {1, 2, 3}
    assert {tool for row in ROWS for tool, _ in calls_of(row)} == {
        "get_stock_price",
        "get_company_info",
        "calculate_financial_ratios",
        "calculate_investment_returns",
    }


@pytest.mark.anyio
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["test_id"])
async def test_the_expected_calls_return_what_the_answer_must_hold(row: dict[str, str]) -> None:
    async with shared() as finance:
        texts = [
            json.dumps(await finance.data(ANYBODY, tool, **args)) for tool, args in calls_of(row)
        ]
    for keyword in set(keywords_of(row)) - WORDS:
        assert keyword.lower() in " ".join(texts).lower()


@pytest.mark.slow
def test_a_competent_model_passes_every_row(tmp_path: Path) -> None:
    scripts: dict[str, Turns] = {
        row["query"]: (calls_of(row), f"{', '.join(keywords_of(row))}: {{results}}") for row in ROWS
    }
    verdicts = run_suite(Project(tmp_path), "finance", {"competent": scripts})["competent"]
    assert verdicts == {row["test_id"]: [] for row in ROWS}
