"""What a probe finds in a server that answers every request as a test says, over real HTTP."""

from __future__ import annotations

import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count, product
from pathlib import Path
from typing import Any

import anyio
import pytest

from harness.cli.probe_output import format_lines
from harness.probing.callers import MAX_DAMAGED, name_callers
from harness.probing.prober import ProbePlan, run_probe
from harness.probing.report import ProbeReport
from harness.probing.stability import Suspicion, depends_on_previous
from harness.types import (
    FLAWS,
    Caller,
    Case,
    IdentitySpec,
    Protocol,
    ServerSpec,
    TransportSpec,
)
from tests.clock import BOUND_S, PATIENT_S, TIMEOUTS_S
from tests.often import often
from tests.probing.loopback import QuietHandler, on_loopback

KEY = "harness/user_context"
READ = {"name": "read", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
ALICE, BOBBY = {"role": "user", "id": "alice"}, {"role": "user", "id": "bobby"}
CASES = tuple(
    Case(name=name, prompt="-", checks=(), caller=Caller(user_context=context, identity=name))
    for name, context in (("alice", ALICE), ("bobby", BOBBY))
)

Answer = Callable[[str, Mapping[str, Any] | None, str | None], "dict[str, Any] | int | None"]
"""Method, who asks by ``_meta``, token → result, HTTP status, or ``None`` to hang up."""

CALLED = threading.local()
"""The request that an `Answer` is asked for: ``tool``, ``arguments``, ``cursor`` of a list, all
``params``; the HTTP ``path`` and ``headers``."""


def said(text: str, **structured: Any) -> dict[str, Any]:
    return {
        "content": [{"type": "text", "text": text}],
        **({"structuredContent": structured} if structured else {}),
    }


def failed(text: str) -> dict[str, Any]:
    return {**said(text), "isError": True}


def known(user: Mapping[str, Any] | None) -> str:
    return user["id"] if user in (ALICE, BOBBY) else "nobody"


@contextmanager
def serving(answer: Answer, *, describes_itself: bool = False) -> Iterator[str]:
    """Serve for the length of the block, and return the URL.

    ``describes_itself``: it is ``answer`` that answers who wants its description.
    """

    class Handler(QuietHandler):
        def do_POST(self) -> None:  # noqa: N802 - the base calls it so
            message = json.loads(self.rfile.read(int(self.headers["content-length"])))
            params = message.get("params") or {}
            user, CALLED.tool = params.get("_meta", {}).get(KEY), params.get("name")
            CALLED.arguments = params.get("arguments") or {}
            CALLED.cursor = params.get("cursor")
            CALLED.params, CALLED.path, CALLED.headers = params, self.path, self.headers
            method: str = message["method"]
            if method == "server/discover" and not describes_itself:
                found: dict[str, Any] | int | None = 404
            else:
                found = answer(method, user, self.headers.get("authorization"))
            if found is None:
                self.close_connection = True
                return
            body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": found}).encode()
            self.send_response(found if isinstance(found, int) else 200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(0 if isinstance(found, int) else len(body)))
            self.end_headers()
            self.wfile.write(b"" if isinstance(found, int) else body)

    with on_loopback(Handler) as url:
        yield url


def probed(
    folder: Path,
    answer: Answer,
    *,
    bearer: bool = False,
    damaged: bool = False,
    timeout_s: float = PATIENT_S,
    cases: tuple[Case, ...] = CASES,
    protocol: Protocol = "2026-07-28",
    most: int = MAX_DAMAGED,
) -> ProbeReport:
    """Probe a server that gives these answers; at most ``most`` damaged identities ask."""
    describes = protocol == "auto"
    with serving(answer, describes_itself=describes) as url, pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.probing.caller_sessions.MAX_DAMAGED", most)
        spec = ServerSpec(
            name="p",
            transport=TransportSpec(url=url, kind="http", protocol=protocol),
            call_timeout_s=timeout_s,
            identity=IdentitySpec(via="bearer" if bearer else "meta"),
        )
        plan = ProbePlan(server=spec, callers=name_callers(cases), cases=cases, damaged=damaged)
        return anyio.run(run_probe, plan, folder / "runs").report


def problems(report: ProbeReport) -> set[str]:
    return {finding.problem for finding in report.findings}


def printed(report: ProbeReport) -> str:
    return "\n".join(line for line, _ in format_lines(report, [], [], 120))


# ── tokens ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_a_token_that_opens_the_door_is_accepted_though_no_call_works_with_it(
    tmp_path: Path,
) -> None:
    def answer(method: str, _user: object, token: str | None) -> dict[str, Any] | int:
        return (
            401
            if token is None
            else {"tools": [READ]}
            if method == "tools/list"
            else failed("boom")
        )

    report = probed(tmp_path, answer, bearer=True)
    assert (problems(report), report.exit_code) == ({"token_accepted"}, 1)
    assert set(report.tokens.values()) == {"accepted"}
    assert (
        "an expired token of bobby was accepted: read is in the list with it, and hidden from "
        "anonymous"
    ) in printed(report)
    count = 2 * len(FLAWS)
    assert f"{count} tokens that a verifier must refuse were sent: {count} accepted" in printed(
        report
    )
    assert f"tried: {', '.join(FLAWS)}\n" in printed(report)
    assert "not tried: another token in the middle of a session" in printed(report)


