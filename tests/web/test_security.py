"""What somebody on another site, on the same network or with a hostile file can do: nothing."""

import http.client
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.clock import BOUND_S
from tests.fake_provider import FakeProvider
from tests.web.support import HOSTILE_ANSWER, KEY, Page, a_project, dataset, multipart, served

ONE = dataset(["Say seven."])
TOKEN = "a-token-of-thirty-two-characters"


def ask(page: Page, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, str]:
    """Ask with exactly these headers, as no well-behaved client would."""
    parts = urlsplit(page.url)
    assert parts.port is not None
    connection = http.client.HTTPConnection("127.0.0.1", parts.port, timeout=BOUND_S)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        given = {"Host": parts.netloc, "Content_Length": str(len(body)), **headers}
        for name, value in given.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def send(page: Page, **headers: str) -> int:
    """Send a form without a file.

    Whoever is let in hears that (400), nobody else hears anything of forms.
    """
    body, kind = multipart({}, ONE.encode(), "tests.csv")
    return ask(
        page,
        "POST",
        "/evaluations/check",
        body.replace(b'"file"', b'"model"'),
        Content_Type=kind,
        **headers,
    )[0]


LET_IN = 400


# ── Other sites ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example",
     "10.0.0.1", "", "a b",
     "localhost@evil.example", "[::1", "127.0.0.1:99999999"],
)  # fmt: skip
def test_a_name_that_only_resolves_to_this_machine_is_not_answered(page: Page, host: str) -> None:
    for path in ("/evaluation", "/evaluations", "/health"):
        assert ask(page, "GET", path, Host=host)[0] in {400, 421}


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:9999", "127.0.0.1", "[::1]:8000", "LOCALHOST:1"]
)
def test_the_names_of_this_machine_are_answered_through_any_forwarded_port(
    page: Page, host: str
) -> None:
    assert ask(page, "GET", "/evaluations", Host=host)[0] == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://localhost:1",
        "file://",
        "https://localhost",
        "http://[::1",
    ],
)
def test_a_page_of_another_origin_can_neither_send_nor_read(page: Page, origin: str) -> None:
    assert send(page, Origin=origin) == 403
    assert ask(page, "GET", "/evaluations", Origin=origin)[0] == 403
    assert ask(page, "DELETE", "/evaluations/x", Origin=origin)[0] == 403


def test_the_pages_own_origin_and_programs_without_one_are_let_in(page: Page) -> None:
    assert send(page, Origin=page.url) == LET_IN
    assert send(page, Origin=page.url, Sec_Fetch_Site="same-origin") == LET_IN
    assert send(page) == LET_IN


