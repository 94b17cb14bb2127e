"""The digest of a probe's inputs: equal inputs, equal digests; whatever decides changes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.base.redaction import KNOWN
from harness.judging.checks import VOCABULARY
from harness.probing.callers import name_callers
from harness.probing.probe_plan import ProbePlan, digest_inputs
from harness.reports.build import build_report
from harness.reports.findings import build_audit
from harness.runlog import read_log
from harness.runlog.folders import log_path
from harness.suites.readers import read_suite
from harness.types import Alteration, DataSet, ServerSpec, ToolList, TransportSpec
from tests.evidence.made_logs import SUITES, Desk, harness, make_project, write_reports, write_suite
from tests.probing.loopback import on_loopback
from tests.reports.packs import all_of, blocks_of

LISTS = {"admin": ToolList(tools=(), digest="1" * 64)}


def a_plan(folder: Path, tests: str = SUITES["sound"], env: str = "one") -> ProbePlan:
    (folder / "evals").mkdir(exist_ok=True)
    write_suite(folder, "sound", tests)
    cases = read_suite(folder / "evals" / "sound.yml", VOCABULARY).cases
    transport = TransportSpec(command="desk", args=("--fast",), env={"API_TOKEN": env})
    return ProbePlan(
        server=ServerSpec(name="desk", transport=transport),
        callers=name_callers(cases),
        cases=cases,
    )


def other_data(seed: str) -> Alteration:
    return Alteration(field="phone", a=DataSet(), b=DataSet(env={"SEED": seed}))


def changed(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    return {part for part in before if before[part] != after.get(part)} - {"digest"}


def test_equal_inputs_have_equal_digests_whatever_their_layout_and_secrets(tmp_path: Path) -> None:
    first = digest_inputs(a_plan(tmp_path), LISTS)
    spaced = SUITES["sound"].replace("- name: list", "\n# of all\n- name:   list")
    assert digest_inputs(a_plan(tmp_path, spaced, env="another"), LISTS) == first
    assert len(str(first["digest"])) == 64


def test_each_input_changes_its_own_digest_and_that_of_all(tmp_path: Path) -> None:
    plan = a_plan(tmp_path)
    first = dict(digest_inputs(plan, LISTS))
    wider = SUITES["sound"].replace("{admin: allowed, clerk: {", "{admin: denied, clerk: {")
    other_tool = ToolList(tools=(), digest="2" * 64)
    moved = replace(plan.server, transport=replace(plan.server.transport, args=("--slow",)))
    found = {
        "suites": digest_inputs(a_plan(tmp_path, wider), LISTS),
        "identities": digest_inputs(replace(plan, callers=plan.callers[1:]), LISTS),
        "server": digest_inputs(replace(plan, server=moved), LISTS),
        "tools": digest_inputs(plan, {"admin": other_tool}),
        "options": digest_inputs(replace(plan, damaged=False), LISTS),
        "altered": digest_inputs(replace(plan, alterations=(other_data("2"),)), LISTS),
    }
    assert {part: changed(dict(told), first) for part, told in found.items()} == {
        part: {part} for part in found
    }
    data = digest_inputs(replace(plan, alterations=(other_data("3"),)), LISTS)
    assert changed(dict(data), dict(found["altered"])) == {"altered"}
    kept = digest_inputs(plan, LISTS, {"read()": {"admin": "allowed"}})
    assert changed(dict(kept), first) == {"expected"}
    assert len({told["digest"] for told in (first, kept, *found.values())}) == len(found) + 2


def test_a_secret_attribute_is_in_no_digest(tmp_path: Path) -> None:
    plan = a_plan(tmp_path)
    digests = set()
    for secret in ("hunter2-hunter2", "swordfish-swordfish"):
        KNOWN.forget()
        KNOWN.add_secret(secret)
        caller = replace(plan.callers[0], user_context={"role": "admin", "key": secret})
        digests.add(digest_inputs(replace(plan, callers=(caller,)), LISTS)["digest"])
    assert len(digests) == 1


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with on_loopback(Desk) as url:
        make_project(tmp_path, url)
        monkeypatch.chdir(tmp_path)
        yield tmp_path


@pytest.mark.slow
def test_every_view_of_a_probe_has_the_digest_and_the_page_what_was_tried(project: Path) -> None:
    document = json.loads(harness("probe", "leaky", "--json-output")[1])
    digest = document["inputs"]["digest"]
    log = read_log(log_path(document["run_id"]))
    write_reports(document["run_id"])
    folder = log.path.parent
    for name in ("report.html", "report.md", "junit.xml", "report.json"):
        assert digest in all_of((folder / name).read_text("utf-8")), name
    page = blocks_of((folder / "report.html").read_text("utf-8"))["overview"]["audit"]
    shown = build_audit(build_report(log), log)
    assert shown is not None
    assert [one["command"] for one in page["findings"]] == [
        f"harness call list_records --suite leaky --as {name}" for name in ("clerk", "anonymous")
    ]
    assert [words for words in shown["told"] if words.startswith("never asked: lose_line")]
    damaged = f"{document['damaged_identities']} damaged identities tried as well"
    assert [words for words in shown["told"] if words.startswith(damaged)]
    again = json.loads(harness("probe", "leaky", "--json-output")[1])
    assert again["inputs"] == document["inputs"]


def test_a_run_of_a_model_has_no_such_part(project: Path) -> None:
    harness("evals", "good")
    (run,) = [path.parent.name for path in Path(".harness/runs").glob("*/log.jsonl")]
    log = read_log(log_path(run))
    assert build_audit(build_report(log), log) is None
