"""Our verdicts and the official ones, side by side.

The functions of the package ``bfcl-eval`` judge the same outputs.

Needs a Python that has the package (and nothing of the clients that it imports):
``$HARNESS_BFCL_EVAL``, else the environment that `.ci/run` makes.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.leaderboards.bfcl.official.renderings import FAMILIES
from tests.leaderboards.bfcl.official.side_by_side import Case, Pair, compared, official, recordings
from tests.leaderboards.bfcl.outputs import PUBLISHED_WRONGLY

ALTERED = 5000
"""How many altered outputs are judged; as many unaltered ones stand beside them."""


@pytest.fixture(scope="session")
def official_python() -> Path:
    made = Path(
        os.environ.get("HARNESS_STRANGER_VENVS")
        or Path(__file__).parents[2] / "strangers" / ".venvs"
    )
    python = Path(os.environ.get("HARNESS_BFCL_EVAL") or made / "bfcl" / "bin" / "python")
    if not python.is_file():
        pytest.skip(
            f"there is no Python with bfcl-eval at {python}: .ci/run makes one, or name it: "
            f"$HARNESS_BFCL_EVAL"
        )
    return python


@pytest.fixture(scope="session")
def rows(bfcl_data: Path, recorded_file: Path) -> list[dict[str, Any]]:
    with gzip.open(recorded_file, "rt") as file:
        return [json.loads(line) for line in file]


def named(pair: Pair) -> str | None:
    """Return why two verdicts on one output may differ; ``None`` where they must not."""
    objects = pair.case.family.model == "katanemo/Arch-Agent-7B"
    decoder = {"ast_decoder:decoder_wrong_output_format", "ast_decoder:decoder_failed"}
    if objects and {pair.ours, pair.official} == decoder:
        return (
            "of handlers for lists of objects, some call a list with other items undecodable, "
            "some misshapen"
        )
    result = pair.case.result
    if pair.case.family.model == "ibm-granite/granite-20b-functioncalling" and isinstance(
        result, list
    ):
        letters = any(isinstance(turn, str) for turn in result)
        if letters and pair.ours is not None and pair.official is not None:
            return (
                "letters of a turn that is a text are calls to this handler; here the last "
                "letter stands for all"
            )
    if pair.crashed is not None and pair.ours is not None:
        return "the official functions end with an exception, and the output is a failure here"
    return None


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_altered_outputs_get_the_verdict_of_the_official_functions(
    official_python: Path, rows: list[dict[str, Any]]
) -> None:
    pairs = list(compared(official_python, list(recordings(rows, ALTERED, seed=20261122))))
    unequal = [pair for pair in pairs if pair.crashed is not None or pair.ours != pair.official]
    assert sum(pair.case.altered for pair in pairs) >= ALTERED
    assert [pair for pair in unequal if named(pair) is None] == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_official_functions_say_of_recorded_outputs_what_was_published(
    official_python: Path, rows: list[dict[str, Any]]
) -> None:
    by_naming = {
        "claude-sonnet-4-5-20250929-FC": "claude-sonnet-4-5-20250929-FC",
        "DeepSeek-V3.1-Terminus-FC": "claude-sonnet-4-5-20250929-FC",
        "glyphh-ada-1.1(claude-haiku-4.5 args)": "firefunction-v2-FC",  # its names keep their dots
    }
    families = {family.model: family for family in FAMILIES}
    cases = [
        Case(families[by_naming[row["model"]]], row["id"], row["result"], altered=False)
        for row in rows
    ]
    different = [
        (row["model"], row["id"])
        for row, verdict in zip(rows, official(official_python, cases), strict=True)
        if (verdict.get("valid"), verdict.get("error_type")) != (row["valid"], row["error_type"])
    ]
    assert different == [PUBLISHED_WRONGLY]