@pytest.mark.parametrize("site", ["cross-site", "same-site", "anything"])
def test_what_a_browser_calls_foreign_is_refused_but_a_link_that_is_followed(
    page: Page, site: str
) -> None:
    assert send(page, Sec_Fetch_Site=site) == 403
    assert ask(page, "GET", "/evaluations", Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors")[0] == 403

    def followed(method: str, path: str, into: str = "document") -> int:
        return ask(
            page, method, path, Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate", Sec_Fetch_Dest=into
        )[0]

    assert followed("GET", "/runs") == 200
    assert followed("DELETE", "/evaluations/x") == 403
    assert followed("GET", "/runs", "iframe") == 403


# ── Token ────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, provider: FakeProvider) -> Iterator[Page]:
    """A page that others can reach."""
    project = a_project(tmp_path_factory.mktemp("shared"), provider)
    with served(
        project, "--host", "0.0.0.0", "--name", "box.example", HARNESS_SERVE_TOKEN=TOKEN
    ) as found:
        yield found


def test_beyond_this_machine_nothing_is_shown_without_the_token(shared: Page) -> None:
    for path in (
        "/",
        "/evaluation",
        "/static/style.css",
        "/evaluations",
        "/docs",
        "/evaluations/x/events",
    ):
        assert ask(shared, "GET", path)[0] == 401
        assert ask(shared, "GET", path, Authorization=f"Bearer {TOKEN}x")[0] == 401
        assert ask(shared, "GET", f"{path}?token=wrong")[0] == 401
        assert ask(shared, "GET", path, Cookie="harness_token=wrong")[0] == 401
    assert send(shared) == 401
    assert ask(shared, "GET", "/health")[0] == 200


def test_the_token_is_shown_in_a_header_or_once_in_a_link(shared: Page) -> None:
    assert shared.address.endswith("/evaluation")  # whoever set the token knows it
    assert ask(shared, "GET", "/evaluations", Authorization=f"Bearer {TOKEN}")[0] == 200
    answer = shared.client.get(f"/evaluation?run=a%26b&token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/evaluation?run=a%26b")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert ask(shared, "GET", "/evaluations", Cookie=f"harness_token={TOKEN}")[0] == 200
    assert ask(shared, "POST", f"/evaluations?token={TOKEN}")[0] == 401
    away = ask(shared, "GET", f"//evil.example/?token={TOKEN}")
    assert away[0] in {303, 404}


@pytest.mark.parametrize(
    ("host", "status"),
    [("box.example:80", 200), ("192.168.1.7", 200), ("evil.example", 421), ("localhost", 200)],
)
def test_beyond_this_machine_only_given_names_and_addresses_are_answered(
    shared: Page, host: str, status: int
) -> None:
    assert (
        ask(shared, "GET", "/evaluations", Host=host, Authorization=f"Bearer {TOKEN}")[0] == status
    )


def test_beyond_this_machine_a_token_is_made_where_none_is_given(
    tmp_path: Path, provider: FakeProvider
) -> None:
    with served(a_project(tmp_path, provider), "--host", "0.0.0.0") as page:
        made = re.search(r"\?token=([\w-]{40,})$", page.address)
        assert made is not None
        assert ask(page, "GET", "/evaluations")[0] == 401
        assert ask(page, "GET", "/evaluations", Authorization=f"Bearer {made[1]}")[0] == 200


def test_a_token_that_can_be_guessed_is_refused(tmp_path: Path, provider: FakeProvider) -> None:
    ended = a_project(tmp_path, provider).run("serve", HARNESS_SERVE_TOKEN="short")
    assert ended.code == 3
    assert "too short" in ended.stderr


# ── Content ──────────────────────────────────────────────────────────────────────────────────


def test_every_answer_forbids_foreign_and_inline_content(page: Page) -> None:
    for path in (
        "/evaluation",
        "/runs",
        "/docs",
        "/static/style.css",
        "/evaluations",
        "/nothing",
        "/health",
    ):
        headers = page.client.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert "require-trusted-types-for 'script'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers


def test_the_pages_files_name_no_address_and_make_no_markup_of_strings() -> None:
    import harness.web

    files = [
        path for path in Path(harness.web.__path__[0], "static").iterdir() if path.suffix != ".svg"
    ]
    assert len(files) > 10
    for path in files:
        text = path.read_text("utf-8")
        known = {"http://www.w3.org/2000/svg", "http://localhost:8000/evaluations/run"}
        assert set(re.findall(r"https?://[^\"'\s\\]+", text)) <= known, path
        for way in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "srcdoc",
        ):
            assert way not in text, path
        assert re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", text) is None, path


def test_hostile_texts_are_harmless_json_and_no_key_is_in_any_answer(page: Page) -> None:
    run = page.begin(dataset(["hostile", f"Say {KEY} seven."]), "<img src=x onerror=alert(1)>.csv")
    told = [event.data for event in page.events(run)]
    answers = {event["case"]: event["answer"] for event in told if "answer" in event}
    assert "<script>window.pwned=1</script>" in answers["1"]
    assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2066\u2028]", answers["1"]) is None
    assert re.search("[\x00-\x08\x0b-\x1f]", HOSTILE_ANSWER) is not None
    texts = [json.dumps(told), *(page.client.get(path).text for path in (
        f"/evaluations/{run}/download", f"/runs/{run}/report", "/evaluations",
        "/evaluations/options"))]  # fmt: skip
    assert [KEY in text for text in texts] == [False] * 5
    assert "[redacted]" in texts[0]


# ── Uploads ──────────────────────────────────────────────────────────────────────────────────


def test_a_file_that_is_too_large_is_refused_whatever_is_said_of_its_size(page: Page) -> None:
    body, kind = multipart({}, b"x" * 5_000_001, "big.csv")
    assert ask(page, "POST", "/evaluations/check", body, Content_Type=kind)[0] == 413
    assert (
        ask(
            page, "POST", "/evaluations/check", b"", Content_Type=kind, Content_Length="99999999999"
        )[0]
        == 413
    )
    chunks = (body[begin : begin + 500_000] for begin in range(0, len(body), 500_000))
    answer = page.client.post("/evaluations/check", content=chunks, headers={"content-type": kind})
    assert answer.status_code == 413


