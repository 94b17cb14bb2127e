"""Every picture of the pages can be taken again, and each one is shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.site.pages import ROOT, pages
from tests.browser import CHROMIUM, DRIVER, MISSING, Browser, a_browser
from tests.pictures.__main__ import main
from tests.pictures.looking import click, picture, press, scroll_to, wait_for, window
from tests.pictures.taken import PICTURES

SHOWN = re.compile(r"""(?:!\[[^]]*\]\(|<img src=")([^)"]+\.(?:png|svg))""")


def shown() -> set[str]:
    """Return the pictures that pages show, as paths from the top of the repository."""
    return {
        (ROOT / page).parent.joinpath(path).resolve().relative_to(ROOT).as_posix()
        for page in pages()
        for path in SHOWN.findall((ROOT / page).read_text("utf-8"))
    }


def test_every_picture_that_a_page_shows_is_taken_by_the_script() -> None:
    assert {f"docs/images/{name}" for name in PICTURES} == shown()


def test_every_picture_that_is_there_is_shown_somewhere() -> None:
    there = [path for path in (ROOT / "docs").rglob("*") if path.suffix in {".png", ".svg"}]
    assert {path.relative_to(ROOT).as_posix() for path in there} == shown()


def test_a_picture_that_nobody_knows_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gone.png"]) == 2
    assert "There is no picture gone.png" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(not (CHROMIUM and DRIVER), reason=MISSING)
def test_a_page_is_used_by_what_is_seen_on_it(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<h2>First</h2><button hidden>Open no</button>"
        "<button onclick=\"this.textContent = 'opened'\">Open</button>"
        "<div style='height: 2000px'></div><h2>Second</h2><div style='height: 2000px'></div>"
        "<script>onkeydown = (e) => document.title = e.key</script>"
    )
    with a_browser(tmp_path / "profile") as browser:
        browser.open(page.as_uri())
        click(browser, "Open")
        wait_for(browser, "opened")
        press(browser, "j")
        assert browser.driver.title == "j"
        window(browser, 300, 200)
        scroll_to(browser, "Second", above=20)
        assert top_of_second(browser) == pytest.approx(20, abs=1)
        assert picture(browser).startswith(b"\x89PNG")


def top_of_second(browser: Browser) -> float:
    script = "return document.querySelectorAll('h2')[1].getBoundingClientRect().top"
    return float(browser.run(script))
