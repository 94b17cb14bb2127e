"""Another identity in headers or in the address of a request, beside the caller's own token."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from harness.probing.report import ProbeReport
from tests.probing.desk import Desk, found, probed
from tests.probing.test_findings import CALLED


def claims(token: str) -> dict[str, Any]:
    """Return what a token says; whether it is right is no matter here."""
    part = token.split(".")[1]
    told: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return told


def header(token: str) -> dict[str, Any]:
    part = token.partition(".")[0]
    told: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return told


class Door(Desk):
    """Reads the caller from the token, and from elsewhere, as `faults` say."""

    def __init__(self, *faults: str) -> None:
        self.faults = faults
        self.seen: list[str] = []

    def identify(self, user: Mapping[str, Any] | None, token: str | None) -> Mapping[str, Any]:
        self.seen.append(f"{CALLED.path} {CALLED.headers.get('x-role')}")
        query = parse_qs(urlsplit(CALLED.path).query)
        bearer = (token or "").removeprefix("Bearer ")
        if "address" in self.faults and query.get("access_token"):
            bearer = query["access_token"][0]
        if not bearer.count("."):
            return {}
        who = claims(bearer)
        if "header" in self.faults and "x-forwarded-role" in CALLED.headers:
            who["role"] = CALLED.headers["x-forwarded-role"]
        if "query" in self.faults and "role" in query:
            who["role"] = query["role"][0]
        if "token" in self.faults and "role" in header(bearer):
            who["role"] = header(bearer)["role"]
        return who


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ProbeReport:
    door = Door("header", "query", "address")
    return probed(tmp_path_factory.mktemp("door"), door, bearer=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "with admin in headers that a proxy sets",
        "with admin in the address",
        "with the token of admin in the address",
    ],
)
def test_an_identity_beside_the_claims_of_a_token_is_found(report: ProbeReport, words: str) -> None:
    assert words in found(report, "smuggled_identity")


@pytest.mark.slow
def test_a_role_in_the_header_of_a_token_fails_open(tmp_path: Path) -> None:
    report = probed(tmp_path, Door("token"), bearer=True, damaged=40)
    assert any(
        "role is in the header of the token, too" in one.words
        for one in report.findings
        if one.problem == "fails_open"
    )


@pytest.mark.slow
def test_a_door_that_reads_the_claims_alone_gives_nothing_for_these(tmp_path: Path) -> None:
    door = Door()
    report = probed(tmp_path, door, bearer=True)
    assert found(report, "smuggled_identity") == ""
    assert any("access_token=" in one for one in door.seen)
    # What is added to forged calls reaches no other.
    assert door.seen.count("/mcp None") > len(door.seen) / 2
