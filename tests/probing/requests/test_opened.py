"""Resources, prompts and completions that give away what the tools withhold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.probing.report import ProbeReport
from tests.probing.desk import RECORDS, Desk, found, probed
from tests.probing.test_findings import CALLED

PROMPT = {"name": "letter", "arguments": [{"name": "record_id", "required": True}]}
TEMPLATE = {"name": "record", "uriTemplate": "desk://records/{record_id}"}


class Library(Desk):
    """A desk with resources, prompts and completions, of which one has no policy.

    ``fault`` has some of these words. ``template``: any record can be read by the address that the
    template says. ``upwards``: two dots in an address lead past the policy. ``link``: results link
    to a copy that is open.
    ``prompt``: a prompt quotes the record that it is about. ``completion``: completions of an id
    are email addresses.
    """

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.offers = {"tools": {}, "resources": {}, "prompts": {}, "completions": {}}

    def other(self, method: str, role: str | None) -> dict[str, Any]:
        params = CALLED.params
        if method == "resources/list":
            shown = [f"desk://records/{key}" for key in (RECORDS if role == "admin" else ("R-1",))]
            return {"resources": [{"name": uri, "uri": uri} for uri in shown]}
        if method == "resources/templates/list":
            return {"resourceTemplates": [TEMPLATE]}
        if method == "resources/read":
            return self.read(str(params["uri"]), role)
        if method == "prompts/list":
            return {"prompts": [PROMPT]}
        if method == "prompts/get":
            record = RECORDS.get(params.get("arguments", {}).get("record_id", ""), {})
            told = record if "prompt" in self.fault else {}
            text = f"Write to {told.get('email', 'them')}."
            return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}
        values = [one["email"] for one in RECORDS.values()] if "completion" in self.fault else []
        return {"completion": {"values": values}}

    def read(self, uri: str, role: str | None) -> dict[str, Any]:
        key = uri.rpartition("/")[2].removeprefix("copy-of-")
        record = RECORDS.get(key, {})
        is_open = (
            ("template" in self.fault and ".." not in uri and key != "R-1")
            or ("upwards" in self.fault and ".." in uri)
            or ("link" in self.fault and "copy-of" in uri)
        )
        shown = self.shown(record, is_open or role == "admin") if record and role else {}
        return {"contents": [{"uri": uri, "text": json.dumps(shown)}]}

    def shown(self, record: dict[str, Any], is_open: bool) -> dict[str, Any]:
        shown = super().shown(record, is_open)
        linked = {"stored": f"desk://stored/copy-of-{record['record_id']}"}
        return {**shown, **linked} if "link" in self.fault else shown


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ProbeReport:
    faulty = Library("template upwards link prompt completion")
    return probed(tmp_path_factory.mktemp("library"), faulty)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "by a template of addresses filled in",
        "by an address that leads out of its folder",
        "by an address that a result has",
        "by arguments of a prompt",
        "by a completion",
    ],
)
def test_what_is_open_beside_the_tools_is_found(report: ProbeReport, words: str) -> None:
    assert f"{words}, which no call gives them" in found(report, "opened_by_request")


@pytest.mark.slow
def test_a_server_that_holds_to_its_policy_everywhere_gives_nothing(tmp_path: Path) -> None:
    report = probed(tmp_path, Library(""))
    assert (report.findings, report.lost, report.exit_code) == ((), (), 0)
    assert min(report.forged[kind] for kind in ("request", "arguments", "identity")) > 1
