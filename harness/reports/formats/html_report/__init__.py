"""HTML: the whole run on one page, in one file that needs nothing else and fetches nothing.

The page's markup, style and script are the files beside this one, put together when a report is
written. Nothing that a suite, a model or a server said is ever part of the markup: it travels as
JSON in blocks that no browser runs, and the script shows it as text alone. The page's own policy
says so once more: no network, no other style or script than these (by their digests), no markup
made from strings.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any, TextIO

from harness.reports.formats.html_report.detail import case_detail
from harness.reports.formats.html_report.overview import overview
from harness.reports.writers import Writer
from harness.runlog import RunLog
from harness.types import Report


def write_html(report: Report, log: RunLog, stream: TextIO) -> None:
    """Write the page, one case at a time, so that a large run needs little memory."""
    head, tail = _source("page.html").split("{data}")
    style, script = _source("style.css"), _source("script.js")
    head = head.replace("{style}", style).replace("{policy}", _policy(style, script))
    stream.write(head)
    stream.write(_block("overview", overview(report, log)))
    stream.writelines(
        _block(f"case-data-{number}", case_detail(case, log))
        for number, case in enumerate(report.cases)
    )
    stream.write(tail.replace("{script}", script))


WRITER = Writer(write=write_html, file_name="report.html", suffix=".html", media_type="text/html")
"""``--report html``."""


@cache
def _source(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _block(name: str, value: Any) -> str:
    """Return ``value`` as JSON that is safe inside an HTML script element."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json" id="{name}">{text}</script>\n'


def page_policy() -> str:
    """Return what the page allows itself, for a web server to say once more in a header."""
    return _policy(_source("style.css"), _source("script.js"))


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types "
        "'none'"
    )


def _digest(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
