import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import Route

from harness.web.evaluations import Evaluations
from harness.web.server import make_app
from harness.web.settings import Settings
from tests.judging.test_access import FULL, LEAKING
from tests.judging.test_access import a_log as asked_as_several
from tests.judging.test_access import a_run as asked_as
from tests.reports.logs import a_log, a_run
from tests.web.support import API, KEY, Event, Page, dataset, events, multipart

TWO = dataset(["Say seven.", "This one is wrong."])


@pytest.fixture(scope="module")
def told(page: Page, tmp_path_factory: pytest.TempPathFactory) -> list[Event]:
    """What the command of the documentation says of a run of two tests: one passes, one fails."""
    folder = tmp_path_factory.mktemp("curl")
    (folder / "my_tests.csv").write_text(TWO)
    command = 'curl -s -N -X POST http://localhost:8000/evaluations/run -F "file=@my_tests.csv"'
    command = command.replace("http://localhost:8000", page.url) + " -F model=fake -F server=plain"
    answer = subprocess.run(
        shlex.split(command), capture_output=True, text=True, timeout=120, check=True, cwd=folder
    )
    return list(events(iter(answer.stdout.split("\n"))))


@pytest.fixture(scope="module")
def ended(told: list[Event]) -> str:
    """That run, which has ended."""
    return str(told[0].data["id"])


def test_the_documented_command_streams_a_run_from_its_first_event_to_its_summary(
    told: list[Event],
) -> None:
    names = [event.name for event in told]
    assert names[:2] == ["run", "run"]
    assert names.count("test_case_start") == names.count("test_case_result") == 2
    assert names[-1] == "summary"
    assert [event.id.rpartition("-")[2] for event in told] == [
        str(number) for number in range(1, len(told) + 1)
    ]
    assert [
        event.data["progress"]["done"] for event in told if event.name == "test_case_result"
    ] == [1, 2]
    summary = told[-1].data
    assert (summary["pass_rate"], summary["band"], summary["reason"]) == (
        0.5,
        "needs work",
        "complete",
    )
    assert summary["averages"]["tool_selection"] == {
        "score": 0.5,
        "band": "needs work",
        "trials": 2,
    }
    for event in told:
        if event.name == "test_case_result":
            assert told.index(event) > next(
                place
                for place, start in enumerate(told)
                if start.name == "test_case_start" and start.data["case"] == event.data["case"]
            )


def test_a_result_holds_what_was_expected_and_what_was_done(page: Page, ended: str) -> None:
    results = {
        event.data["case"]: event.data
        for event in page.events(ended)
        if event.name == "test_case_result"
    }
    good, bad = results["1"], results["2"]
    assert (good["status"], good["colour"], good["score"]) == ("passed", "green", 1.0)
    assert good["query"] == "Say seven."
    assert good["expected"] == [
        {"tool": "echo", "arguments": {"n": 7}, "actual": {"n": 7}, "score": 1.0}
    ]
    (call,) = good["calls"]
    assert (call["tool"], call["arguments"], call["expected"], call["outcome"]) == (
        "echo",
        {"n": 7},
        True,
        "ok",
    )
    assert good["answer"] == "Done."
    assert (bad["status"], bad["colour"], bad["calls"]) == ("failed", "red", [])
    assert bad["expected"][0]["actual"] is None
    assert "tool selection 0.00" in bad["problem"]


def test_a_stream_that_is_taken_up_again_misses_nothing_and_repeats_nothing(
    page: Page, ended: str
) -> None:
    whole = list(page.events(ended))
    for place in range(len(whole)):
        assert list(page.events(ended, whole[place].id)) == whole[place + 1 :]


@pytest.mark.parametrize(
    "last_seen", ["other-3", "", "x", "-1", "log-1e3", "log-99999999999999999999"]
)
def test_a_listener_with_a_foreign_number_gets_everything(
    page: Page, ended: str, last_seen: str
) -> None:
    assert list(page.events(ended, last_seen)) == list(page.events(ended))