def test_a_token_that_an_answer_sends_back_is_found_and_fails(tmp_path: Path) -> None:
    def answer(method: str, _user: object, token: str | None) -> dict[str, Any]:
        return {"tools": [READ]} if method == "tools/list" else said(f"Hello, {token}")

    report = probed(tmp_path, answer, bearer=True)
    echoes = [finding for finding in report.findings if finding.problem == "token_echoed"]
    assert report.exit_code == 1
    assert [finding.callers for finding in echoes] == [("alice",)]  # one for all who call it
    assert echoes[0].words in printed(report)


@pytest.mark.slow
def test_of_a_token_with_which_every_call_fails_as_without_one_nothing_is_said(
    tmp_path: Path,
) -> None:
    def answer(method: str, _user: object, _token: object) -> dict[str, Any]:
        return {"tools": [READ]} if method == "tools/list" else failed("boom")

    report = probed(tmp_path, answer, bearer=True)
    assert set(report.tokens.values()) == {"unclear"}
    assert f"were sent: {2 * len(FLAWS)} with an unclear result" in printed(report)


@pytest.mark.parametrize("silent", often([True, False]))
def test_a_token_is_held_against_what_nobody_gets_if_that_is_known(
    tmp_path: Path, *, silent: bool
) -> None:
    def answer(method: str, _user: object, token: str | None) -> dict[str, Any] | None:
        if method == "tools/list":
            return {"tools": [READ]}
        if token is None and silent:
            return None
        return said("Our opening hours are nine to five.")

    report = probed(tmp_path, answer, bearer=True)
    assert "token_accepted" not in problems(report)
    assert set(report.tokens.values()) == {"unclear" if silent else "as_nobody"}
    assert bool(report.lost) is silent


# ── who could not be told, and who had no answer ─────────────────────────────────────────────


@pytest.mark.slow
def test_a_call_that_has_no_answer_once_makes_no_finding_of_what_others_get(tmp_path: Path) -> None:
    def silent_once(late: threading.Event) -> Answer:
        made = Counter[str]()

        def answer(method: str, user: Mapping[str, Any] | None, _token: object) -> dict[str, Any]:
            if method == "tools/list":
                return {"tools": [READ]}
            made[str(user)] += 1
            if user in (None, ALICE, BOBBY) and made[str(user)] == 1:
                late.wait(BOUND_S)
            return said("", id=known(user))

        return answer

    for seconds in TIMEOUTS_S:
        late = threading.Event()
        folder = tmp_path / str(seconds)
        report = probed(folder, silent_once(late), damaged=True, timeout_s=seconds)
        late.set()
        lost = [line.partition(":")[0] for line in report.lost]
        if lost == ["alice", "bobby", "anonymous"]:
            break
    assert (report.findings, report.exit_code, lost) == ((), 4, ["alice", "bobby", "anonymous"])


@pytest.mark.parametrize("where", often(["tools/call", "tools/list"]))
def test_a_damaged_identity_that_is_never_answered_was_told_all_the_same(
    tmp_path: Path, where: str
) -> None:
    def answer(
        method: str, user: Mapping[str, Any] | None, _token: object
    ) -> dict[str, Any] | None:
        if method == where and not isinstance((user or {}).get("role", ""), str):
            return None
        return {"tools": [READ]} if method == "tools/list" else said("", id=known(user))

    report = probed(tmp_path, answer, damaged=True)
    assert (report.findings, report.exit_code, report.untold) == ((), 4, ())
    assert {": ".join(line.split(": ")[:2]) for line in report.lost} == {
        *(
            f"{name}: role {what}"
            for name in ("alice", "bobby")
            for what in ("is null", "has another type")
        ),
    }
    assert "Nothing is wrong" not in printed(report)
    assert "could not be sent" not in printed(report)


