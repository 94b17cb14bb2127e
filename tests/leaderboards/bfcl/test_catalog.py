from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import UsageError
from harness.leaderboards.bfcl.catalog import CATEGORIES, COLLECTIONS, SCORES, select_categories


def names(part: str | None) -> list[str]:
    return [category.name for category in select_categories(part)]


def test_there_are_as_many_cases_as_the_release_has() -> None:
    counts = {
        name: sum(CATEGORIES[one].cases for one in members) for name, members in COLLECTIONS.items()
    }
    assert counts == {
        "all": 5106,
        "simple": 550,
        "non_live": 1390,
        "live": 2251,
        "single_turn": 3641,
        "multi_turn": 800,
        "python": 3491,
        "non_python": 150,
        "memory": 465,
        "web_search": 200,
        "agentic": 665,
    }


def test_the_page_names_the_cases_of_the_data_and_of_the_suite() -> None:
    page = (Path(__file__).parents[3] / "docs" / "leaderboards.md").read_text("utf-8")
    # The data has five scenarios; each is told to each of the stores.
    fetched = sum(category.cases for category in CATEGORIES.values())
    scenarios = 5 * len(COLLECTIONS["memory"])
    assert f"Fetched: {fetched:,} cases in {len(CATEGORIES)} categories" in page
    assert f"The suite `bfcl` has {fetched + scenarios:,} cases: these, and {scenarios} " in page


def test_a_part_names_categories_and_collections_of_them() -> None:
    assert names("simple,parallel") == [
        "simple_python",
        "simple_java",
        "simple_javascript",
        "parallel",
    ]
    assert names("multi_turn_base , multi_turn_base") == ["multi_turn_base"]
    assert names(None) == list(CATEGORIES)


def test_a_category_that_is_not_there_is_named_with_the_nearest_one() -> None:
    with pytest.raises(UsageError, match=r"no category 'paralel'\n  Did you mean 'parallel'"):
        select_categories("simple,paralel")


def leaves(part: Any) -> list[str]:
    return (
        [part["category"]]
        if "category" in part
        else [name for one in part["parts"] for name in leaves(one)]
    )


def test_every_category_has_its_place_in_the_scores_once() -> None:
    assert sorted(leaves(SCORES)) == sorted(CATEGORIES)


def test_the_overall_score_is_weighed_as_the_leaderboard_weighs_it() -> None:
    overall = SCORES["parts"][0]
    weights = {part["name"]: (part["weight"], part["mean"]) for part in overall["parts"]}
    assert weights == {
        "non_live": (10, "equal"),
        "live": (10, "pooled"),
        "hallucination": (10, "equal"),
        "multi_turn": (30, "equal"),
        "agentic": (40, "equal"),
    }
    assert leaves(overall["parts"][1]) == [
        "live_simple",
        "live_multiple",
        "live_parallel",
        "live_parallel_multiple",
    ]