def test_a_run_of_a_terminal_is_listed_and_told_from_its_log(page: Page) -> None:
    name = "20260101T000000Z-by_hand-abc"
    a_log(page.project.folder / ".harness/runs" / name / "log.jsonl", a_run("one", suite="by_hand"))
    (entry,) = page.client.get("/evaluations?suite=by_hand").json()["runs"]
    assert (entry["result"], entry["state"], entry["ours"], entry["pass_rate"]) == (
        "1 passed",
        "finished",
        False,
        1.0,
    )
    told = list(page.events(name))
    assert [event.name for event in told] == [
        "run",
        "test_case_start",
        "test_case_result",
        "summary",
    ]
    assert list(page.events(name, told[1].id)) == told[2:]
    refused = page.client.delete(f"/evaluations/{name}")
    assert (refused.status_code, "Ctrl-C" in refused.json()["error"]) == (409, True)


def test_every_answer_about_a_run_tells_a_leak_as_the_command_line_does(page: Page) -> None:
    name = "20260101T000000Z-leaky-abc"
    asked_as_several(
        page.project.folder / ".harness/runs" / name,
        (asked_as("admin"), FULL),
        (asked_as("clerk"), LEAKING),
    )
    told = list(page.events(name))
    cards = {
        event.data["case"]: event.data["status"]
        for event in told
        if event.name == "test_case_result"
    }
    download = page.client.get(f"/evaluations/{name}/download").json()["result"]
    assert cards == {test["name"]: test["status"] for test in download["tests"]}
    assert cards == {"mail [admin]": "passed", "mail [clerk]": "failed"}
    (entry,) = page.client.get("/evaluations?suite=shop&result=failed").json()["runs"]
    for counts in (told[-1].data["counts"], download["evaluation"]["counts"], entry["counts"]):
        assert (counts["passed"], counts["failed"]) == (1, 1)


@pytest.mark.slow
def test_a_run_in_a_terminal_is_watched_while_it_goes_on(page: Page) -> None:
    tests = [
        {"name": name, "prompt": name, "assertions": {"must_call": ["echo"]}}
        for name in ("seven", "stall for ever")
    ]
    page.project.suite("watched", tests, server="plain", model="fake")
    process = page.project.start("evals", "watched")
    try:
        while not (
            runs := page.client.get("/evaluations?suite=watched&result=running").json()["runs"]
        ):
            assert process.poll() is None
        told = page.events(runs[0]["id"])
        assert [next(told).name for _ in range(3)] == ["run", "test_case_start", "test_case_result"]
        process.kill()
        last = next(told)
        assert (last.name, last.data["reason"], last.data["counts"]["cancelled"]) == (
            "summary",
            "interrupted",
            1,
        )
    finally:
        process.kill()
        process.communicate(timeout=120)


def test_the_download_is_the_document_of_the_command_line(page: Page, ended: str) -> None:
    answer = page.client.get(f"/evaluations/{ended}/download")
    assert answer.headers["content-disposition"] == f'attachment; filename="{ended}.json"'
    result = answer.json()["result"]
    assert (answer.json()["status"], result["suite"], result["all_passed"]) == (
        "ok",
        "my_tests",
        False,
    )
    assert [test["passed"] for test in result["tests"]] == [True, False]
    assert result["evaluation"]["pass_rate"] == 0.5


def test_a_run_is_found_again_with_its_summary(page: Page, ended: str) -> None:
    found = page.get(ended)
    assert (found["state"], found["file"], found["done"], found["ours"]) == (
        "finished",
        "my_tests.csv",
        2,
        True,
    )
    assert found["summary"]["counts"]["failed"] == 1
    listed = page.client.get("/evaluations?suite=MY_TESTS&model=fake&result=failed").json()
    assert ended in [run["id"] for run in listed["runs"]]
    assert page.client.get("/evaluations?suite=my_tests&result=passed").json()["runs"] == []


def test_the_log_refers_to_the_uploaded_file_under_a_name_of_ours(page: Page, ended: str) -> None:
    log = page.project.log(ended)
    assert log.header.suites["my_tests"]["file"] == f".harness/runs/{ended}/suite.csv"
    assert (log.path.parent / "suite.csv").read_text() == TWO.replace("\r\n", "\n")
    assert "2 planned: 1 passed, 1 failed" in page.project.run("grade", ended).stdout


