"""Servers over HTTP that accept an expired token for some minutes, each with its own leeway."""

from __future__ import annotations

import base64
import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from harness.cli.probe_output import build_document, summarize_probe
from harness.probing.callers import UNSENT, name_callers
from harness.probing.prober import ProbePlan, run_probe
from harness.probing.report import LATELY_MIN, LONGEST_MIN, NOT_TRIED, SWAPS, ProbeReport
from harness.sessions.identity.tokens import EXPIRED_S, LATELY_S
from harness.suites.config.servers import join_servers
from harness.types import IdentitySpec, ServerSpec, TransportSpec
from tests.clock import PATIENT_S
from tests.often import often
from tests.probing.test_findings import (
    CASES,
    READ,
    Answer,
    failed,
    printed,
    probed,
    said,
    serving,
)
from tests.sessions.identity.test_flaws import Verifier

PUBLIC = {"branch": "Lisbon"}
SECRET = {**PUBLIC, "iban": "DE89370400440532013000"}
DENIED = failed("Access denied: sign in first.")


def claims_in(token: str) -> dict[str, Any]:
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(f"{token.split('.')[1]}=="))
    return claims


def age_of(token: str | None) -> float:
    """Return the seconds since the expiry of a token; without an expiry it is not old."""
    try:
        return time.time() - float(claims_in(token or "")["exp"])
    except (IndexError, KeyError, ValueError):
        return 0.0


def tolerating(seconds: float, refusal: dict[str, Any] | int = 401) -> Answer:
    """Return a server that looks at nothing but the expiry, and accepts it for ``seconds``."""

    def answer(method: str, _user: object, token: str | None) -> dict[str, Any] | int:
        if token is None or age_of(token) >= seconds:
            return {"tools": [READ]} if method == "tools/list" and refusal != 401 else refusal
        return {"tools": [READ]} if method == "tools/list" else said("", **SECRET)

    return answer


def measured(folder: Path, answer: Answer) -> ProbeReport:
    return probed(folder, answer, bearer=True, cases=CASES[:1])


def told(report: ProbeReport) -> list[str]:
    """Return what a probe prints of expired tokens, findings aside."""
    return re.findall(
        r"^  ((?:an expired token is|not measured).*)$", printed(report), re.MULTILINE
    )


@dataclass
class Strict:
    """A server whose verifier checks everything, with a leeway; the first token is the issuer's."""

    leeway: float
    verifier: Verifier | None = None

    def __call__(self, method: str, _user: object, token: str | None) -> dict[str, Any] | int:
        shown = (token or "").removeprefix("Bearer ")
        if not shown or not self._trusted(shown).accepts(shown):
            return 401
        return {"tools": [READ]} if method == "tools/list" else said("", **SECRET)

    def _trusted(self, first: str) -> Verifier:
        if self.verifier is None:
            own = claims_in(first)
            issuer: Any = SimpleNamespace(url=own["iss"], jwks_url=f"{own['iss']}/jwks.json")
            is_for_us: Callable[[Any], bool] = own["aud"].__eq__
            self.verifier = Verifier(issuer, leeway=self.leeway, is_for_us=is_for_us)
        return self.verifier


# ── the leeway in minutes ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("seconds", "words"),
    often(
        [
            (120, "accepted for up to 2 minutes after its expiry"),
            (0.5, "refused within a minute of its expiry"),
            (30, "refused within a minute of its expiry"),
            (60, "accepted for up to 1 minute after its expiry"),
            (420, "accepted for up to 7 minutes after its expiry"),
            (600, "accepted for up to 10 minutes after its expiry"),
            (1800, "accepted for up to 30 minutes after its expiry"),
            (3600, "accepted for up to 60 minutes after its expiry"),
        ]
    ),
)
def test_the_minutes_for_which_an_expired_token_is_accepted_are_found(
    tmp_path: Path, seconds: float, words: str
) -> None:
    assert told(measured(tmp_path, tolerating(seconds))) == [f"an expired token is {words}"]


