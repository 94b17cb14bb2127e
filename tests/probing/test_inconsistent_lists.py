"""A record in somebody's list that does not exist when they ask for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.often import often
from tests.probing.test_findings import CALLED, READ, failed, known, probed, said

PATIENT = {
    "name": "get_patient",
    "annotations": {"readOnlyHint": True},
    "inputSchema": {
        "type": "object",
        "properties": {"patient_id": {"type": "string", "examples": ["P-2"]}},
        "required": ["patient_id"],
    },
}
FIRST = {"patient_id": "P-1", "name": "Ines", "ward": "north"}
HIDDEN = {"patient_id": "P-2", "name": "Tomas", "ward": "south"}
INVOICE = {"invoice_id": "I-7", "patient_id": "P-2", "amount": 12}
NOTE = (
    'read() shows bobby a record that get_patient(patient_id="P-2") does not find for them; '
    "alice gets it: one of the two forgets a rule"
)


def notes(
    folder: Path, own: Mapping[str, Any], *rows: Mapping[str, Any], text: bool = False
) -> Any:
    """Return the notes on a server that answers ``own`` where Bobby asks for the hidden patient.

    Bobby's list has ``rows``; Alice's has everybody.
    """

    def answer(method: str, user: Mapping[str, Any] | None, _token: object) -> dict[str, Any]:
        who = known(user)
        if method == "tools/list":
            return {"tools": [READ, PATIENT]}
        if who == "nobody":
            return failed("Access denied: sign in first")
        if CALLED.tool == "get_patient":
            return said("A patient.", **HIDDEN) if who == "alice" else dict(own)
        people = rows if who == "bobby" else (FIRST, HIDDEN)
        return said(json.dumps(people)) if text else said(f"{len(people)} people.", people=people)

    report = probed(folder, answer)
    assert (report.findings, report.exit_code) == ((), 0)
    return report.notes


@pytest.mark.parametrize("text", often([False, True]))
def test_a_list_that_shows_what_is_not_found_alone_is_noted(tmp_path: Path, *, text: bool) -> None:
    assert notes(tmp_path, failed("Patient not found"), FIRST, HIDDEN, text=text) == (NOTE,)


@pytest.mark.slow
@pytest.mark.parametrize(
    "rows",
    [
        (FIRST,),
        (INVOICE,),  # a reference to the record is not the record
        ({"patient_id": "P-2", "name": "another", "ward": "-"},),
    ],
)
def test_a_list_without_the_record_is_not_noted(tmp_path: Path, rows: tuple[Any, ...]) -> None:
    assert notes(tmp_path, failed("Patient not found"), *rows) == ()


@pytest.mark.slow
def test_a_record_that_is_found_is_not_noted(tmp_path: Path) -> None:
    assert notes(tmp_path, said("A patient.", **HIDDEN), FIRST, HIDDEN) == ()


def test_a_record_that_is_refused_is_not_noted_for_its_list_may_be_open(tmp_path: Path) -> None:
    assert notes(tmp_path, failed("Access denied: not your ward"), FIRST, HIDDEN) == ()


def public_caches(folder: Path, *, differs: bool, **hint: Any) -> list[str]:
    """Return the findings on a list that differs between identities, with a hint on caching."""

    def answer(method: str, user: Mapping[str, Any] | None, _token: object) -> dict[str, Any]:
        who = known(user)
        if method == "tools/list":
            more = {"name": "more", "inputSchema": {"type": "object"}}
            return {"tools": [READ, more] if who == "alice" and differs else [READ], **hint}
        return failed("Access denied") if CALLED.tool == "more" and who != "alice" else said(who)

    report = probed(folder, answer)
    return [one.words for one in report.findings if one.problem == "public_cache"]


@pytest.mark.parametrize(
    ("hint", "differs", "is_found"),
    [
        ({"cacheScope": "public", "ttlMs": 60_000}, True, True),
        ({"cacheScope": "public", "ttlMs": 60_000}, False, False),
        ({"cacheScope": "private", "ttlMs": 60_000}, True, False),
        ({"cacheScope": "public", "ttlMs": 0}, True, False),  # it is never given without asking
    ],
)
def test_a_list_that_any_cache_may_keep_and_that_differs_by_identity_is_found(
    tmp_path: Path, hint: dict[str, Any], *, differs: bool, is_found: bool
) -> None:
    words = (
        "the list of tools is declared public (cacheScope), and bobby gets another than alice: "
        "a shared cache mixes them up"
    )
    assert public_caches(tmp_path, differs=differs, **hint) == ([words] if is_found else [])