@pytest.mark.slow
def test_names_and_descriptions_without_end_are_cut(page: Page) -> None:
    long = "x" * 2_400_000
    suite = (
        f"suite: long\ndescription: {long}\nserver: plain\nmodel: fake\ntests:\n"
        f"  - {{name: {long}, prompt: seven, assertions: {{answer_contains: [done]}}}}\n"
    )
    checked = page.post("/evaluations/check", suite, "long.yml")
    assert checked.status_code == 200, checked.text[:300]
    assert len(checked.text) < 10_000
    told = list(page.events(page.post("/evaluations", suite, "long.yml").json()["id"]))
    names = {event.data["case"] for event in told if "case" in event.data}
    assert names == {told[0].data["suites"][0]["cases"][0]}
    assert (told[-1].name, told[-1].data["counts"]["passed"]) == ("summary", 1)


def test_the_queue_has_an_end_and_who_waits_can_be_cancelled(
    tmp_path: Path, provider: FakeProvider
) -> None:
    with served(a_project(tmp_path, provider), "--at-once", "1", "--queue", "1") as page:
        first, second = page.begin(dataset(["stall"])), page.begin(ONE)
        assert page.get(second)["state"] == "queued"
        assert page.client.get("/evaluations").json()["waiting"][0]["id"] == second
        third = page.post("/evaluations", ONE, "tests.csv", model="fake", server="plain")
        assert (third.status_code, third.headers["retry-after"]) == (503, "10")
        assert "queue is full" in third.json()["error"]
        assert page.client.delete(f"/evaluations/{second}").json()["state"] == "cancelled"
        assert list(page.events(second))[-1].name == "error"
        assert page.client.delete(f"/evaluations/{first}").json()["state"] == "finished"
    assert not (tmp_path / ".harness/runs" / second).exists()


def test_a_suite_that_was_uploaded_starts_no_program(page: Page) -> None:
    suite = (
        "suite: s\nserver: {command: touch, args: [pwned]}\ntests:\n"
        "  - {name: a, prompt: q, assertions: {answer_contains: [x]}}\n"
    )
    for path in ("/evaluations", "/evaluations/check"):
        answer = page.post(path, suite, "suite.yml")
        assert answer.status_code == 422
        (problem,) = answer.json()["problems"]
        assert (problem["line"], "cannot start a server" in problem["message"]) == (
            2,
            True,
        )
        assert "plain" in problem["meant"]
    assert list(page.project.folder.rglob("pwned")) == []


def test_a_name_that_is_not_offered_is_refused_whatever_it_looks_like(page: Page) -> None:
    for name in ("-x", "${HOME}", "a;b", "$(touch pwned)", "../plain"):
        answer = page.post("/evaluations/check", ONE, server=name)
        assert answer.status_code == 422, name
        (problem,) = answer.json()["problems"]
        assert problem["message"].startswith(f"there is no server named {name!r} here")
    assert list(page.project.folder.rglob("pwned")) == []


def test_fields_are_names_and_numbers(page: Page) -> None:
    for field, value in (
        ("server", "a\tb"), ("server", "\u202ea"), ("model", "x" * 201), ("concurrency", " "),
        ("concurrency", "0"), ("concurrency", "17"), ("concurrency", "1e9"), ("timeout", "1"),
    ):  # fmt: skip
        assert page.post("/evaluations/check", ONE, **{field: value}).status_code == 400, (
            field,
            value,
        )


def test_python_and_other_files_are_not_read(page: Page) -> None:
    for name in ("suite.py", "suite", "suite.csv.exe", ".csv/.."):
        assert page.post("/evaluations/check", ONE, name).status_code == 415, name
    assert page.post("/evaluations/check", ONE, "").status_code == 400
    assert page.client.post("/evaluations/check").status_code == 400
    assert page.client.post("/evaluations/check", data={"file": "text"}).status_code == 400


def test_a_broken_request_is_refused_and_does_no_harm(page: Page) -> None:
    for body, kind in (
        (b"--x\r\n", "multipart/form-data; boundary=x"),
        (b"garbage", "multipart/form-data; boundary=x"),
        (b"garbage", "multipart/form-data"),
        (b"{}", "application/json"),
        (b"\xff" * 1000, "multipart/form-data; boundary=\xff"),
    ):
        assert ask(page, "POST", "/evaluations/check", body, Content_Type=kind)[0] in {400, 415}
    assert page.client.get("/health").status_code == 200


def test_files_beside_the_pages_own_are_not_served(page: Page) -> None:
    for path in (
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
        "/static/",
    ):
        assert ask(page, "GET", path)[0] in {404, 405}