@pytest.mark.slow
@pytest.mark.parametrize("refusal", often([said("", **PUBLIC), DENIED]))
def test_an_expired_token_that_is_taken_for_none_is_refused_as_well(
    tmp_path: Path, refusal: dict[str, Any]
) -> None:
    report = measured(tmp_path, tolerating(120, refusal))
    assert told(report) == ["an expired token is accepted for up to 2 minutes after its expiry"]


def test_a_server_that_accepts_any_expired_token_is_not_measured_further(tmp_path: Path) -> None:
    report = measured(tmp_path, tolerating(float("inf")))
    assert told(report) == [
        "an expired token is accepted for more than 60 minutes after its expiry"
    ]
    assert report.leeway is not None
    assert (report.leeway.minutes, report.leeway.beyond, report.leeway.calls) == (None, True, 0)
    assert "an expired token of alice was accepted: read() works with it" in printed(report)


@pytest.mark.slow
def test_each_measuring_call_is_logged_and_counted_and_few_suffice(tmp_path: Path) -> None:
    report = measured(tmp_path, tolerating(1800))
    made = [run for run in report.report.results if "expired" in run.case.metadata["probe"]]
    assert report.leeway is not None
    assert len(made) == report.leeway.calls == 6
    assert {run.case.metadata["probe"]["credential"] for run in made} == {"expired"}
    assert made[0].case.name == "read() [alice: a token that expired 35 minutes ago]"
    assert "command" not in made[0].case.metadata["probe"]  # none makes a token of this age
    assert report.damaged == len(report.tokens)  # they are no further callers


@pytest.mark.slow
def test_the_leeway_is_in_the_document_and_in_what_the_log_says_last(tmp_path: Path) -> None:
    report = measured(tmp_path, tolerating(120))
    assert build_document(report, [], [], 0)["leeway"] == {
        "minutes": 2,
        "beyond": False,
        "calls": 3,
        "unmeasured": None,
    }
    words = "an expired token is accepted for up to 2 minutes after its expiry"
    assert words in summarize_probe(report, [])


def test_the_two_expired_tokens_are_as_old_as_the_measurement_takes_them_to_be() -> None:
    assert (60 * LATELY_MIN, 60 * LONGEST_MIN) == (LATELY_S, EXPIRED_S)


# ── what it is judged as ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("leeway", "minutes"), [(0, 0), *often([(120, 2), (300, 5)])], ids=["none", "two", "five"]
)
def test_a_clean_server_with_a_sensible_leeway_has_no_finding_and_no_note(
    tmp_path: Path, leeway: float, minutes: int
) -> None:
    report = measured(tmp_path, Strict(leeway))
    assert report.leeway is not None
    assert (report.leeway.minutes, report.findings, report.notes) == (minutes, (), ())
    assert report.exit_code == 0


@pytest.mark.slow
def test_a_leeway_of_more_than_a_few_minutes_is_a_note_and_fails_nothing(tmp_path: Path) -> None:
    report = measured(tmp_path, Strict(420))
    assert (report.findings, report.exit_code) == ((), 0)
    [note] = report.notes
    assert note.startswith("an expired token is accepted for up to 7 minutes after its expiry; RFC")
    assert f"! {note}" in printed(report)


@pytest.mark.parametrize("leeway", often([1000, float("inf")]))
def test_what_is_a_finding_is_not_noted_beside_it(tmp_path: Path, leeway: float) -> None:
    report = measured(tmp_path, Strict(leeway))
    lately = "alice: a token that expired ten minutes ago"
    assert report.tokens[lately] == "accepted"
    assert {finding.problem for finding in report.findings} == {"token_accepted"}
    assert report.notes == ()


# ── where it cannot be measured ──────────────────────────────────────────────────────────────


