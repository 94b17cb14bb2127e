"""Calls that are made often, and the records of the identities themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.probing.desk import GET, RECORDS, Desk, found, probed


class Often(Desk):
    """Opens a record for each eleventh call, or by chance and for everybody alike."""

    tools = (GET,)

    def __init__(self, *, by_chance: bool) -> None:
        self.by_chance = by_chance
        self.calls: Counter[str | None] = Counter()

    def called(self, role: str | None, arguments: dict[str, Any]) -> dict[str, Any]:
        self.calls[role] += 1
        is_open = self.calls[role] % 11 == 0
        if self.by_chance and role == "admin" and self.calls[role] > 9:
            role = "admin" if is_open else "clerk"
        return super().called("admin" if is_open and role == "clerk" else role, arguments)


@pytest.mark.slow
def test_a_call_that_opens_after_some_calls_is_found(tmp_path: Path) -> None:
    report = probed(tmp_path, Often(by_chance=False))
    assert "when it is made 12 times" in found(report, "opened_by_arguments")


@pytest.mark.slow
def test_a_field_that_comes_and_goes_for_everybody_is_no_finding(tmp_path: Path) -> None:
    report = probed(tmp_path, Often(by_chance=True))
    assert "when it is made 12 times" not in found(report, "opened_by_arguments")


class Leaking(Desk):
    """Its list leaves nothing out."""

    def shown(self, record: dict[str, Any], is_open: bool) -> dict[str, Any]:
        return super().shown(record, is_open or self.is_list)

    def called(self, role: str | None, arguments: dict[str, Any]) -> dict[str, Any]:
        self.is_list = "record_id" not in arguments
        return super().called(role, arguments)


@pytest.mark.slow
def test_what_a_call_gives_at_once_is_not_owed_to_its_repetition(tmp_path: Path) -> None:
    report = probed(tmp_path, Leaking())
    assert found(report, "leak")
    assert "12 times" not in found(report, "opened_by_arguments")


class Contact(Desk):
    """Tells everybody the address of the administrator, whose record no suite asks for."""

    tools = (GET,)

    def shown(self, record: Mapping[str, Any], is_open: bool) -> dict[str, Any]:
        told = super().shown(dict(record), is_open)
        return told if is_open else {**told, "help": RECORDS["R-3"]["email"]}


def test_the_record_of_an_identity_is_looked_for_though_no_call_is_about_it(
    tmp_path: Path,
) -> None:
    leaks = found(probed(tmp_path, Contact()), "leak")
    assert "email" in leaks
