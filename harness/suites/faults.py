"""``faults:`` of a suite, of a test or of a file, and faults as a command line has them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from harness.base import (
    SHARE,
    TEXT,
    DocumentReader,
    InvalidValue,
    Layout,
    Steps,
    UsageError,
    any_of,
    array_of,
    build_field,
    canonical_json,
    choice_field,
    decimal_field,
    describe_value,
    did_you_mean,
    integer_field,
    line_field,
    mapping_of,
    parse_entries,
    parse_items,
    parse_mapping,
    parse_share,
    read_document,
    refer_to,
    require_text,
    text_field,
)
from harness.judging import expected_tools, wanted_calls, wanted_first
from harness.types import FAILING, Case, FaultKind, FaultRule, FaultSet, JsonObject, Suite

FAULT_KINDS: tuple[FaultKind, ...] = get_args(FaultKind)
STANDARD: Literal["standard"] = "standard"
"""What asks for every kind of fault, each where it can fire."""
_NO_FAULT = "none"
_PATIENT: frozenset[FaultKind] = frozenset({"rate_limit", "slow"})
"""Kinds that take ``seconds``."""
_REPEATING: frozenset[FaultKind] = frozenset({"stale"})
"""Kinds that need an answer before the one that they alter."""
_RULE = re.compile(
    r"(?P<on>[^#@:\s]+)(?:#(?P<nth>\d+))?(?:@(?P<rate>[\d.]+)(?:/(?P<seed>\d+))?)?"
    r"\s*:\s*(?P<do>\w+)(?:\s+(?P<rest>\S.*))?",
    re.DOTALL,
)
_AS_WRITTEN = "Write TOOL#NTH: KIND or TOOL@RATE: KIND, for example 'search_orders#1: timeout'."


def _parse_item(value: Any) -> Any:
    if isinstance(value, str | dict):
        return value
    meant = "Begin each with '- do: KIND', or write it in quotes: 'search_orders#1: timeout'."
    raise InvalidValue(f"expected a mapping, found {describe_value(value)}", meant=meant)


FAULT_FIELDS = {
    "on": line_field("The tool whose calls it is about; '*' stands for any letters."),
    "nth": integer_field("Which of these calls it hits, from 1. Without it, each.", least=1),
    "rate": build_field(
        "The share of these calls that it hits, chosen by 'seed'.", SHARE, parse_share
    ),
    "seed": integer_field("Chooses which calls a 'rate' hits.", least=0, default=0),
    "do": choice_field("What the model sees in place of the answer.", FAULT_KINDS),
    "text": text_field("The words of the error."),
    "seconds": decimal_field(
        "How late a slow answer comes, or when a rate_limit asks to try again.", unit="seconds"
    ),
}
_FAULT_ELSEWHERE = {
    "tool": "Did you mean 'on'?",
    "kind": "Did you mean 'do'?",
    "fault": "Did you mean 'do'?",
    "after": "Did you mean 'seconds'?",
    "message": "Did you mean 'text'?",
}
PART_LAYOUT = Layout(fields=FAULT_FIELDS, elsewhere=_FAULT_ELSEWHERE)
"""An item of ``together:``."""
FAULT_LAYOUT = Layout(
    fields={
        "name": line_field("What its trials are called; without it, the fault itself."),
        **FAULT_FIELDS,
        "together": build_field(
            "Several faults that happen in the same trial, in place of one.",
            array_of(any_of(TEXT, refer_to("fault_part")), minItems=1),
            partial(parse_items, _parse_item),
        ),
    },
    elsewhere=_FAULT_ELSEWHERE,
)
"""An item of ``faults:``."""
FAULTS = build_field(
    "What goes wrong between server and model: each case is run clean, and once under each.",
    array_of(any_of(TEXT, refer_to("fault"))),
    partial(parse_items, _parse_item),
)
"""``faults:`` of a suite or a test."""


def _parse_error_texts(value: Any) -> dict[str, str]:
    if not parse_mapping(value):
        meant = "Write 'PART OF THE TEXT: the new text'."
        raise InvalidValue("no error is named", meant=meant)
    return parse_entries(partial(require_text, "the text of an error"), value)


ERROR_TEXTS = build_field(
    "Other texts of its errors, each by a part of the server's own.",
    mapping_of(TEXT, minProperties=1),
    _parse_error_texts,
)
"""``errors:`` of a tool in a variant."""
FAULTS_LAYOUT = Layout(
    fields={"faults": FAULTS},
    elsewhere={"tests": "A file of faults has no tests; put 'faults:' into the suite."},
)


# ── Reading ──────────────────────────────────────────────────────────────────────────────────


def parse_fault(rule: str) -> FaultRule:
    """Return the fault that is written ``search_orders#1: timeout``.

    Raises:
        InvalidValue: it is not written so.
    """
    found = _RULE.fullmatch(rule.strip())
    if found is None:
        raise InvalidValue(f"{rule!r} is no fault", meant=_AS_WRITTEN)
    rate, rest = found["rate"], found["rest"]
    do = FAULT_FIELDS["do"].parse(found["do"])
    late = do in _PATIENT and rest is not None and re.fullmatch(r"\d+(\.\d+)?", rest)
    fault = FaultRule(
        do=do,
        on=found["on"],
        nth=None if found["nth"] is None else FAULT_FIELDS["nth"].parse(int(found["nth"])),
        rate=None if rate is None else parse_share(_parse_decimal(rate)),
        seed=int(found["seed"] or 0),
        text=None if late else rest,
        seconds=float(rest) if late else None,
    )
    if (flaw := _find_flaw(fault)) is not None:
        raise InvalidValue(flaw[1], meant=flaw[2])
    return fault


def _parse_decimal(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidValue(f"{text!r} is no share of the calls", meant="Write 0.2.") from None


def _find_flaw(fault: FaultRule) -> tuple[str, str, str] | None:
    """Return the key whose value does not fit the others, why, and what is meant."""
    if fault.text is not None and fault.do not in FAILING:
        kinds = ", ".join(kind for kind in FAULT_KINDS if kind in FAILING)
        return "text", f"a fault {fault.do!r} has no words of its own", f"It is for: {kinds}."
    if fault.seconds is not None and fault.do not in _PATIENT:
        return "seconds", f"a fault {fault.do!r} takes no seconds", "It is for: rate_limit, slow."
    if fault.nth is not None and fault.rate is not None:
        return "rate", "a fault has either 'nth' or 'rate'", "Keep one of them."
    return None


def read_faults(
    reading: DocumentReader, path: Steps, given: Sequence[Any], *, of_case: bool = False
) -> tuple[FaultSet, ...]:
    """Return the sets of faults that ``given`` at ``path`` describes.

    ``reading`` collects problems.
    """
    found: dict[str, FaultSet] = {}
    for index, part in enumerate(given):
        one = _read_set(reading, (*path, index), part, f"number {index + 1} of 'faults'", of_case)
        if one is None:
            continue
        if one.name in found:
            message = f"two faults of this list are called {one.name!r}."
            reading.add_problem((*path, index), message, "Give each another 'name:'.")
        found[one.name] = one
    return tuple(found.values())


def read_own_faults(
    reading: DocumentReader, path: Steps, values: JsonObject
) -> tuple[FaultSet, ...]:
    """Return the faults of the test at ``path``, whose keys have these ``values``."""
    return read_faults(reading, (*path, "faults"), values.get("faults", ()), of_case=True)


def _read_set(
    reading: DocumentReader,
    path: Steps,
    given: Any,
    noun: str,
    of_case: bool,  # noqa: FBT001 - as `FaultSet.of_case`
) -> FaultSet | None:
    at = reading.document.locate(path)
    scope: Literal["case", "suite"] = "case" if of_case else "suite"
    if isinstance(given, str):
        fault = _read_rule(reading, path, given)
        return (
            None
            if fault is None
            else FaultSet(name=_name_set([fault]), faults=(fault,), scope=scope, at=at)
        )
    values = reading.read_mapping(path, given, FAULT_LAYOUT, noun)
    parts = values.pop("together", None)
    name = values.pop("name", None)
    if parts is None:
        faults = [_read_fault(reading, path, given, values, noun)]
    else:
        for key in values:
            reading.add_key_problem((*path, key), f"{noun} has {key!r} beside 'together'.")
        faults = [
            _read_rule(reading, (*path, "together", place), part)
            if isinstance(part, str)
            else _read_fault(
                reading,
                at_part := (*path, "together", place),
                part,
                reading.read_mapping(at_part, part, PART_LAYOUT, f"a part of {noun}"),
                noun,
            )
            for place, part in enumerate(parts)
        ]
    whole = [fault for fault in faults if fault is not None]
    if not whole:
        return None
    return FaultSet(name=name or _name_set(whole), faults=tuple(whole), scope=scope, at=at)


def _read_fault(
    reading: DocumentReader, path: Steps, given: JsonObject, values: JsonObject, noun: str
) -> FaultRule | None:
    if "do" not in values:
        if given.get("do") is None:  # an invalid one has been reported
            known = ", ".join(FAULT_KINDS)
            reading.add_problem(
                path, f"{noun} does not say what goes wrong.", f"Add 'do:': {known}."
            )
        return None
    fault = FaultRule(**values)
    if (flaw := _find_flaw(fault)) is not None:
        key, message, meant = flaw
        reading.add_problem((*path, key), f"{noun}: {message}.", meant)
    return fault


def _read_rule(reading: DocumentReader, path: Steps, rule: str) -> FaultRule | None:
    try:
        return parse_fault(rule)
    except InvalidValue as error:
        reading.add_problem(path, f"{error}.", error.meant)
        return None


def _name_set(faults: Sequence[FaultRule]) -> str:
    """Return the name of faults that have none: themselves, without spaces."""
    return "+".join(fault.words.replace(": ", ":").replace(" ", "_") for fault in faults)


def read_faults_file(path: Path) -> tuple[FaultSet, ...]:
    """Return the sets of faults in a file that has only faults.

    Raises:
        InvalidInput: with every problem of the file, in the order of its lines.
    """
    document = read_document(path)
    reading = DocumentReader(document)
    content = document.value if isinstance(document.value, dict) else {}
    values = reading.read_mapping((), content, FAULTS_LAYOUT, "the file of faults")
    if not values.get("faults") and not reading.problems:
        reading.add_problem((), "there are no faults in the file.", "Add 'faults:' with some.")
    found = read_faults(reading, ("faults",), values.get("faults", ()))
    reading.finish()
    return found


# ── Choosing ─────────────────────────────────────────────────────────────────────────────────


def build_standard_faults() -> tuple[FaultSet, ...]:
    """Return one set for each kind of fault: it hits the first call that it can hit."""
    return tuple(
        FaultSet(
            name=kind,
            faults=(FaultRule(do=kind, nth=2 if kind in _REPEATING else 1),),
            scope=STANDARD,
        )
        for kind in FAULT_KINDS
    )


def choose_faults(
    suite: Suite, given: str | None, rules: Sequence[str]
) -> tuple[FaultSet | None, ...]:
    """Return the faults under which cases are run; ``None``, which is always there, is none.

    ``given`` is ``standard``, ``none`` or the path of a file, and each of ``rules`` a fault.
    Without both, they are those of the suite and of its cases.

    Raises:
        UsageError: there are no such faults, or two different ones of one name.
        InvalidInput: a file of faults contains mistakes.
    """
    named = [*_find_sets(given), *(_build_set(rule) for rule in rules if rule != _NO_FAULT)]
    if given is None and not rules:
        named = [*suite.faults, *(one for case in suite.cases for one in case.repeats.faults)]
    found: dict[str, FaultSet] = {}
    for one in named:
        known = found.setdefault(one.name, one)
        if known != one:
            raise UsageError(
                f"two different faults are called {one.name!r}",
                meant="Give each another 'name:'.",
            )
        if one.scope != "case":  # what the suite has holds for all
            found[one.name] = one
    return (None, *found.values())


def _find_sets(given: str | None) -> Sequence[FaultSet]:
    if given is None or given == _NO_FAULT:
        return ()
    if given == STANDARD:
        return build_standard_faults()
    if Path(given).suffix.lower() not in {".yml", ".yaml"}:
        words = (STANDARD, _NO_FAULT)
        meant = did_you_mean(given, words) or "Write standard, none, or the path of a YAML file."
        raise UsageError(f"there are no faults {given!r}", meant=meant)
    return read_faults_file(Path(given))


def _build_set(rule: str) -> FaultSet:
    try:
        fault = parse_fault(rule)
    except InvalidValue as error:
        raise UsageError(f"fault {rule!r}: {error}", meant=error.meant) from error
    return FaultSet(name=_name_set([fault]), faults=(fault,))


def suits_case(case: Case, faults: FaultSet) -> bool:
    """Whether ``case`` is run under ``faults``."""
    if faults.scope == "case":
        return faults in case.repeats.faults
    return faults.scope != STANDARD or all(_can_fire(case, fault) for fault in faults.faults)


def _can_fire(case: Case, fault: FaultRule) -> bool:
    """Whether the calls that ``case`` asks for suffice for a standard fault."""
    first = wanted_first(case)
    if first is not None and not first.tools and not expected_tools(case):
        return False  # it asks for no call at all
    several = len(case.turns) > 1 or case.user is not None
    # Several checks may be about one call: only other arguments make it another.
    wanted: dict[str, set[str]] = {}
    for tool, arguments in wanted_calls(case):
        wanted.setdefault(tool, set()).update([canonical_json(arguments)] if arguments else [])
    calls = sum(max(1, len(others)) for others in wanted.values())
    return several or not calls or calls >= (fault.nth or 1)