@pytest.mark.parametrize("answered", often([said("The same for all."), failed("boom")]))
def test_without_a_call_that_needs_a_token_it_is_said_that_nothing_was_measured(
    tmp_path: Path, answered: dict[str, Any]
) -> None:
    def answer(method: str, _user: object, _token: object) -> dict[str, Any]:
        return {"tools": [READ]} if method == "tools/list" else answered

    report = measured(tmp_path, answer)
    assert report.leeway is not None
    assert (report.leeway.minutes, report.leeway.calls) == (None, 0)
    assert report.leeway.unmeasured == (
        "no call works with a valid token and is refused both without one and with an expired one"
    )
    assert told(report) == [report.leeway.description]


@pytest.mark.slow
@pytest.mark.parametrize("lost", often([False, True]))
def test_an_answer_that_shows_nothing_ends_the_measurement_without_a_number(
    tmp_path: Path, *, lost: bool
) -> None:
    sound = tolerating(120)

    def answer(method: str, user: Any, token: str | None) -> dict[str, Any] | int | None:
        if method == "tools/call" and 0 < age_of(token) < 500:
            return None if lost else failed("boom")
        if method == "tools/list" and 0 < age_of(token) < 500:
            return {"tools": [READ]}
        return sound(method, user, token)

    report = measured(tmp_path, answer)
    assert told(report) == [
        "not measured: how long an expired token is accepted: an answer was unclear, late or lost"
    ]
    assert report.leeway is not None
    assert (report.leeway.minutes, report.leeway.calls) == (None, 1)
    assert bool(report.lost) is lost


@pytest.mark.slow
def test_an_answer_after_which_the_token_is_older_than_it_should_be_counts_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.probing.token_calls.SLACK_S", 0.0)
    report = measured(tmp_path, tolerating(120))
    assert report.leeway is not None
    assert report.leeway.minutes is None
    assert report.leeway.unmeasured == "an answer was unclear, late or lost"


def test_without_bearer_tokens_nothing_is_said_of_expired_ones(tmp_path: Path) -> None:
    def answer(method: str, _user: object, _token: object) -> dict[str, Any]:
        return {"tools": [READ]} if method == "tools/list" else said("", **SECRET)

    report = probed(tmp_path, answer, cases=CASES[:1])
    assert report.leeway is None
    assert build_document(report, [], [], 0)["leeway"] is None
    assert told(report) == []


# ── joined servers, and tokens that a command makes ──────────────────────────────────────────


def each_tolerating(*answers: Answer, specs: Sequence[IdentitySpec] = ()) -> Callable[..., Any]:
    """Return a probe of servers named ``a``, ``b`` … that answer so, joined if they are several."""

    def measure(folder: Path) -> ProbeReport:
        with ExitStack() as stack:
            members = tuple(
                ServerSpec(
                    name="abc"[place],
                    transport=TransportSpec(
                        url=stack.enter_context(serving(answer)),
                        kind="http",
                        protocol="2026-07-28",
                    ),
                    call_timeout_s=PATIENT_S,
                    identity=specs[place] if specs else IdentitySpec(via="bearer"),
                )
                for place, answer in enumerate(answers)
            )
            cases = CASES[:1]
            plan = ProbePlan(
                server=join_servers(members),
                callers=name_callers(cases),
                cases=cases,
                damaged=False,
            )
            return anyio.run(run_probe, plan, folder / "runs").report

    return measure


def open_to_all(method: str, _user: object, _token: object) -> dict[str, Any]:
    return {"tools": [READ]} if method == "tools/list" else said("The same for all.")


def words_of(report: ProbeReport) -> dict[str, str]:
    return {server: leeway.description for server, leeway in report.leeways.items()}


def test_each_of_several_joined_servers_is_measured_by_itself(tmp_path: Path) -> None:
    report = each_tolerating(tolerating(120), tolerating(420, DENIED))(tmp_path)
    assert words_of(report) == {
        "a": "an expired token is accepted for up to 2 minutes after its expiry",
        "b": "an expired token is accepted for up to 7 minutes after its expiry",
    }
    assert report.leeway is None
    assert "\n  b: an expired token is accepted for up to 7 minutes" in printed(report)
    [note] = report.notes
    assert note.startswith("b: an expired token is accepted for up to 7 minutes")
    assert report.findings == ()
    assert build_document(report, [], [], 0)["leeways"]["a"]["minutes"] == 2


