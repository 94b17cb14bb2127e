"""What a workbench found, of all its models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.descriptions.workbench.study import (
    StudyResult,
)
from harness.types import Tool, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResults:
    """The answers of all studies for one model."""

    model: str
    """Name of the model."""
    baseline: bool
    """Whether it is the baseline, which is not an LLM."""
    studies: tuple[StudyResult, ...]
    """The answers, in the order of reports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchResult:
    """All findings of a workbench, read from its logs."""

    run_id: str
    """Folder of the first stage; empty if nothing was run."""
    suite: str
    """Name of the suite."""
    tools: tuple[Tool, ...]
    """The tools, with the server's words."""
    models: tuple[ModelResults, ...]
    """The results of each model."""
    logs: tuple[Path, ...]
    """The log of each stage."""
    reason: str
    """Why the last stage ended: ``complete``, ``interrupted``, ``budget`` …"""
    recorded: int
    """Recorded trials, in all stages."""
    not_judged: int
    """Number of these without a verdict."""
    spent: Usage
    """What the trials used."""
    notes: tuple[str, ...] = ()
    """Limits of the results as a whole."""
