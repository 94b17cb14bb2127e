"""Function names with dots: whether a model kept the dots or wrote ``_`` instead.

Most APIs refuse a dot in a name. Upstream has a table that tells for each model whether its runner
replaced dots with ``_``. Here it is detected from outputs that name a function of their own case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness.base import HarnessError
from harness.leaderboards.bfcl.catalog import CATEGORIES
from harness.leaderboards.bfcl.data import BfclEntry
from harness.leaderboards.bfcl.decoding.forms import OutputForm
from harness.leaderboards.bfcl.decoding.parsing import MisshapenOutput, NotCalls
from harness.types import JsonObject


def map_undotted_names(entry: BfclEntry) -> dict[str, str]:
    """Return, for a case's functions: name with ``_`` for dots → name in the case.

    A name with dots where it should have none is not a function: it is marked so that it equals no
    name.
    """
    dotted = [function["name"] for function in entry.functions if "." in function["name"]]
    return {name.replace(".", "_"): name for name in dotted} | {
        name: f"{name} (with a dot)" for name in dotted
    }


def keeps_dots(
    form: OutputForm, rows: Mapping[str, JsonObject], entry_of: Callable[[str], BfclEntry]
) -> bool:
    """Whether names in the outputs of a recording keep their dots.

    The majority counts of the names that match, in either spelling, a dotted function of their
    case. Without such names, the default of the form counts.
    """
    if form.dotted is not None:
        return form.dotted
    with_dots = without = 0
    for case, row in rows.items():
        names = _list_called_names(form, case, row)
        if not names:
            continue
        try:
            functions = {function["name"] for function in entry_of(case).functions}
        except HarnessError:
            continue  # a case without fetched data is not judged either
        described = {name for name in functions if "." in name}
        # A changed name that is also another function's shows nothing.
        changed = {name.replace(".", "_") for name in described} - functions
        with_dots += sum(name in described for name in names)
        without += sum(name in changed for name in names)
    return form.dotted_by_default if with_dots == without else with_dots > without


def _list_called_names(form: OutputForm, case: str, row: JsonObject) -> list[str]:
    category = CATEGORIES[case.rpartition("_")[0]]
    if category.judging in ("multi_turn", "answer"):
        return []  # their functions have no dots
    try:
        return [name for name, _ in form.compared(row["result"], category.language)]
    except (NotCalls, MisshapenOutput):
        return []
