"""The test that a suite lacks if a mutant survives, as YAML that is ready to paste."""

from __future__ import annotations

import re
from typing import Any

import yaml

from harness.base import HIDDEN
from harness.descriptions.workbench.mutants.mutant import Mutant
from harness.types import JsonObject

ANY = {"$any": True}
"""The matcher for any value."""


def missing_test(mutant: Mutant) -> str:
    """Return the YAML of a test that would notice ``mutant``; its author must write the prompt.

    Names and values come from the server; hidden characters in them are escaped.
    """
    test = [_build_test(mutant)]
    text = yaml.safe_dump(test, sort_keys=False, allow_unicode=True, width=100)
    if HIDDEN.search(text):
        return yaml.safe_dump(test, sort_keys=False, allow_unicode=False, width=100)
    return text


def _build_test(mutant: Mutant) -> JsonObject:
    call: dict[str, Any] = {"tool": mutant.tool}
    if mutant.parameter is not None:
        call["args"] = {mutant.parameter: mutant.value[0] if mutant.value else ANY}
    assertions: dict[str, Any] = {"must_call": [call]}
    if mutant.other is not None:
        assertions["must_not_call"] = [mutant.other]
    return {"name": _test_name(mutant), "prompt": _write_prompt(mutant), "assertions": assertions}


def _test_name(mutant: Mutant) -> str:
    parts = [mutant.tool, mutant.parameter or "", *map(str, mutant.value)]
    parts += [] if mutant.other is None else ["not", mutant.other]
    return re.sub(r"\W+", "_", "_".join(filter(None, parts))).strip("_").lower()


def _write_prompt(mutant: Mutant) -> str:
    """Return what the prompt of the missing test must ask for."""
    needs = f"only {mutant.tool} can answer"
    if mutant.other is not None:
        needs = f"{mutant.tool} answers and {mutant.other} does not"
    if mutant.value:
        needs += f", with {mutant.parameter} = {mutant.value[0]}"
    elif mutant.parameter is not None:
        needs += f", and that needs {mutant.parameter}"
    return f"TODO: ask, in a user's words, something that {needs}."