def test_a_client_that_goes_away_ends_no_run_and_delete_does(page: Page) -> None:
    run = page.begin(dataset(["Say seven.", "stall here"]))
    with page.client.stream("GET", f"/evaluations/{run}/events") as answer:
        lines = answer.iter_lines()
        next(line for line in lines if line == "event: test_case_result")
        assert next(line for line in lines if line.startswith(":")).startswith(
            ": ping"
        )  # a sign of life
    assert page.get(run)["state"] == "running"
    assert page.client.get(f"/evaluations/{run}/download").status_code == 409
    assert page.client.delete(f"/evaluations/{run}").json()["state"] == "finished"
    log = page.project.log(run)
    assert log.footer is not None
    assert log.footer.reason == "interrupted"
    assert sorted(one.status for one in log.results) == ["cancelled", "passed"]
    last = list(page.events(run))[-1]
    assert (last.name, last.data["reason"]) == ("summary", "interrupted")


def test_a_suite_in_yaml_is_run_by_its_own_assertions(page: Page) -> None:
    suite = (
        "suite: named\nserver: plain\nmodel: fake\ntests:\n"
        "  - {name: a, prompt: seven, assertions: {must_call: [echo], answer_contains: [done]}}\n"
    )
    answer = page.post("/evaluations", suite, "whatever.yml")
    told = list(page.events(answer.json()["id"]))
    (result,) = [event.data for event in told if event.name == "test_case_result"]
    assert (result["suite"], result["status"], result["colour"], result["score"]) == (
        "named",
        "passed",
        "green",
        None,
    )
    assert [check["verdict"] for check in result["checks"]] == ["passed", "passed"]
    assert result["expected"] == [{"tool": "echo"}]


def test_what_cannot_be_run_is_told_line_by_line_and_leaves_nothing(page: Page) -> None:
    before = sorted(page.project.folder.glob(".harness/runs/*"))
    bad = TWO + '3,"Broken","Get Stock","{}","x"\r\n4,"Broken","echo","{oops}","x"\r\n'
    for path in ("/evaluations", "/evaluations/check"):
        answer = page.post(path, bad, "bad.csv")
        assert answer.status_code == 422
        assert [problem["line"] for problem in answer.json()["problems"]] == [4, 5]
        assert "probably 'get_stock'" in answer.json()["problems"][0]["meant"]
    streamed = page.post("/evaluations/run", bad, "bad.csv")
    assert streamed.status_code == 422
    (event,) = events(iter(streamed.text.split("\n")))
    assert (event.name, [problem["line"] for problem in event.data["problems"]]) == (
        "error",
        [4, 5],
    )
    assert sorted(page.project.folder.glob(".harness/runs/*")) == before


def test_an_argument_that_the_tool_does_not_have_ends_the_run_before_a_model_is_asked(
    page: Page,
) -> None:
    text = dataset(["seven"]).replace('{""n"": 7}', '{""m"": 7}')
    told = list(page.events(page.begin(text, model="lexical")))
    assert told[-1].name == "error"
    assert "m" in told[-1].data["problems"][0]["message"]
    assert "test_case_result" not in [event.name for event in told]


def test_a_check_says_what_a_run_would_be(page: Page) -> None:
    found = page.post(
        "/evaluations/check", TWO, "shop.csv", model="fake", server="plain", concurrency="3"
    ).json()
    assert (found["planned"], found["models"], found["servers"], found["concurrency"]) == (
        2,
        ["fake"],
        ["plain"],
        3,
    )
    assert found["suites"][0]["name"] == "shop"
    assert any("No judge" in note for note in found["notes"])


def test_options_of_a_run_hold_on_the_page_too(page: Page) -> None:
    asked = {"model": "fake", "server": "plain", "trials": "1..2", "concurrency": "1"}
    found = page.post("/evaluations/check", TWO, "shop.csv", **asked).json()
    assert found["planned"] == 4
    told = list(page.events(page.begin(TWO, **asked, max_tokens="1")))
    assert (told[-1].name, told[-1].data["reason"]) == ("summary", "budget")
    refused = page.post("/evaluations/check", TWO, "shop.csv", shard="1/2")
    words = "shard: not possible here: a run of the page is whole, on this machine"
    assert (refused.status_code, refused.json()["error"]) == (400, words)


def test_choices_are_names_alone_and_hold_no_key(page: Page) -> None:
    answer = page.client.get("/evaluations/options")
    assert [model["name"] for model in answer.json()["models"]] == ["lexical", "fake"]
    assert {"plain", "finance"} <= set(answer.json()["servers"])
    assert KEY not in answer.text
    assert "://" not in answer.text


