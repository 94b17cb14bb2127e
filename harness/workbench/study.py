"""A study: a question, the arms that it needs, and the analysis of their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from harness.registry import Registry, members_in
from harness.types import JsonObject, ModelSpec, Suite, Tool, Usage, Variant
from harness.workbench.arms import Arm
from harness.workbench.measured import Measured


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOptions:
    """What a user may set; a run of the workbench keeps it, and a resumed one has the same."""

    seed: int = 0
    """Everything that is chosen at random follows from it."""
    margin: float = 0.05
    """The largest difference of pass rates (a rate) that counts as none."""
    decoys: tuple[int, ...] = (8, 32, 128)
    """Numbers of decoys that are tried."""
    mutants: int = 60
    """Most description mutants that are tried."""
    steering_tools: int = 12
    """Maximum number of tools that are copied for the study steering."""
    versus: tuple[str, ...] = ()
    """Variants to compare with the server's own list, as for ``harness evals --variant``."""
    against: str | None = None
    """Another server to compare with the suite's own, as for ``--server``; ``None`` for none."""
    writer: str | None = None
    """Name of the model that writes proposals; ``None`` for the mechanical proposer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherServer:
    """The server that `StudyOptions.against` names, as far as it was listed."""

    name: str
    """Its name, never that of the suite's own server."""
    tools: tuple[Tool, ...]
    """Every tool of that server that is listed for an identity of the suite, once."""
    not_asked: Mapping[str, str] = field(default_factory=dict)
    """Case that cannot be asked of it → why, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Everything that a study may look at before anything is run."""

    suite: Suite
    """The suite, with the cases that were selected."""
    tools: tuple[Tool, ...]
    """Every tool that is listed for an identity of the suite, once, with the server's texts."""
    model: str
    """Name of the model under test, without any variant."""
    baseline: bool = False
    """Whether that model is no LLM: its numbers are the baseline's."""
    options: StudyOptions = field(default_factory=StudyOptions)
    """What the user set."""
    versus: tuple[Variant, ...] = ()
    """The variants that `StudyOptions.versus` names."""
    other: OtherServer | None = None
    """The other server, once it was listed; ``None`` too if none is named."""
    writer: ModelSpec | None = None
    """The model that `StudyOptions.writer` names."""
    folder: Path | None = None
    """Folder of the first run, for what must be written down once; ``None`` in a dry run."""

    def tool(self, name: str) -> Tool | None:
        """Return the tool of that name."""
        return next((tool for tool in self.tools if tool.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing worth telling, in one line."""

    text: str
    """The sentence."""
    weight: float
    """Its importance, in points of pass rate or similar: larger ones are listed first."""
    certain: bool = True
    """Whether the data shows it, or only suggests it."""
    tool: str | None = None
    """The tool that it is about, if about one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyResult:
    """The answer of one study for one model."""

    study: str
    """Name of the study."""
    headline: str
    """The answer in a sentence."""
    lines: tuple[str, ...] = ()
    """The details for a terminal, one line each."""
    findings: tuple[Finding, ...] = ()
    """What is worth telling."""
    facts: JsonObject = field(default_factory=dict)
    """Everything, for programs and pages (JSON)."""
    notes: tuple[str, ...] = ()
    """What was left out and why, and what makes the numbers weaker than they look."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Name → text of files that users may want to have, such as variants; written into the folder
    of the first run."""


_NextArms: TypeAlias = Callable[[Bench, Measured], Sequence[Arm]]


def _nothing(_bench: Bench, _measured: Measured) -> Sequence[Arm]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """One study of the workbench."""

    name: str
    """As in ``--studies``."""
    place: int
    """Its place in plans and reports."""
    question: str
    """What it answers."""
    arms: Callable[[Bench], Sequence[Arm]]
    """Returns the arms that are known beforehand; the clean arm is always run."""
    read: Callable[[Bench, Measured], StudyResult]
    """Returns the answer from what was measured, which may be a part of the plan."""
    next_arms: _NextArms = _nothing
    """Returns further arms that follow from what was measured; called until it returns nothing that
    has not been run, case by case."""
    needs_run: bool = True
    """Whether there is an answer only from runs; without any such study, no model is asked."""
    estimate: Callable[[Bench], int] | None = None
    """Returns the most trials that `next_arms` may take with one model and each case run once, for
    a dry run; ``None`` for none."""
    usage: Callable[[Bench], Usage] | None = None
    """Returns what it used besides trials, say for a model that writes; ``None`` for nothing."""
    usage_ahead: Callable[[Bench], Usage] | None = None
    """Returns what that will be, as far as it can be estimated, for a dry run; ``None`` for
    nothing."""


STUDIES: Registry[Study] = Registry(
    "harness.workbench",
    "study",
    members_in(Path(__file__).with_name("studies"), "harness.workbench.studies", "STUDY"),
)
"""All studies: one file each in `harness.workbench.studies`, and those of other packages."""


def chosen_studies(names: Sequence[str] = ()) -> tuple[Study, ...]:
    """Return the named studies, or all, in the order of reports.

    Raises:
        UsageError: there is no study of a name.
    """
    studies = [STUDIES.get(name) for name in names or STUDIES.names()]
    return tuple(sorted({study.name: study for study in studies}.values(), key=lambda s: s.place))
