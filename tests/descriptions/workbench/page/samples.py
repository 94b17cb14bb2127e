"""Results of a workbench to make pages of: every study that the page knows, on any words."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.base.stats.effects import paired_effects
from harness.descriptions.workbench.analysis.effects import effect_facts
from harness.descriptions.workbench.analysis.two_servers import compare_tools
from harness.descriptions.workbench.arms import ServerTexts, iterate_tool_parts
from harness.descriptions.workbench.page import write_page
from harness.descriptions.workbench.study import Finding, StudyResult
from harness.descriptions.workbench.workbench_result import ModelResults, WorkbenchResult
from harness.types import JsonObject, Tool, Usage
from tests.reports.sample_logs import a_conversation, a_log, a_run, must_call

ORDINARY = ("find_orders", "Find the orders of a customer.", "Not for invoices.", "open")


def tools_of(words: Sequence[str] = ORDINARY) -> tuple[Tool, ...]:
    """Return two tools, the first of which says all of ``words``."""
    name, *said = words
    schema = {
        "type": "object",
        "properties": {said[-1]: {"type": "string", "description": " ".join(said), "enum": said}},
    }
    return (
        Tool(name=name, title=said[0], description=" ".join(said), input_schema=schema),
        Tool(name="list_invoices", description="List invoices.", input_schema={"type": "object"}),
    )


def an_effect(before: int, after: int, cases: int = 20) -> JsonObject:
    """Return the facts of an effect: so many cases passed, before and after."""
    pairs = [((place < before, 1), (place < after, 1)) for place in range(cases)]
    (effect,) = paired_effects([[((int(a), m), (int(b), n)) for (a, m), (b, n) in pairs]])
    assert effect is not None
    return effect_facts(effect)


def studies_of(tools: Sequence[Tool], keys: Sequence[str] = ()) -> tuple[StudyResult, ...]:
    """Return what studies find of ``tools``; ``keys`` are trials that a confusion opens."""
    first, other = (tool.name for tool in tools)
    effects = [an_effect(0, 20), an_effect(12, 10), an_effect(10, 10)]
    told: dict[str, JsonObject] = {
        "ablation": {
            "margin": 0.05,
            "parts": [
                {
                    "part": asdict(part),
                    "label": part.label,
                    "tokens": part.tokens,
                    **effects[place % 3],
                }
                for place, part in enumerate(iterate_tool_parts(tools))
            ],
        },
        "confusion": {
            "wanted": [first, None],
            "called": [first, other, None],
            "f1": [{"tool": first, "f1": 0.5}, {"tool": None, "f1": None}],
            "cells": [
                {"wanted": first, "called": first, "count": 1, "share": 0.5, "trials": []},
                {
                    "wanted": first,
                    "called": other,
                    "count": len(keys),
                    "share": 0.5,
                    "trials": list(keys),
                },
            ],
        },
        "decoys": {
            "kinds": [
                {
                    "kind": "near",
                    "curve": [
                        {"added": added, "accuracy": 0.9 - added / 200, "band": [0.2, 1.0]}
                        for added in (0, 8, 32)
                    ],
                    "lengths": [
                        {
                            "added": added,
                            "pass_rate": 0.9 - added / 200,
                            "cases": 20,
                            "decoy_called_first": 1,
                            "trials": 20,
                        }
                        for added in (0, 8, 32)
                    ],
                }
            ]
        },
        "ab": {
            "margin": 0.05,
            "variants": [{"variant": first, **effects[0]}],
            "against": {
                "server": first,
                **effects[1],
                "tokens_of_the_list": [120, 90],
                "tokens_of_a_trial": [1200.0, None],
                "tools": [asdict(one) for one in compare_tools(tools, (tools[0],), (), ())],
                "cases_on_both": [
                    {
                        "case": first,
                        "before": 1.0,
                        "after": 0.0,
                        "called": [first, None],
                        "moved": -1.0,
                    }
                ],
                "not_asked": [{"case": first, "why": f"names the tool {other}"}],
            },
        },
        "of another package": {
            "rows": [{"what": first, **effects[0]}],
            "share": 0.5,
            "text": first,
        },
    }
    return tuple(
        StudyResult(
            study=name,
            headline=f"{name}: {first}",
            lines=(f"a line of {first}",),
            findings=(Finding(text=f"{name} says {first}", weight=1.0, tool=first),),
            facts=facts,
            notes=(f"a note on {first}",),
        )
        for name, facts in told.items()
    )


def handed_back() -> Iterator[StudyResult]:
    """Yield what the studies find that hand something back: a missing test, a rewrite."""
    mutant = {"label": "emptied text in list_invoices", "defect": "it is empty", "noticed_by": []}
    test = "- name: list_invoices\n  assertions:\n    must_call:\n    - tool: list_invoices"
    yield StudyResult(
        study="kill-score",
        headline="One defect of two is noticed.",
        facts={
            "score": 0.5,
            "interval": [0.1, 0.9],
            "operators": {"emptied text": {"killed": 1, "counted": 2}},
            "mutants": [
                {**mutant, "fate": "survived", "missing_test": test},
                {**mutant, "fate": "killed", "noticed_by": ["right"], "missing_test": None},
            ],
        },
    )
    gain = {"intents": 12, "difference": 0.2, "interval": [0.05, 0.4], "level": 0.025}
    yield StudyResult(
        study="improve",
        headline="One change is proven.",
        facts={
            "accepted": "clearer",
            "looks": [{"name": "clearer", "by": "rule", "on_held_out": gain, "refused": None}],
            "proposals": [{"name": "clearer", "by": "rule", "why": "shorter", "on_seen": gain}],
            "rewrite": [
                {
                    "variant": "improved",
                    "proposal": "clearer",
                    "tool": "find_orders",
                    "parameter": None,
                    "part": "description",
                    "before": "Find open orders.",
                    "after": "Find paid orders.",
                }
            ],
        },
    )


def a_result(
    folder: Path,
    words: Sequence[str] = ORDINARY,
    *,
    models: Sequence[str] = ("m",),
    baseline: bool = False,
    more: Sequence[StudyResult] = (),
    **changed: Any,
) -> WorkbenchResult:
    """Return a result with one log of two trials in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    tools = tools_of(words)
    failed = (must_call(tools[0].name, tools[1].name),)
    log = a_log(
        folder,
        [
            (a_run(words[1], "failed", checks=failed), a_conversation("list_invoices")),
            (a_run("right"), a_conversation(tools[0].name)),
        ],
    )
    keys = [result.key for result in log.results[:1]]
    facts: dict[str, Any] = {
        "run_id": log.header.run_id,
        "suite": words[0],
        "texts": ServerTexts(tools=tools),
        "models": tuple(
            ModelResults(model=name, baseline=baseline, studies=(*studies_of(tools, keys), *more))
            for name in models
        ),
        "logs": (log.path,),
        "reason": "complete",
        "recorded": 2,
        "not_judged": 0,
        "spent": Usage(input_tokens=20, output_tokens=10, cost_usd=0.5),
    }
    return WorkbenchResult(**(facts | changed))


def page_of(result: WorkbenchResult) -> str:
    """Return the page's text."""
    stream = io.StringIO()
    write_page(result, stream)
    return stream.getvalue()
