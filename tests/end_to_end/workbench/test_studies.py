"""The studies over the wire: a model that goes by known words, real servers, the whole command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.end_to_end.harness_process import Project, provided
from tests.end_to_end.workbench.test_run import TOOLS, WEIGHT, found, worded
from tests.fake_provider import FakeProvider, Incoming, Step, call, say
from tests.reports.packs import all_of

CASES = [
    {
        "name": f"invoice_{number}",
        "prompt": f"Find invoice {number}.",
        "assertions": {"must_call": [{"tool": "find_invoices"}]},
    }
    for number in range(10)
]
VARIANTS = {
    "blunt": {"tools": {"find_invoices": {"without_sentences": 2}}},
    "sorted": {"order": ["find_orders"]},
}


def by_words(request: Incoming) -> Step:
    """Call a tool that speaks of invoices, and the last of them that stands in the list."""
    if request.turn:
        return say("Done.")
    fitting = [name for name, tool in request.tools.items() if WEIGHT in (tool.description or "")]
    return call((fitting or ["find_orders"])[-1], {})


@pytest.fixture
def provider(project: Project) -> Iterator[FakeProvider]:
    project.suite("shop", CASES, server=worded(project, TOOLS), variants=VARIANTS)
    with provided(project, by_words) as server:
        yield server


def studies_of(document: Any) -> Any:
    [model] = document["models"]
    return model["studies"]


@pytest.mark.slow
def test_ablation_claims_the_sentence_that_the_model_goes_by_and_no_other_part(
    project: Project, provider: FakeProvider
) -> None:
    studies = studies_of(found(project, "--studies", "ablation,cost"))
    parts = studies["ablation"]["parts"]
    assert parts[0]["part"]["text"] == WEIGHT
    assert parts[0]["says"] == "carries weight"
    assert (parts[0]["before"], parts[0]["after"]) == (0, 1)
    assert [one["says"] for one in parts[1:]] == ["undecided"] * (len(parts) - 1)
    [finding] = studies["ablation"]["findings"]
    assert WEIGHT in finding["text"]
    assert finding["certain"]
    assert studies["cost"]["selection"]["right"] == len(CASES)
    assert studies["cost"]["selection"]["tokens_each"] > 0
    assert not any(one["idle"] for one in studies["cost"]["parts"])  # 10 cases prove no absence


@pytest.mark.slow
def test_ablation_claims_the_sentence_of_the_instructions_that_the_model_goes_by(
    project: Project,
) -> None:
    rule = "Invoices are found by find_invoices."

    def by_rule(request: Incoming) -> Step:
        if request.turn:
            return say("Done.")
        return call(request.tool_names[0 if rule in json.dumps(request.body) else -1], {})

    said = f"Be brief. {rule}"
    project.suite("shop", CASES, server=worded(project, TOOLS, said), variants=VARIANTS)
    with provided(project, by_rule):
        document = found(project, "--studies", "ablation")
    assert list(document["instructions"][0].values()) == [said]
    whole, sentence, *others = studies_of(document)["ablation"]["parts"]
    assert (whole["part"]["kind"], whole["says"]) == ("all", "carries weight")
    assert (sentence["part"]["text"], sentence["says"]) == (rule, "carries weight")
    assert [one["says"] for one in others] == ["undecided"] * len(others)


@pytest.mark.slow
def test_variants_and_decoys_are_told_apart_by_what_they_do_to_the_model(
    project: Project, provider: FakeProvider
) -> None:
    variants = ("--variant", "blunt", "--variant", "sorted")
    asked = ("--studies", "ab,decoys,confusion,coverage", "--decoys", "4,8")
    studies = studies_of(found(project, *asked, *variants))
    blunt, order = studies["ab"]["variants"]
    assert (blunt["variant"], blunt["verdict"], blunt["difference"]) == ("blunt", "worse", -1)
    assert (order["variant"], order["verdict"], order["difference"]) == ("sorted", "undecided", 0)
    unrelated, near = studies["decoys"]["kinds"]
    assert unrelated["verdict"] == "show no trend"
    # Similar tools repeat the sentence, so that the model takes one of them for the right one.
    assert near["verdict"] == "make it worse"
    assert near["lengths"][-1]["pass_rate"] < 1
    assert near["lengths"][-1]["decoy_called_first"] == len(CASES)
    assert studies["confusion"]["macro_f1"] == 1
    assert studies["coverage"]["totals"]["called"]["tools"] == {"used": 1, "all": 2}


def test_confusions_are_read_from_any_run_without_asking_a_model_again(project: Project) -> None:
    project.suite("shop", CASES, server=worded(project, [*reversed(TOOLS)]))

    def by_number(request: Incoming) -> Step:
        if request.turn:
            return say("Done.")
        return call("find_orders" if "invoice 1." in request.prompt else "find_invoices", {})

    with provided(project, by_number) as server:
        assert project.run("evals", "shop").code == 1
        asked = len(server.journal)
        finished = project.run(
            "workbench", "--from", "latest", "--studies", "confusion", "--json-output"
        )
        assert finished.code == 0, finished.stderr
        assert len(server.journal) == asked
    confusion = studies_of(finished.document["result"])["confusion"]
    cells = {(one["wanted"], one["called"]): one for one in confusion["cells"]}
    assert cells["find_invoices", "find_invoices"]["count"] == 9
    wrong = cells["find_invoices", "find_orders"]
    assert wrong["count"] == 1
    assert [one.case.name for one in project.log().results if one.key in wrong["trials"]] == [
        "invoice_1"
    ]


def test_coverage_alone_asks_no_model_and_says_which_tools_no_test_wants(
    project: Project, provider: FakeProvider
) -> None:
    finished = project.run("workbench", "shop", "--studies", "coverage")
    assert finished.code == 0, finished.stderr
    assert provider.journal == []
    assert "1 of 2 tools" in finished.stdout
    assert "Nothing was run." in finished.stdout
    refused = project.run("workbench", "shop", "--studies", "coverage", "--report", "html")
    assert refused.code == 3
    assert "--report html:PATH" in refused.stderr
    page = ("--studies", "coverage", "--report", "html:page.html")
    assert project.run("workbench", "shop", *page).code == 0
    assert "find_orders" in all_of((project.folder / "page.html").read_text())
