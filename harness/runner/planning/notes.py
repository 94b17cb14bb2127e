"""What the user must know of a plan before it runs, and why there is nothing to run."""

from __future__ import annotations

from collections.abc import Sequence

from harness.models import list_unsent
from harness.runner.planning.plan import RunPlan
from harness.runner.planning.request import RunRequest
from harness.suites import OFFLINE, Config
from harness.types import Suite


def list_notes(
    request: RunRequest, suites: Sequence[Suite], config: Config, plan: RunPlan
) -> list[str]:
    """Return what the user must know of ``plan``, which was made from ``request``."""
    told = (note for model in plan.models for note in (*model.notes, *list_unsent(model)))
    notes = [*(note for suite in suites for note in suite.notes), *dict.fromkeys(told)]
    named = request.models or request.agents or config.default_model is not None
    # The baseline is no LLM, and its results must not be taken for one's.
    if not named and any(suite.model is None for suite in suites):
        notes.append(
            f"No model was named: the built-in baseline {OFFLINE!r} answers. It is not an LLM; "
            "name one with --model, for example --model claude-4-sonnet."
        )
    return notes


def explain_empty(request: RunRequest, found: Sequence[Suite]) -> str:
    """Return why ``request`` selects no case of the suites that were found."""
    if request.pattern is not None and found:
        names = ", ".join(case.name for suite in found for case in suite.cases)
        return f"no case matches -k {request.pattern!r}; the cases are: {names}"
    if request.cases is not None and found:
        return f"these cases no longer exist: {', '.join(request.cases)}"
    return "there is no suite to run: write one into evals/, for example evals/first.yml"