def test_a_joined_server_whose_answers_do_not_depend_on_its_token_is_not_measured_by_the_others(
    tmp_path: Path,
) -> None:
    report = each_tolerating(tolerating(0.5), open_to_all)(tmp_path)
    assert words_of(report) == {
        "a": "an expired token is refused within a minute of its expiry",
        "b": (
            "not measured: how long an expired token is accepted: no call of its tools works with "
            "a valid token and is refused without one"
        ),
    }


@pytest.mark.parametrize(
    ("seconds", "words"),
    often(
        [
            (float("inf"), "a token that expired 61 minutes ago of alice was accepted by b: "),
            (1800, "a token that expired 30 minutes ago of alice was accepted by b: "),
        ]
    ),
)
def test_a_joined_server_that_accepts_a_token_long_after_its_expiry_is_found(
    tmp_path: Path, seconds: float, words: str
) -> None:
    report = each_tolerating(tolerating(0.5), tolerating(seconds))(tmp_path)
    [finding] = report.findings
    assert (finding.problem, finding.call) == ("token_accepted", "b__read()")
    assert finding.words == f"{words}b__read() works with it"
    assert (report.leeways["b"].beyond, report.exit_code) == (seconds == float("inf"), 1)
    assert report.notes == ()
    [failed_call] = [run for run in report.report.results if run.status == "failed"]
    assert failed_call.case.identity == finding.callers[0]


def test_other_flaws_of_tokens_are_said_to_be_untried_at_joined_servers(tmp_path: Path) -> None:
    report = each_tolerating(tolerating(0.5), open_to_all)(tmp_path)
    assert report.tokens == {}
    assert "Of the tokens that a verifier must refuse, only expired ones were sent" in printed(
        report
    )
    assert build_document(report, [], [], 0)["not_tried"] == [
        UNSENT["joined"].format(server="a"),
        UNSENT["joined"].format(server="b"),
        *SWAPS,
        *NOT_TRIED,
    ]


def by_command() -> IdentitySpec:
    said_once = f"{sys.executable} -c 'import json, sys; json.load(sys.stdin); print(\"opaque\")'"
    return IdentitySpec(via="bearer", settings={"token_command": said_once})


UNTRIED = (
    "tokens that a must refuse, expired ones included (its tokens come from its token_command, "
    "and harness does not hold their key)"
)


def test_tokens_of_a_command_are_said_to_be_untried_with_a_flaw_and_for_their_age(
    tmp_path: Path,
) -> None:
    report = each_tolerating(tolerating(0.5), specs=[by_command()])(tmp_path)
    assert (report.tokens, report.leeway, report.lost) == ({}, None, ())
    assert words_of(report) == {
        "a": (
            "not measured: how long an expired token is accepted: its tokens come from its "
            "token_command, so none can be made that is expired"
        )
    }
    assert report.not_tried[0] == UNTRIED
    assert build_document(report, [], [], 0)["not_tried"][0] == UNTRIED
    out = printed(report)
    assert "Of the tokens that a verifier must refuse, none was sent" in out
    assert f"  not tried: {UNTRIED}" in out
    assert "were sent:" not in out
    assert "expired_lately" not in out  # nothing is listed as tried that was not
    assert any(UNTRIED in line for line in summarize_probe(report, []))


def test_of_joined_servers_the_one_with_a_command_is_untried_and_the_other_is_measured(
    tmp_path: Path,
) -> None:
    specs = [by_command(), IdentitySpec(via="bearer")]
    report = each_tolerating(tolerating(0.5), tolerating(120), specs=specs)(tmp_path)
    assert (report.leeways["a"].minutes, report.leeways["b"].minutes) == (None, 2)
    assert report.not_tried[0] == UNTRIED
