"""``harness workbench --make-wordings FILE``: other wordings by a model, into a file to review."""

from __future__ import annotations

from pathlib import Path

import anyio
import click

from harness.base import GATE, NothingToRun, UsageError, format_money, format_number, make_printable
from harness.descriptions import (
    GeneratedWordings,
    WorkbenchContext,
    dump_yaml,
    format_comment,
    only_suite,
    write_wordings,
)
from harness.reports import write_atomically
from harness.runner import RunBudget, RunPlan, open_models
from harness.types import Case, ModelSpec


def make_wordings(
    ground: WorkbenchContext, writer: str | None, plan: RunPlan, budget: RunBudget, path: Path
) -> None:
    """Write other wordings of the tests of ``plan`` to ``path``, which must not exist yet.

    Raises:
        UsageError: no model is named, or the file exists.
        NothingToRun: no wording is left.
    """
    if writer is None:
        raise UsageError(
            "--make-wordings needs a model that writes", meant="Name it: --writer MODEL."
        )
    if path.exists():
        raise UsageError(
            f"{path} exists already: it may have been reviewed", meant="Name another file."
        )
    # After all that needs no key: whoever names a wrong file should not have to set one first.
    suite, spec = only_suite(plan), ground.resolve_model(writer)
    GATE.require_plan((), (spec,))
    found = anyio.run(_write_wordings, spec, suite.cases, budget)
    for note in found.notes:
        click.echo(make_printable(note), err=True)
    variants = found.build_variants()
    if not variants:
        raise NothingToRun(f"{writer} wrote no wording that can be used")
    told = (
        f"Other wordings of the tests of {suite.name}, written by {writer}. Review them: each must "
        "ask for the same as its test. Then: "
        f"harness workbench {suite.name} --variant {path} --studies paraphrase"
    )
    text = format_comment(told) + dump_yaml(
        {"variants": {variant.name: {"prompts": dict(variant.prompts)} for variant in variants}}
    )
    write_atomically(path, lambda stream: print(text, end="", file=stream))
    count = sum(map(len, found.said.values()))
    click.echo(
        f"{count} wordings of {len(found.said)} tests are in {path} "
        f"({format_number(found.usage.tokens)} tokens, {format_money(found.usage.cost_usd)}). "
        f"Review them."
    )


async def _write_wordings(
    spec: ModelSpec, cases: tuple[Case, ...], budget: RunBudget
) -> GeneratedWordings:
    async with open_models((spec,)) as models:
        return await write_wordings(models[spec.name], cases, budget)
