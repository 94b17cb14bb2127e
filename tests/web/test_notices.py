"""What a run assumed stands beside what it is about, as a quiet line and no notice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.end_to_end.harness_process import Project
from tests.web.support import served

pytestmark = pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
BASELINE = "The built-in baseline 'lexical' answers. It is not an LLM."
NO_JUDGE = "No judge is named for sample: faithfulness is scored by keywords and grounding"
TEXTS = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)"
STATE = "return document.getElementById('state').textContent"


@pytest.mark.slow
def test_what_a_plan_assumed_is_a_quiet_line_of_the_form_and_of_the_results(
    tmp_path: Path, browser: Browser
) -> None:
    with served(Project(tmp_path, {})) as page:
        browser.open(f"{page.url}/evaluation")
        sample = page.client.get("/evaluations/sample").text
        browser.run(
            "const chosen = new DataTransfer(); const at = document.getElementById('file');"
            "chosen.items.add(new File([arguments[0]], 'sample.csv')); at.files = chosen.files;"
            "at.dispatchEvent(new Event('change'))",
            sample,
        )
        browser.until(lambda: browser.run(TEXTS, "#verdict .fine"))
        quiet = browser.run(TEXTS, "#verdict .fine .dim")
        assert BASELINE in quiet
        assert any(words.startswith(NO_JUDGE) for words in quiet)
        assert browser.run(TEXTS, ".notice:not(noscript *)") == []
        browser.run("document.getElementById('run').click()")
        browser.until(lambda: browser.run(STATE).startswith("All tests have ended."))
        (line,) = browser.run(TEXTS, "#notes .assumed")
        assert BASELINE in line
        assert NO_JUDGE in line
        assert browser.run(TEXTS, "#notes .notice") == []
        assert browser.complaints() == []
