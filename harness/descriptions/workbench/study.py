"""A study: a question, the arms that it needs, and the analysis of their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from harness.base import Registry, find_members
from harness.descriptions.workbench.arms import Arm, ServerTexts
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.judging import wanted_tool
from harness.types import JsonObject, ModelSpec, Suite, Tool, Usage, Variant, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOptions:
    """The user's options; a run of the workbench stores them, and a resumed run reuses them."""

    seed: int = 0
    """Seed of every random choice."""
    margin: float = 0.05
    """Margin of equivalence: the largest difference of pass rates (a rate) that counts as none."""
    decoys: tuple[int, ...] = (8, 32, 128)
    """Numbers of decoys to try."""
    mutants: int = 60
    """Most description mutants to try."""
    steering_tools: int = 12
    """Most tools that the study steering copies."""
    versus: tuple[str, ...] = ()
    """Variants to compare with the server's own list, as for ``harness evals --variant``."""
    against: str | None = None
    """Another server to compare with the suite's own, as for ``--server``; ``None`` for none."""
    writer: str | None = None
    """Name of the model that writes proposals; ``None`` for the mechanical proposer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherServer:
    """The server that `StudyOptions.against` names, with its tools."""

    name: str
    """Its name, never that of the suite's own server."""
    tools: tuple[Tool, ...]
    """Every tool that the server lists for an identity of the suite, once."""
    not_asked: Mapping[str, str] = field(default_factory=dict)
    """Case that cannot run on it → why, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyContext:
    """Everything that a study may use before anything is run."""

    suite: Suite
    """The suite, with the selected cases."""
    texts: ServerTexts
    """Every tool that is listed for an identity of the suite, and the server's instructions if
    models of the suite are given them."""
    model: str
    """Name of the model under test, without any variant."""
    baseline: bool = False
    """Whether that model is the baseline, which is not an LLM."""
    options: StudyOptions = field(default_factory=StudyOptions)
    """The user's options."""
    versus: tuple[Variant, ...] = ()
    """The variants that `StudyOptions.versus` names."""
    other: OtherServer | None = None
    """The other server, once its tools are known; ``None`` also if none is named."""
    writer: ModelSpec | None = None
    """The model that `StudyOptions.writer` names."""
    folder: Path | None = None
    """Folder of the first run, for what must be recorded once; ``None`` in a dry run."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Every tool that is listed for an identity of the suite, once, with the server's texts."""
        return self.texts.tools

    def find_tool(self, name: str) -> Tool | None:
        """Return the tool of that name."""
        return next((tool for tool in self.tools if tool.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding, in one line."""

    text: str
    """The sentence."""
    weight: float
    """Its importance, in points of pass rate or similar: larger ones are listed first."""
    certain: bool = True
    """Whether the data shows it, or only suggests it."""
    tool: str | None = None
    """The tool that it is about, if any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyResult:
    """The answer of one study for one model."""

    headline: str
    """The answer in a sentence."""
    lines: tuple[str, ...] = ()
    """The details for a terminal, one line each."""
    findings: tuple[Finding, ...] = ()
    """The findings."""
    facts: JsonObject = field(default_factory=dict)
    """Everything, for programs and pages (JSON)."""
    notes: tuple[str, ...] = ()
    """What was left out and why, and limits of the results."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Name → text of files for the user, such as variants; written into the folder of the first
    run."""
    study: str = ""
    """Name of the study; the workbench sets it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """One study of the workbench."""

    name: str
    """The name, as in ``--studies``."""
    place: int
    """Its position in plans and reports."""
    question: str
    """The question that it answers."""
    arms: Callable[[StudyContext], Sequence[Arm]] = lambda _bench: ()
    """Returns the arms that are known in advance; the clean arm is always run."""
    read: Callable[[StudyContext, ModelMeasurements], StudyResult]
    """Returns the answer from the results, which may be a part of the plan."""
    next_arms: Callable[[StudyContext, ModelMeasurements], Sequence[Arm]] = lambda *_: ()
    """Returns further arms that follow from the results; called until all returned arms have run,
    case by case."""
    needs_run: bool = True
    """Whether it needs runs for an answer; without any such study, no model is asked."""
    estimate: Callable[[StudyContext], int] | None = None
    """Returns the most trials that `next_arms` may take with one model and one trial per case, for
    a dry run; ``None`` for none."""
    usage: Callable[[StudyContext], Usage] | None = None
    """Returns its usage outside trials, for example of a writing model; ``None`` for nothing."""
    usage_ahead: Callable[[StudyContext], Usage] | None = None
    """Returns an estimate of that usage for a dry run; ``None`` for nothing."""


def tests_by_tool(bench: StudyContext) -> list[tuple[Tool, frozenset[str]]]:
    """Return each listed tool that is the only one a test expects first, with all such tests."""
    found: dict[str, set[str]] = {}
    for case in bench.suite.cases:
        if (wanted := wanted_tool(case)) is not None:
            found.setdefault(wanted, set()).add(case.name)
    return [
        (tool, frozenset(cases))
        for name, cases in found.items()
        if (tool := bench.find_tool(name)) is not None
    ]


STUDIES: Registry[Study] = Registry(
    "harness.workbench",
    "study",
    find_members(
        Path(__file__).with_name("studies"), "harness.descriptions.workbench.studies", "STUDY"
    ),
)
"""All studies: one file each in `workbench.studies`, and those of other packages."""


def chosen_studies(names: Sequence[str] = ()) -> tuple[Study, ...]:
    """Return the named studies, or all, in the order of reports.

    Raises:
        UsageError: there is no study with one of the names.
    """
    studies = [STUDIES.get(name) for name in names or STUDIES.list_names()]
    return tuple(sorted({study.name: study for study in studies}.values(), key=lambda s: s.place))
