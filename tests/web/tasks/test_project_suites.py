"""The project's own suites: listed with their last result, and run from a page on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from selenium.webdriver.common.by import By

from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.end_to_end.harness_process import Project, plain_server
from tests.fake_provider import FakeProvider
from tests.web.support import KEY, Page, a_project, served

NEED = pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
CASE = "  - name: {name}\n    prompt: {prompt}\n    assertions: {{must_call: [{{tool: echo}}]}}\n"
RUN = "return new URLSearchParams(location.search).get('run')"


def a_suite(name: str, prompts: dict[str, str], more: str = "") -> str:
    cases = "".join(CASE.format(name=case, prompt=text) for case, text in prompts.items())
    return f"suite: {name}\n{more}tests:\n{cases}"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, provider: FakeProvider) -> Iterator[Page]:
    project = a_project(tmp_path_factory.mktemp("own"), provider)
    write(project, "evals/plain.yml", a_suite("plain", {"seven": "Say seven."}))
    variants = "server: plain\nvariants:\n  vague:\n    tools: {echo: {description: Thing.}}\n"
    prompts = {"seven": "Say seven.", "lost": "This one is wrong."}
    write(project, "evals/sub/mixed.yml", a_suite("mixed", prompts, variants))
    write(project, "evals/broken.yml", "suite: broken\ntest: []\n")
    write(project, "evals/starts.yml", a_suite("starts", {"x": "Say seven."}, _starting()))
    with served(project) as page:
        yield page


def _starting() -> str:
    return f"server: {json.dumps(plain_server(protocol='legacy'))}\n"


def write(page_of: Project, name: str, text: str) -> None:
    path = page_of.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def listed(page: Page) -> dict[str, Any]:
    answer = page.client.get("/evaluations/suites").json()
    assert answer["offered"] is True
    return {one["name"]: one for one in answer["suites"]}


def begin(page: Page, *suites: str, **fields: Any) -> Any:
    form = {"suite": [*suites], "model": "fake", **fields}
    parts = [
        (key, (None, one))
        for key, given in form.items()
        for one in ([given] if isinstance(given, str) else given)
    ]
    return page.client.post("/evaluations/suites", files=parts)


def ended(page: Page, *suites: str, **fields: Any) -> str:
    answer = begin(page, *suites, **fields)
    assert answer.status_code == 202, answer.text
    run = str(answer.json()["id"])
    page.until(run, "summary")
    return run


def test_every_suite_is_listed_with_its_cases_its_variants_and_what_is_wrong(own: Page) -> None:
    found = listed(own)
    assert set(found) == {"plain", "mixed", "starts", "evals/broken.yml"}
    assert (found["mixed"]["cases"], found["mixed"]["variants"]) == (2, ["vague"])
    assert found["mixed"]["file"] == "evals/sub/mixed.yml"
    assert "test" in found["evals/broken.yml"]["problem"]


def test_a_suite_runs_with_variants_its_failures_again_and_the_list_says_how_it_ended(
    own: Page,
) -> None:
    run = ended(own, "evals/sub/mixed.yml", variant=["none", "vague"])
    last = listed(own)["mixed"]["last"]
    assert (last["id"], last["failed"]) == (run, True)
    assert [(one["passed"], one["judged"]) for one in last["rates"]] == [(1, 2), (1, 2)]
    again = ended(own, "evals/sub/mixed.yml", failed_of=run)
    counts = own.get(again)["summary"]["counts"]
    assert (counts["planned"], counts["failed"]) == (1, 1)


def test_a_suite_of_the_project_starts_its_own_server_and_an_upload_still_may_not(
    own: Page,
) -> None:
    run = ended(own, "evals/starts.yml", "evals/plain.yml")
    assert own.get(run)["summary"]["counts"]["passed"] == 2
    text = (own.project.folder / "evals/starts.yml").read_text()
    assert own.post("/evaluations", text, "starts.yml", model="fake").status_code == 422
    asked = own.client.get(f"/evaluations/{run}/suite").json()
    assert sorted(asked["suites"]) == ["evals/plain.yml", "evals/starts.yml"]


def test_a_changed_suite_is_read_again(own: Page) -> None:
    write(own.project, "evals/new.yml", a_suite("new", {"a": "Say seven."}))
    assert listed(own)["new"]["cases"] == 1
    write(own.project, "evals/new.yml", a_suite("new", {"a": "Say seven.", "bb": "Say seven."}))
    assert listed(own)["new"]["cases"] == 2
    (own.project.folder / "evals/new.yml").unlink()
    assert "new" not in listed(own)


@pytest.mark.parametrize(
    "name",
    [
        "../secret.yml",
        "evals/../secret.yml",
        "secret.yml",
        "/etc/passwd",
        "finance",
        "plain",
    ],
)
def test_nothing_but_a_listed_file_is_run(own: Page, name: str) -> None:
    write(own.project, "secret.yml", a_suite("secret", {"a": "Say seven."}))
    refused = begin(own, name)
    assert refused.status_code == 422
    assert "there is no suite" in refused.json()["problems"][0]["message"]


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"variant": "evals/plain.yml"}, 422),
        ({"variant": "evals/plain.yml:x"}, 422),
        ({"variant": "gone"}, 422),
        ({"model": "openai:gpt-4o"}, 422),
        ({"server": "python x.py"}, 422),
        ({"agent": "claude-code"}, 400),
        ({"mcp_config": "/etc/passwd"}, 400),
        ({"suite": []}, 400),
    ],
)
def test_what_an_upload_may_not_choose_a_suite_may_not_either(
    own: Page, fields: dict[str, Any], status: int
) -> None:
    form = {"suite": ["evals/plain.yml"], **fields}
    assert begin(own, *form.pop("suite"), **form).status_code == status


def test_a_page_of_another_site_starts_no_suite(own: Page) -> None:
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        parts = [("suite", (None, "evals/plain.yml"))]
        answer = own.client.post("/evaluations/suites", files=parts, headers=headers)
        assert answer.status_code == 403


@pytest.mark.slow
def test_a_page_that_others_can_reach_offers_no_suite_and_runs_none(own: Page) -> None:
    with served(own.project, "--host", "0.0.0.0", HARNESS_SERVE_TOKEN=KEY) as page:
        page.client.headers["authorization"] = f"Bearer {KEY}"
        page.client.base_url = page.url.replace("0.0.0.0", "127.0.0.1")
        answer = page.client.get("/evaluations/suites").json()
        assert (answer["offered"], answer["suites"]) == (False, [])
        assert begin(page, "evals/plain.yml").status_code == 403


def row(browser: Browser, name: str) -> Any:
    rows = browser.driver.find_elements(By.CSS_SELECTOR, "#rows tr")
    return next((one for one in rows if one.text.startswith(f"{name}\n")), None)


def press(browser: Browser, name: str, button: str) -> None:
    browser.until(lambda: row(browser, name))
    for one in row(browser, name).find_elements(By.TAG_NAME, "button"):
        if one.text == button:
            one.click()


def run_of(browser: Browser, page: Page) -> str:
    run = str(browser.until(lambda: browser.run(RUN)))
    page.until(run, "summary")
    return run


def choose_model(browser: Browser) -> None:
    """Choose the model ``fake``, once the list of models is shown."""
    box = browser.until(lambda: browser.run("return document.getElementById('model-fake')"))
    browser.until(box.is_displayed)
    box.click()


@NEED
@pytest.mark.slow
def test_a_suite_is_run_from_its_row_with_a_model_and_a_variant_and_then_its_failures(
    own: Page, browser: Browser
) -> None:
    browser.open(f"{own.url}/suites")
    choose_model(browser)
    browser.until(lambda: row(browser, "mixed")).find_element(
        By.CSS_SELECTOR, "input[value=vague]"
    ).click()
    press(browser, "mixed", "Run")
    run = run_of(browser, own)
    assert own.get(run)["models"] == ["fake+vague"]
    assert own.get(run)["summary"]["counts"]["planned"] == 2
    browser.open(f"{own.url}/suites")
    browser.until(lambda: row(browser, "mixed") and "1 of 2" in row(browser, "mixed").text)
    choose_model(browser)
    press(browser, "mixed", "Run failed")
    again = run_of(browser, own)
    assert own.get(again)["summary"]["counts"]["planned"] == 1
    # Where it is looked at, it is run again as it was asked, with its own server.
    browser.until(lambda: not browser.run("return document.getElementById('run-again').hidden"))
    browser.driver.find_element(By.ID, "run-again").click()
    browser.until(lambda: browser.run(RUN) not in (None, again))
    assert own.get(run_of(browser, own))["models"] == ["fake"]
    assert browser.complaints() == []


@NEED
@pytest.mark.slow
def test_the_list_follows_a_run_that_goes_on(own: Page, browser: Browser) -> None:
    browser.open(f"{own.url}/suites")
    browser.until(lambda: row(browser, "plain"))
    assert begin(own, "evals/plain.yml").status_code == 202
    browser.open(f"{own.url}/suites")
    browser.until(lambda: row(browser, "plain") and "1 of 1" in row(browser, "plain").text)
