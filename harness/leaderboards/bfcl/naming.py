"""Function names with dots: whether a model could write them as they are, or with ``_`` for a dot.

Most APIs refuse a dot in a name. Upstream's table of models says of each whether its runner put
``_`` in place of dots; here the outputs say it, where they name a function of the very case that
they answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness.errors import HarnessError
from harness.leaderboards.bfcl.catalog import CATEGORIES
from harness.leaderboards.bfcl.data import Entry
from harness.leaderboards.bfcl.decoding.forms import Form
from harness.leaderboards.bfcl.decoding.reading import Misshapen, NotCalls
from harness.types import JsonObject


def undotted(entry: Entry) -> dict[str, str]:
    """Return, for a case's functions: name with ``_`` for dots → name in the case.

    A name with dots, where it should have none, is no function's: it is marked, so that it equals
    none.
    """
    dotted = [one["name"] for one in entry.functions if "." in one["name"]]
    return {name.replace(".", "_"): name for name in dotted} | {
        name: f"{name} (with a dot)" for name in dotted
    }


def keeps_dots(
    form: Form, rows: Mapping[str, JsonObject], entry_of: Callable[[str], Entry]
) -> bool:
    """Whether names in the outputs of a recording keep their dots.

    What most names say counts that equal a function with dots of their case, written in one way or
    the other; where there is no such name, what is usual for the form.
    """
    if form.dotted is not None:
        return form.dotted
    with_dots = without = 0
    for case, row in rows.items():
        names = _called(form, case, row)
        if not names:
            continue
        try:
            functions = {one["name"] for one in entry_of(case).functions}
        except HarnessError:
            continue  # a case whose data was not fetched is not judged either
        described = {name for name in functions if "." in name}
        changed = {name.replace(".", "_") for name in described} - functions
        with_dots += sum(name in described for name in names)
        without += sum(name in changed for name in names)
    return form.dotted_by_default if with_dots == without else with_dots > without


def _called(form: Form, case: str, row: JsonObject) -> list[str]:
    category = CATEGORIES[case.rpartition("_")[0]]
    if category.judging in ("multi_turn", "answer"):
        return []  # their functions have no dots
    try:
        return [name for name, _ in form.compared(row["result"], category.language)]
    except (NotCalls, Misshapen):
        return []
