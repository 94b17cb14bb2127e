"""Requests that are refused: a person gets a page, a program JSON, and nobody a traceback."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.fake_provider import FakeProvider
from tests.web.support import KEY, Page, a_project, dataset, served

BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
TOKEN = "a-token-of-sixteen-characters"
ONE = dataset(["Say seven."])


@pytest.mark.parametrize("path", ["/evaluations/{}", "/evaluations/{}/events", "/runs/{}/report"])
@pytest.mark.parametrize("name", ["x" * 256, "x" * 5_000, "%00", "%ff", "é" * 200])
def test_a_run_whose_name_no_folder_can_have_is_not_found(page: Page, path: str, name: str) -> None:
    answer = page.client.get(path.format(name))
    assert (answer.status_code, "no such run" in answer.json()["error"]) == (404, True)


def test_a_browser_gets_a_page_and_a_program_json(page: Page) -> None:
    for path, status in (
        ("/runs/none/report", 404), ("/nowhere", 404), ("/runs/compare", 404),
        ("/evaluations?limit=x", 400),
    ):  # fmt: skip
        shown = page.client.get(path, headers=BROWSER)
        assert (shown.status_code, shown.headers["content-type"]) == (
            status,
            "text/html; charset=utf-8",
        )
        assert "<h1>" in shown.text
        assert shown.headers["content-security-policy"].startswith("default-src 'none'")
        plain = page.client.get(path)
        assert plain.status_code == status
        assert plain.json()["error"]


def test_what_a_page_of_a_refusal_says_is_text(page: Page) -> None:
    shown = page.client.get("/evaluations?result=%3Cscript%3E", headers=BROWSER)
    assert shown.status_code == 400
    assert "<script>" not in shown.text


def test_a_browser_without_the_token_gets_a_page_that_says_so(
    tmp_path: Path, provider: FakeProvider
) -> None:
    with served(a_project(tmp_path, provider), HARNESS_SERVE_TOKEN=TOKEN) as page:
        shown = page.client.get("/evaluation", headers=BROWSER)
        assert shown.status_code == 401
        assert "<h1>A token is needed</h1>" in shown.text
        assert TOKEN not in shown.text
        assert page.client.get("/evaluation").json()["error"].startswith("A token is needed")


def test_a_model_of_any_name_that_is_offered_can_be_chosen(
    tmp_path: Path, provider: FakeProvider
) -> None:
    project = a_project(tmp_path, provider)
    entry = {"type": "openai", "model": "m", "base_url": f"{provider.url}/v1", "api_key": "${KEY}"}
    names = ["GPT (large)", "größer", "a;b & c", "it's"]
    project.configure(models={"models": dict.fromkeys(names, entry)})
    with served(project, KEY=KEY) as page:
        offered = page.client.get("/evaluations/options").json()["models"]
        for name in names:
            assert {"name": name, "usable": True} in offered
            checked = page.post("/evaluations/check", ONE, model=name, server="finance")
            assert checked.status_code == 200, checked.text
            assert checked.json()["models"] == [name]


@pytest.mark.slow
def test_as_many_uploads_at_once_as_the_queue_takes_are_all_taken(
    tmp_path: Path, provider: FakeProvider
) -> None:
    def post(page: Page) -> int:
        answer = page.post("/evaluations", ONE, model="fake", server="plain")
        return int(answer.status_code)

    options = ("--at-once", "1", "--queue", "13")
    with served(a_project(tmp_path, provider), *options) as page, ThreadPoolExecutor(14) as pool:
        assert list(pool.map(post, [page] * 14)) == [202] * 14
