"""Who saw what, from a log: what no trial can know by itself."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.judging.access import leak_check, leak_lines
from harness.judging.exit_codes import exit_code
from harness.reports.build import build_report
from harness.reports.formats.html_report.overview import build_overview
from harness.reports.formats.json_report import write_json
from harness.reports.formats.markdown_report import write_markdown
from harness.reports.sections.matrices import access_warnings, matrix_lines
from harness.runlog import Footer, Header, LogWriter, RunLog, ToolsLine, TrialLine, read_log
from harness.types import (
    CaseFacts,
    CheckResult,
    CheckTrait,
    Leak,
    LeakRule,
    Status,
    Tool,
    ToolCall,
    ToolList,
    Transcript,
    TrialResult,
    Verdict,
)
from tests.support import entrants_of

SECRET = {"id": "C_0042", "mail": "omar@example.com"}
TOOLS = ToolList(tools=(Tool(name="get", input_schema={}),), digest="tools")
USERS: dict[str, Any] = {"admin": {"role": "admin"}, "clerk": {"role": "clerk"}, "anonymous": None}


def answered(result: Any, text: str | None = None) -> Transcript:
    call = ToolCall(
        tool="get",
        arguments={"id": "C_0042"},
        outcome="ok",
        reply=1,
        text=json.dumps(result) if text is None else text,
        structured=result,
    )
    return Transcript(tool_calls=(call,), tools=("get",), tools_digest="tools", answer="Done.")


FULL = answered(SECRET)
FILTERED = answered({"id": "C_0042"})
LEAKING = answered(SECRET, text='{"id": "C_0042"}')


def a_run(
    identity: str,
    status: Status = "passed",
    test: str = "mail",
    leaks: LeakRule = "fail",
    **more: Any,
) -> TrialResult:
    run = TrialResult(
        key=f"{test} {identity}",
        suite="shop",
        case=CaseFacts(
            name=f"{test} [{identity}]",
            group=test,
            identity=identity,
            user_context=USERS.get(identity, {"role": identity}),
        ),
        model="m",
        trial=1,
        status=status,
        stop="answer",
    )
    return of_case(replace(run, **more), leaks=leaks)


def of_case(run: TrialResult, **facts: Any) -> TrialResult:
    """Return ``run`` with other facts of its case."""
    return replace(run, case=replace(run.case, **facts))


def a_log(path: Path, *trials: tuple[TrialResult, Transcript], **facts: Any) -> RunLog:
    with LogWriter(path / "log.jsonl") as log:
        cases = {run.case.name: "" for run, _ in trials}
        log.append(
            Header(
                run_id="r",
                started_at="2026-01-01T00:00:00Z",
                harness_version="0",
                planned=len(trials),
                suites={"shop": {"cases": cases, **facts}},
                models={"m": {"provider": "openai", "model_id": "m"}},
                entrants=entrants_of(("m",)),
            )
        )
        log.append(ToolsLine(server="s", tools=TOOLS))
        for run, transcript in trials:
            log.append(TrialLine(run=run, transcript=transcript))
        log.append(Footer(finished_at="2026-01-01T00:00:01Z", elapsed_s=1.0))
    return read_log(path / "log.jsonl")


def decision(*words: str, found: str = "allowed", **expected: Any) -> CheckResult:
    return CheckResult(
        kind="decision",
        label="decision",
        verdict="passed",
        expected={"is": list(words), "tool": "get", **expected},
        actual={"is": found},
        traits=("decides_access",),
    )


# ── Verdicts ─────────────────────────────────────────────────────────────────────────────────


def test_a_leak_fails_its_case_and_comes_before_all_other_failures(tmp_path: Path) -> None:
    other = CheckResult(kind="must_call", label="must_call x", verdict="failed", explanation="no x")
    log = a_log(
        tmp_path, (a_run("admin"), FULL), (a_run("clerk", "failed", checks=(other,)), LEAKING)
    )
    report = build_report(log)
    assert [case.status for case in report.cases] == ["passed", "failed"]
    assert [check.kind for check in report.results[1].checks] == ["no_leak", "must_call"]
    assert report.results[1].checks[0].explanation.splitlines() == [
        "Leak: mail (oma…om), which admin may see, is left out of get for clerk",
        "It is in the structured result of call 1, get: mail",
        "The answer does not repeat it: the user did not see it, but the model has.",
        "Line crossed: what the server allowed.",
    ]


def test_a_trial_that_could_not_be_judged_stays_so_and_its_leak_is_told(tmp_path: Path) -> None:
    report = build_report(
        a_log(tmp_path, (a_run("admin"), FULL), (a_run("clerk", "error"), LEAKING))
    )
    assert report.results[1].status == "error"
    assert [leak.identity for leak in report.access.leaks] == ["clerk"]
    assert report.cases[1].status == "failed"


@pytest.mark.parametrize(
    ("found", "verdict", "traits", "leaks"),
    [
        ("allowed", "failed", ("decides_access",), 0),
        ("allowed", "passed", ("decides_access",), 1),
        ("filtered", "failed", ("decides_access",), 1),
        ("allowed", "failed", ("expects_calls",), 1),
    ],
)
def test_what_the_suite_says_that_an_identity_must_not_see_makes_nothing_a_secret(
    found: str, verdict: Verdict, traits: tuple[CheckTrait, ...], leaks: int, tmp_path: Path
) -> None:
    check = replace(decision("denied", found=found), verdict=verdict, traits=traits)
    admin = a_run("admin", "failed", checks=(check,))
    report = build_report(a_log(tmp_path, (admin, FULL), (a_run("clerk"), LEAKING)))
    assert len(report.access.leaks) == leaks


@pytest.mark.parametrize("brought", ["setup", "arguments", "identity"])
def test_what_an_identity_brought_itself_is_no_leak_in_any_script(
    brought: str, tmp_path: Path
) -> None:
    secret = {"id": "C_0042", "mail": "žofie.ňovák@example.com"}
    call = ToolCall(
        tool="get",
        arguments={"id": "C_0042", **({"mail": secret["mail"]} if brought == "arguments" else {})},
        outcome="ok",
        reply=1,
        text='{"id": "C_0042"}',
        structured=secret,
    )
    full = replace(call, text=json.dumps(secret))
    clerk = a_run("clerk")
    if brought == "identity":
        clerk = of_case(clerk, user_context={"mail": secret["mail"]})
    asked = replace(call, tool="add", arguments={"mail": secret["mail"]}, structured=None)
    setup = (asked,) if brought == "setup" else ()
    base = Transcript(tools=("get",), tools_digest="tools", answer="Done.")
    log = a_log(
        tmp_path,
        (a_run("admin"), replace(base, tool_calls=(full,))),
        (clerk, replace(base, tool_calls=(call,), setup_calls=setup)),
    )
    assert build_report(log).access.leaks == ()


def test_an_identity_alone_is_held_against_nobody(tmp_path: Path) -> None:
    report = build_report(a_log(tmp_path, (a_run("clerk"), LEAKING)))
    assert report.results[0].checks == ()


def test_values_that_other_tests_of_the_suite_show_count_too(tmp_path: Path) -> None:
    trials = [
        (a_run("admin"), FULL),
        (a_run("clerk"), FILTERED),
        (a_run("clerk", test="again"), FULL),
    ]
    report = build_report(a_log(tmp_path, *trials))
    assert [case.case for case in report.cases if case.status == "failed"] == ["again [clerk]"]


def test_allowed_is_not_filtered_and_filtered_is_not_allowed(tmp_path: Path) -> None:
    def verdicts(clerk: CheckResult, transcript: Transcript, folder: str) -> list[str]:
        log = a_log(
            tmp_path / folder, (a_run("admin"), FULL), (a_run("clerk", checks=(clerk,)), transcript)
        )
        return [
            check.verdict
            for check in build_report(log).results[1].checks
            if check.kind == "decision"
        ]

    assert verdicts(decision("allowed"), FULL, "1") == ["passed"]
    assert verdicts(decision("allowed"), FILTERED, "2") == ["failed"]
    assert verdicts(decision("filtered"), FILTERED, "3") == ["passed"]
    assert verdicts(decision("filtered"), FULL, "4") == ["failed"]
    assert verdicts(decision("allowed", "filtered"), FILTERED, "5") == ["passed"]
    assert verdicts(decision("filtered", without=["mail"]), FULL, "6") == [
        "passed"
    ]  # it was judged by that


def test_filtered_without_anything_to_compare_with_is_not_taken_on_trust(tmp_path: Path) -> None:
    log = a_log(tmp_path, (a_run("clerk", checks=(decision("filtered"),)), FILTERED))
    (check,) = build_report(log).results[0].checks
    assert check.verdict == "failed"
    assert check.explanation.startswith("No evidence that the decision is filtered")


def test_a_cell_of_the_matrix_has_every_different_decision_of_its_trials_once(
    tmp_path: Path,
) -> None:
    trials = [
        (replace(a_run("clerk", key=f"clerk {place}"), trial=place), told)
        for place, told in enumerate((FULL, FILTERED, FILTERED), start=1)
    ]
    (row,) = build_report(a_log(tmp_path, (a_run("admin"), FULL), *trials)).access.rows
    admin, clerk = row.cells
    assert [one.access for one in admin.decisions] == ["allowed"]
    assert sorted(one.access for one in clerk.decisions) == ["allowed", "filtered"]
    assert (admin.access, clerk.access) == ("allowed", "mixed")


def test_a_cell_of_the_matrix_says_what_was_decided_of_the_calls_that_the_test_is_about(
    tmp_path: Path,
) -> None:
    of_another = replace(decision("hidden", found="hidden"), traits=())
    asked = a_run("clerk", checks=(decision("denied", found="denied"),))
    not_asked = a_run("guest", checks=(of_another,))
    (row,) = build_report(
        a_log(tmp_path, (a_run("admin"), FULL), (asked, FULL), (not_asked, FULL))
    ).access.rows
    assert [cell.access for cell in row.cells] == ["allowed", "denied", "allowed"]


def test_what_nobody_in_particular_is_given_is_no_leak_where_the_suite_allows_it(
    tmp_path: Path,
) -> None:
    refused = replace(
        FULL,
        tool_calls=(
            replace(
                FULL.tool_calls[0], outcome="denied", refusal="tool_error", structured=None, text=""
            ),
        ),
    )

    def leaking(folder: str, *checks: CheckResult) -> list[str]:
        trials = [(a_run("clerk"), refused), (a_run("anonymous", checks=checks), FULL)]
        return [
            leak.identity for leak in build_report(a_log(tmp_path / folder, *trials)).access.leaks
        ]

    assert leaking("plain") == ["anonymous"]
    assert leaking("denied", decision("denied")) == ["anonymous"]
    assert leaking("other", replace(decision("allowed"), traits=())) == ["anonymous"]
    assert leaking("allowed", decision("allowed")) == []


# ── Identity not observed ────────────────────────────────────────────────────────────────────


def test_any_suite_with_several_users_is_looked_at(tmp_path: Path) -> None:
    plain = [of_case(a_run(name), group=None, identity=None) for name in ("admin", "clerk")]
    report = build_report(a_log(tmp_path, *((run, FULL) for run in plain)))
    (words,) = access_warnings(report.access)
    assert words.startswith(
        'Identity not observed in shop: 2 identities ({"role":"admin"}, {"role":"clerk"}) were'
    )
    assert exit_code(report) == 0
    assert all(run.checks == () for run in report.results)


def test_a_suite_that_requires_it_fails(tmp_path: Path) -> None:
    report = build_report(
        a_log(tmp_path, (a_run("admin"), FULL), (a_run("clerk"), FULL), require_identity=True)
    )
    assert {case.status for case in report.cases} == {"failed"}
    observed = build_report(
        a_log(
            tmp_path / "o",
            (a_run("admin"), FULL),
            (a_run("clerk"), FILTERED),
            require_identity=True,
        )
    )
    assert {case.status for case in observed.cases} == {"passed"}


def test_no_conversation_is_read_where_only_one_user_asks(tmp_path: Path) -> None:
    plain = of_case(a_run("admin", outcomes={"ok": 1}, offered=2), group=None, identity=None)
    log = a_log(tmp_path, (plain, FULL), (of_case(replace(plain, key="2"), name="other"), FULL))
    log.path.unlink()  # whoever reads a conversation now will fail
    assert build_report(log).counts.passed == 2


# ── Reports ──────────────────────────────────────────────────────────────────────────────────


def leaking_log(folder: Path) -> RunLog:
    hostile = of_case(a_run("clerk"), name="<b>x</b> [clerk]\x1b[31m")
    return a_log(
        folder,
        (a_run("admin"), FULL),
        (hostile, LEAKING),
        (a_run("anonymous", test="later"), FILTERED),
    )


def test_the_matrix_fits_the_width_and_puts_further_identities_below(tmp_path: Path) -> None:
    names = [f"identity_{n}" for n in range(8)]
    report = build_report(a_log(tmp_path, *((a_run(name), FULL) for name in names)))
    lines = list(matrix_lines(report, 60))
    assert max(map(len, lines)) <= 60
    assert " ".join(line for line in lines if line.startswith("test")).split() == [
        word for start in (0, 4) for word in ("test", *names[start : start + 4])
    ]


def test_the_page_and_the_documents_hold_it_all_and_nothing_of_it_is_markup(tmp_path: Path) -> None:
    log = leaking_log(tmp_path)
    report = build_report(log)
    access = build_overview(report, log)["access"]
    assert [row["test"] for row in access["rows"]] == ["mail", "later"]
    assert access["rows"][0]["cells"][1] == {
        "words": "LEAKED ✗",
        "leaked": True,
        "status": "failed",
        "number": 2,
        "note": "kept back: mail",
    }
    assert access["rows"][0]["cells"][2] is None
    assert "\x1b" not in json.dumps(access, ensure_ascii=False)
    stream = io.StringIO()
    write_markdown(report, log, stream)
    assert "🚨 `<b>x</b> [clerk]" in stream.getvalue()
    assert "| `later` | · | · | filtered |" in stream.getvalue()
    stream = io.StringIO()
    write_json(report, log, stream)
    matrix = json.loads(stream.getvalue())["result"]["matrix"]
    assert matrix["identities"] == ["admin", "clerk", "anonymous"]
    assert matrix["rows"][0]["cells"]["clerk"]["tools"][0]["missing"] == ["mail"]
    assert "omar@example.com" not in json.dumps(matrix)


def test_a_run_without_identities_says_nothing_of_them(tmp_path: Path) -> None:
    plain = of_case(a_run("admin", outcomes={"ok": 1}, offered=2), group=None, identity=None)
    log = a_log(tmp_path, (plain, FULL))
    stream = io.StringIO()
    write_json(build_report(log), log, stream)
    assert "matrix" not in json.loads(stream.getvalue())["result"]
    assert build_overview(build_report(log), log)["access"] is None


def a_leak(field: str, **more: Any) -> Leak:
    facts: dict[str, Any] = {
        "tool": "get",
        "kept": "masked",
        "allowed_to": ("admin",),
        "place": "the text of call 1",
    }
    return Leak(
        suite="s", case="c", key="k", identity="clerk", field=field, shown="6…", **(facts | more)
    )


@pytest.mark.parametrize(("found", "more"), [(1, None), (5, None), (6, 1), (8, 3)])
def test_the_first_five_leaks_are_told_and_the_others_counted(found: int, more: int | None) -> None:
    names = [f"f{number}" for number in range(found)]
    check = leak_check([a_leak(name) for name in names], ["admin"], None)
    assert check.label == f"no_leak {', '.join(names[:5])}"
    assert [one["field"] for one in check.actual] == names[:5]
    lines = check.explanation.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("Leak: ")] == names[:5]
    assert lines[-1] == "Line crossed: what the server allowed."
    assert (lines[-2] == f"… and {more} more fields") is (more is not None)


def test_a_leak_in_the_answer_alone_is_what_the_user_saw() -> None:
    told = "the answer, although no call of this identity returned it"
    only = leak_check([a_leak("a", place=told)], ["admin"], None)
    assert only.explanation.endswith("Line crossed: what the user saw.")
    assert str(only.hint).startswith("No call of this identity returned it")
    both = leak_check([a_leak("a", place=told), a_leak("b")], ["admin"], None)
    assert both.explanation.endswith("Line crossed: what the server allowed.")
    assert str(both.hint).startswith("Apply one policy")


@pytest.mark.parametrize(
    ("more", "lines"),
    [
        ({"values": 1}, ["Leak: a (6…), which admin may see, is masked in get for clerk"]),
        (
            {"values": 2},
            ["Leak: a (6… and 1 more), which admin may see, is masked in get for clerk"],
        ),
        (
            {"values": 9, "kept": "refused"},
            ["Leak: a (6… and 8 more), which admin may see, is refused by get for clerk"],
        ),
        ({"in_answer": True}, ["The answer repeats it: the user saw it."]),
        ({}, ["The answer does not repeat it: the user did not see it, but the model has."]),
        (
            {"allowed_to": ()},
            ["Leak: get gives clerk (a caller without attributes) data that is masked"],
        ),
    ],
)
def test_a_leak_is_told_in_words(more: dict[str, Any], lines: list[str]) -> None:
    told = leak_lines(a_leak("a", **more))
    assert set(lines) <= set(told)
    assert "It is in the text of call 1" in told
