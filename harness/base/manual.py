"""The documentation's address, and what messages call its pages."""

from __future__ import annotations

SITE: str | None = None
"""The address of the published site, with a slash at its end.

``None``: it is not published. Messages then name a page by its file in the source."""


def locate_page(name: str, site: str | None = SITE) -> str:
    """Return where to read the page ``name``, such as ``suites``: an address, or a file."""
    return f"docs/{name}.md" if site is None else f"{site}{name}.html"


ABOUT_COMMAND = {
    **{name: name for name in ("compare", "init", "lint", "login", "models", "query", "workbench")},
    **dict.fromkeys(("call", "tools"), "servers"),
    **dict.fromkeys(("grade", "merge"), "run-log"),
    **dict.fromkeys(("proxy-stdio", "record"), "agents"),
    **dict.fromkeys(("review", "serve"), "web"),
    **dict.fromkeys(("runs", "view"), "reports"),
    "conformance": "protocol",
    "convert": "datasets",
    "evals": "suites",
    "export": "telemetry",
    "fetch": "leaderboards",
    "judge-check": "judge",
    "lock": "replay",
    "mcp": "coding_agents",
    "plan": "statistics",
    "probe": "policies",
}
"""Command → the page that explains it; ``harness completion`` explains itself."""