def test_whoever_is_not_let_in_was_refused_and_shows_that_the_server_knows_who_asks(
    tmp_path: Path,
) -> None:
    def answer(method: str, user: Mapping[str, Any] | None, _token: object) -> dict[str, Any] | int:
        if user == BOBBY:
            return 403
        return {"tools": [READ]} if method == "tools/list" else said("The same for everybody.")

    report = probed(tmp_path, answer)
    assert (report.findings, report.lost, report.exit_code) == ((), (), 0)
    assert {name: decided.shape for name, decided in report.decisions["read()"].items()} == {
        "alice": None,
        "bobby": "http_status",
        "anonymous": None,
    }


# ── answers that come out differently ────────────────────────────────────────────────────────

RECORDS = {
    "alice": {"holder": "Alice Anders", "iban": "DE89 3704 0044 0532 0130 00", "balance": 271},
    "bobby": {
        "holder": "Bobby Brandt",
        "iban": "FR76 3000 6000 0112 3456 7890 189",
        "balance": 314,
    },
}


@pytest.mark.parametrize("form", often(["fields", "prose", "other fields"]))
def test_a_record_of_the_caller_before_is_noticed_though_it_has_the_same_fields(
    tmp_path: Path, form: str
) -> None:
    last: list[str] = []
    begun = threading.Event()

    def answer(method: str, user: Mapping[str, Any] | None, _token: object) -> dict[str, Any]:
        if method == "tools/list":
            return {"tools": [READ]}
        if user != ALICE:
            begun.wait(BOUND_S)  # Alice is the first of all
        who = last[-1] if last else "alice"
        if user:
            last.append(user["id"])
            begun.set()
        record = RECORDS[who]
        more = {"note": "a good client"} if who == "bobby" and form == "other fields" else {}
        return (
            said(f"The account of {record['holder']} is {record['iban']}.")
            if form == "prose"
            else said("", **record, **more)
        )

    report = probed(tmp_path, answer)
    assert "unstable" in problems(report)
    how = (
        "ok with 3 fields and ok with 4 fields"
        if form == "other fields"
        else "once as it does for (?:alice|anonymous)"
    )
    assert re.search(
        rf"read\(\) comes out differently for bobby from one time to the next: {how}; asked again, "
        r"it depended on who had asked before, 8 times of 8",
        printed(report),
    )
    assert "the call does not show this: it takes the caller before" in printed(report)


