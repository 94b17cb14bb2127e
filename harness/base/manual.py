"""The documentation's address, and what messages call its pages."""

from __future__ import annotations

SITE: str | None = None
"""The address of the published site, with a slash at its end.

``None``: it is not published. Messages then name a page by its file in the source."""


def locate_page(name: str, site: str | None = SITE) -> str:
    """Return where to read the page ``name``, such as ``suites``: an address, or a file."""
    return f"docs/{name}.md" if site is None else f"{site}{name}.html"


ABOUT_COMMAND = {
    "call": "servers",
    "compare": "compare",
    "convert": "datasets",
    "evals": "suites",
    "export": "telemetry",
    "fetch": "leaderboards",
    "grade": "run-log",
    "init": "init",
    "judge-check": "judge",
    "lint": "lint",
    "merge": "run-log",
    "models": "models",
    "plan": "statistics",
    "probe": "policies",
    "proxy-stdio": "agents",
    "query": "query",
    "record": "agents",
    "review": "web",
    "runs": "reports",
    "serve": "web",
    "tools": "servers",
    "view": "reports",
    "workbench": "workbench",
}
"""Command → the page that explains it; ``harness completion`` explains itself."""
