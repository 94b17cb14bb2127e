"""The page of the documentation says what is true."""

import re
from pathlib import Path
from typing import Any

from harness.cli.commands.serve import LEAST_TOKEN, TOKEN, command
from harness.reports.viewer.run_summary import ACCEPTABLE, GOOD, POOR
from harness.web.evaluations import Evaluations
from harness.web.project_suites import ProjectSuites
from harness.web.settings import Settings
from harness.web.viewer_endpoints import ViewerEndpoints

_DOCKER = re.compile(r"^docker .*?^```|--(?:volume|user)\b", re.DOTALL | re.MULTILINE)
PAGE = (Path(__file__).parents[2] / "docs" / "web.md").read_text("utf-8")


def test_every_limit_is_told_with_its_option() -> None:
    settings = Settings()
    rows = dict(re.findall(r"^\| [^|]+ \| ([^|]+) \| `(--[\w-]+)` \|$", PAGE, re.MULTILINE))
    assert {option: value.split()[0] for value, option in rows.items()} == {
        "--max-mb": str(settings.max_bytes // 1_000_000),
        "--max-cases": str(settings.max_cases),
        "--case-timeout": str(int(settings.case_timeout_s)),
        "--at-once": str(settings.at_once),
        "--queue": str(settings.queued),
    }
    known = {name for option in command.params for name in option.opts}
    others = {"--json-output", *re.findall(r"--[a-z-]+", " ".join(_DOCKER.findall(PAGE)))}
    assert set(re.findall(r"`?(--(?!no)[a-z][a-z-]+)", PAGE)) - others <= known


def test_every_call_that_is_told_is_there() -> None:
    told = set(re.findall(r"`([A-Z]+) (/evaluations[^`]*)`", PAGE))
    board: Any = None  # nobody asks anything of it
    settings = Settings()
    evaluations = Evaluations(board, settings)
    routes = [
        *ProjectSuites(board, settings, evaluations.catalog).routes(),
        *evaluations.routes(),
        *ViewerEndpoints(board, settings).routes(),
    ]
    assert told
    assert told <= {(method, route.path) for route in routes for method in (route.methods or set())}


def test_bands_and_colours_begin_where_the_page_says() -> None:
    assert f"| good | {GOOD} or more |" in PAGE
    assert f"| acceptable | {ACCEPTABLE} to 0.89 |" in PAGE
    assert f"| red | below {POOR} |" in PAGE
    assert f"`${TOKEN}` ({LEAST_TOKEN} characters or more)" in PAGE


def test_every_picture_is_there() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\((images/[\w-]+\.png)\)", PAGE)
    assert len(pictures) == 5
    assert [
        name for name in pictures if not (Path(__file__).parents[2] / "docs" / name).is_file()
    ] == []