def test_a_report_and_a_comparison_are_the_pages_that_the_command_line_writes(
    page: Page, ended: str
) -> None:
    report = page.client.get(f"/runs/{ended}/report")
    assert "Evaluation report" in report.text
    assert "unsafe" not in report.headers["content-security-policy"]
    comparison = page.client.get(f"/runs/compare?a={ended}&b={ended}")
    assert "<h1>Comparison" in comparison.text
    assert "unsafe" not in comparison.headers["content-security-policy"]
    assert page.client.get(f"/runs/compare?a={ended}&b=nothing").status_code == 404


@pytest.mark.parametrize("path", ["", "/events", "/download"])
@pytest.mark.parametrize("run", ["none", "..%2f..%2fharness.yml", "%2e%2e", "a%00b"])
def test_a_run_that_is_none_is_not_found(page: Page, run: str, path: str) -> None:
    answer = page.client.get(f"/evaluations/{run}{path}")
    assert (answer.status_code, "error" in answer.text or answer.status_code == 404) == (404, True)


def test_everything_of_the_api_is_documented_and_nothing_else(page: Page) -> None:
    api = page.client.get("/openapi.json").json()
    documented = {
        (method.upper(), path)
        for path, methods in api["paths"].items()
        for method in methods
        if "evaluations" in path
    }
    routes = make_app(None, Settings()).routes  # type: ignore[arg-type]
    served_ = {
        (method, route.path)
        for route in routes
        if isinstance(route, Route) and "evaluations" in route.path
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert documented == served_
    assert page.client.get("/docs").status_code == 200


def test_every_field_of_an_answer_is_documented(page: Page, told: list[Event], ended: str) -> None:
    known = {
        name: set(schema["properties"]) for name, schema in API["components"]["schemas"].items()
    }
    by_name = {event.name: set(event.data) for event in told}
    assert by_name["test_case_result"] == known["Result"]
    assert by_name["summary"] == known["Summary"]
    (past,) = (run for run in page.client.get("/evaluations").json()["runs"] if run["id"] == ended)
    assert set(past) == known["PastRun"] - {"error"}
    assert by_name["run"] | set(page.get(ended)) == known["Run"]


def test_every_refusal_of_an_upload_is_documented_where_one_can_be_sent() -> None:
    for path in ("/evaluations", "/evaluations/run", "/evaluations/check"):
        assert {"400", "408", "413", "415", "422", "503"} < API["paths"][path]["post"][
            "responses"
        ].keys(), path


@pytest.mark.anyio
async def test_what_runs_are_asked_for_by_is_checked_even_where_there_are_none(
    tmp_path: Path,
) -> None:
    empty = Evaluations(None, Settings(runs=tmp_path))  # type: ignore[arg-type]  # nobody waits
    with pytest.raises(HTTPException, match="'result' takes one of: passed, failed"):
        await empty.list_runs(Request({"type": "http", "query_string": b"result=bogus"}))


def test_a_damaged_log_hides_no_other(page: Page, ended: str) -> None:
    broken = page.project.folder / ".harness/runs/20990101T000000Z-broken-abc/log.jsonl"
    broken.parent.mkdir()
    broken.write_text("{}\n")
    try:
        runs = page.client.get("/evaluations").json()["runs"]
        assert runs[0]["result"] == "unreadable"
        assert ended in [run["id"] for run in runs]
        (event,) = page.events(broken.parent.name)
        assert event.name == "error"
        assert page.client.get(f"/evaluations/{broken.parent.name}").status_code == 422
    finally:
        shutil.rmtree(broken.parent)


def test_fields_and_file_names_of_a_client_that_lies_lead_nowhere(page: Page) -> None:
    before = {path for path in page.project.folder.rglob("*") if ".harness" not in path.parts}
    for name in ("../../../evil.csv", "C:\\evil.csv"):
        body, kind = multipart({"model": "fake", "server": "plain"}, TWO.encode(), name)
        answer = page.client.post(
            "/evaluations/check", content=body, headers={"content-type": kind}
        )
        assert answer.json()["suites"][0]["name"] == "evil", answer.text
    assert {
        path for path in page.project.folder.rglob("*") if ".harness" not in path.parts
    } == before