@pytest.mark.parametrize("grows", [False, True])
def test_data_that_changes_is_no_identity_that_is_remembered(
    tmp_path: Path, *, grows: bool
) -> None:
    numbers = count()

    def answer(method: str, user: Mapping[str, Any] | None, _token: object) -> dict[str, Any]:
        if method == "tools/list":
            return {"tools": [READ]}
        number = next(numbers)
        record = RECORDS.get(
            (user or {}).get("id", ""), {"holder": "nobody", "iban": "none", "balance": 0}
        )
        rows = [f"Order {each} was shipped" for each in range(number // 3 + 1)]
        more: dict[str, Any] = {"orders": rows} if grows else {}
        return said(
            "",
            **record,
            **more,
            queue=number // 3,
            price=187.34 + number // 4,
            state=("open", "closed")[number % 2],
            asked_at=f"2026-11-21T10:00:{number:02}",
            request_id=f"request number {number // 2}",
        )

    # A list that grows may be kept from whoever asked first, which is for the leaks to say.
    assert problems(probed(tmp_path, answer)) == ({"leak"} if grows else set())


JOKES = ("A horse walks into a bar.", "Two fish are in a tank.", "A duck buys some bread.")


@pytest.mark.slow
def test_a_suspect_asks_again_and_what_does_not_follow_the_caller_before_is_no_fault(
    tmp_path: Path,
) -> None:
    made, dice, one_by_one = Counter[str](), random.Random(5), threading.Lock()
    begins, later = (
        {"built": "alpha gamma", "news": "Rain in Rome."},
        {"built": "beta delta", "news": "Snow in Oslo."},
    )
    tools: dict[str, Callable[[int, str], dict[str, Any]]] = {
        "clock": lambda n, _: said(f"The current time is 2026-11-21 10:00:{n:02}"),
        "calendar": lambda n, _: said(
            f"Today is {('Monday', 'Sunday')[n > 9]}, the {n}th of {('May', 'June')[n > 9]}"
        ),
        "posted": lambda n, _: said("", sent=f"Sat, 21 Nov 2026 10:00:0{n > 9:d} +0000"),
        "news": lambda n, _: said(
            "", **(later if n > 9 else begins)
        ),  # three callers have warmed up twice, and are through with the first round
        "joke": lambda n, _: said(JOKES[n > 9] if n < 13 else dice.choice(JOKES)),
        "node": lambda n, _: said(f"Served by {('Frankfurt', 'Dublin')[n % 2]} in person"),
        "cached": lambda n, who: said(
            "", report=f"All is well, {who}", **({"cached": True} if n > 9 else {})
        ),
        "warming": lambda n, who: (
            said(f"Good morning, {who}!") if n > 9 else failed("the cache is warming up")
        ),
        "orders": lambda n, _: said(
            "", orders=["A chair was shipped", "A desk was shipped"] if n > 9 else []
        ),
    }

    def answer(method: str, user: Mapping[str, Any] | None, _token: object) -> dict[str, Any]:
        if method == "tools/list":
            return {"tools": [{**READ, "name": name} for name in tools]}
        with one_by_one:
            made[CALLED.tool] += 1
            return tools[CALLED.tool](made[CALLED.tool], known(user))

    report = probed(tmp_path, answer)
    assert "unstable" not in problems(report)
    again = [
        run
        for run in report.report.results
        if " after " in run.case.name or " before " in run.case.name
    ]
    asked = {run.case.name.partition("(")[0] for run in again}
    assert asked == {
        "news",
        "joke",
        "node",
        "cached",
        "warming",
        "orders",
    }  # a time that passes raises no suspicion
    assert len(again) < 6 * 3 * 3 * 4  # tools, callers, rounds, calls
    assert set(report.decisions) == {f"{name}()" for name in tools}


def test_a_suspicion_that_no_answer_confirms_or_clears_is_not_a_probe_in_which_nothing_is_wrong(
    tmp_path: Path,
) -> None:
    made = count()

    def answer(
        method: str, user: Mapping[str, Any] | None, _token: object
    ) -> dict[str, Any] | None:
        if method == "tools/list":
            return {"tools": [READ]}
        number = next(made)
        if number > 8:  # of three callers: two rounds to warm up, and one that counts
            return None
        return said("", news="Snow in Oslo." if number > 5 else "Rain in Rome.", id=known(user))

    report = probed(tmp_path, answer)
    assert (report.findings, report.exit_code) == ((), 4)
    assert {line.partition(":")[0] for line in report.lost} <= {"alice", "bobby", "anonymous"}


def test_of_three_answers_by_chance_hardly_any_passes_for_an_identity_that_is_remembered() -> None:
    dice = random.Random(7)
    accused = 0
    for number in range(1_000):
        suspicion = Suspicion(
            name="alice", call=f"joke({number})", how="", after=("bobby", "carla", "david", "erika")
        )
        after: dict[str, list[frozenset[str]]] = {}
        for order in suspicion.iterate_orders():
            for name in order:
                after.setdefault(name, []).append(frozenset({dice.choice(JOKES)}))
            if not (follows := depends_on_previous(after)):
                break
        accused += follows
    assert accused == 0


@pytest.mark.parametrize("others", ["b", "bc", "bcd", "bcde", "bcdef"])
def test_answers_that_take_turns_never_keep_step_with_the_callers_before(others: str) -> None:
    suspicion = Suspicion(name="a", call="read()", how="", after=tuple(others))
    for turns, start, own in product(range(1, 25), range(24), (True, False)):
        number, followed = start, True
        after: dict[str, list[frozenset[str]]] = {}
        for order in suspicion.iterate_orders():
            assert len(order) == len(set(order)) >= 2
            for before in order:
                number += 1 if own else 2  # whoever asks takes a turn, or only the suspect
                after.setdefault(before, []).append(frozenset({str(number % turns)}))
            if not (followed := depends_on_previous(after)):
                break
        assert not followed


def test_what_follows_the_caller_before_is_told_from_what_changed_once() -> None:
    assert depends_on_previous(
        {"bobby": [frozenset({"b", "x"})] * 3, "carla": [frozenset({"c"})] * 3}
    )
    assert depends_on_previous(
        {"bobby": [frozenset({"b", n}) for n in "12"], "carla": [frozenset({"c"})] * 2}
    )
    assert not depends_on_previous(
        {"bobby": [frozenset({"b"})] * 2, "carla": [frozenset({"b", "more"})] * 2}
    )
    assert not depends_on_previous(
        {"bobby": [frozenset("b"), frozenset("c")], "carla": [frozenset("c")] * 2}
    )
    assert not depends_on_previous(
        {"bobby": [frozenset("b"), frozenset()], "carla": [frozenset("c")] * 2}
    )
