"""Studies on logs made by hand: what each trial called first, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from harness.descriptions.workbench.arms import ServerTexts
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.descriptions.workbench.study import StudyContext, StudyOptions
from harness.judging.checks import VOCABULARY
from harness.runlog import Header, LogWriter, TrialLine, read_log
from harness.runner.variants.views import VariantViews
from harness.suites.axes import Point, describe_values, name_values
from harness.types import (
    Case,
    CaseFacts,
    Check,
    Suite,
    Tool,
    ToolCall,
    ToolList,
    Transcript,
    Usage,
    Variant,
    name_entrant,
)
from tests.reports.run_logs import a_run

Trials = Sequence[tuple[str, str | None] | tuple[str, str | None, Mapping[str, Any]]]
"""One case's trials: the ending's letter, the tool called first (``!`` before a decoy's name), and
the arguments."""


def case(name: str, **assertions: Any) -> Case:
    """Return a case with these checks, as a suite has them."""
    return Case(name=name, prompt=name, checks=tuple(checks(assertions)))


def checks(assertions: Mapping[str, Any]) -> list[Check]:
    """Return the checks of a suite's ``assertions``."""
    return [
        check for name, value in assertions.items() for _, check in VOCABULARY.parse(name, value)
    ]


def bench(
    cases: Sequence[Case],
    tools: Sequence[Tool],
    *,
    instructions: tuple[Mapping[str, str], ...] = (),
    **more: Any,
) -> StudyContext:
    """Return the bench of model ``m`` on suite ``s``."""
    return StudyContext(
        suite=Suite(name="s", cases=tuple(cases)),
        texts=ServerTexts(tools=tuple(tools), instructions=instructions),
        model="m",
        options=more.pop("options", StudyOptions()),
        **more,
    )


def measured(
    folder: Path,
    *arms: tuple[Variant | None, Mapping[str, Trials]],
    usage: Usage | None = None,
    identities: Sequence[str] = (),
    tools: Sequence[Tool] = (),
) -> ModelMeasurements:
    """Write a run of these arms, in which every identity had the same results; read it back.

    The model was shown ``tools`` as the arm has them.
    """
    path = folder / "log.jsonl"
    points: list[Point] = [{"variant": variant} if variant else {} for variant, _ in arms]
    with LogWriter(path) as log:
        log.append(
            Header(
                run_id="r",
                started_at="2026-01-01T00:00:00.000Z",
                harness_version="0",
                planned=0,
                suites={"s": {"cases": {}}},
                models={"m": {"provider": "openai", "model_id": "m"}},
                axes=describe_values(points),
            )
        )
        for point, (variant, results) in zip(points, arms, strict=True):
            view = (
                VariantViews().get_view(variant, ToolList(tools=tuple(tools))).tools
                if variant
                else None
            )
            shown = tuple(tool.name for tool in (view.tools if view else tools))
            for one, trials in results.items():
                every = identities or (None,)
                for (trial, (letter, tool, *args)), who in product(enumerate(trials, 1), every):
                    case = CaseFacts(name=one)
                    if who is not None:
                        case = CaseFacts(name=f"{one} [{who}]", test=one, group=one, identity=who)
                    axes = name_values(point)
                    run = a_run("s", case.name, name_entrant("m", axes), trial, letter, usage)
                    run = replace(run, model="m", axes=axes, case=case, repeats=len(trials))
                    calls = () if tool is None else (_call(tool, args[0] if args else {}),)
                    log.append(
                        TrialLine(run=run, transcript=Transcript(tools=shown, tool_calls=calls))
                    )
    return ModelMeasurements([read_log(path)], "s", "m")


def _call(tool: str, arguments: Mapping[str, Any]) -> ToolCall:
    outcome: Any = "decoy" if tool.startswith("!") else "ok"
    return ToolCall(
        tool=tool.removeprefix("!"), arguments=dict(arguments), outcome=outcome, reply=1
    )


def tool(name: str, description: str = "", **properties: Any) -> Tool:
    """Return a tool with these parameters."""
    return Tool(
        name=name,
        description=description,
        input_schema={"type": "object", "properties": properties},
    )
