"""Writes the tables of options in the docs: ``python -m tests.runner.planning.option_tables``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from harness.runner.planning.options import OPTIONS, Entrance, RunOption, options_of

DOCS = Path(__file__).parents[3] / "docs"
PAGES = (DOCS / "options.md", DOCS / "pytest.md")
_BLOCK = re.compile(
    r"(?P<begin><!-- options: (?P<name>\w+) -->\n\n).*?(?P<end>\n<!-- end -->)", re.DOTALL
)
_ENTRANCES: tuple[Entrance, ...] = ("command line", "python", "pytest", "page")


def filled(page: Path) -> str:
    """Return the text of ``page`` with the tables of the code."""
    tables = {"all": every_option, "pytest": pytest_options, "absent": absent_options}

    def fill(block: re.Match[str]) -> str:
        rows = "".join(f"{row}\n" for row in tables[block["name"]]())
        return f"{block['begin']}{rows}{block['end']}"

    return _BLOCK.sub(fill, page.read_text("utf-8"))


def every_option() -> Iterable[str]:
    yield "| `harness evals` | `harness.run` | `pytest` | the page | |"
    yield "|---|---|---|---|---|"
    for option in OPTIONS:
        names = (
            "–" if entrance in option.absent else _code(_as_typed(option, entrance))
            for entrance in _ENTRANCES
        )
        yield f"| {' | '.join(names)} | {option.help_at('python')} |"


def _as_typed(option: RunOption, entrance: Entrance) -> str:
    name = option.spelled_at(entrance)
    if entrance != "command line":
        return name
    return " ".join(filter(None, [name, option.metavar]))


def pytest_options() -> Iterable[str]:
    yield "| option | in `pytest.ini` or `pyproject.toml` | |"
    yield "|---|---|---|"
    for option in options_of("pytest"):
        name = " ".join(filter(None, [option.spelled_at("pytest"), option.metavar]))
        yield f"| {_code(name)} | `harness_{option.key}` | {option.help_at('pytest')} |"


def absent_options() -> Iterable[str]:
    yield "| option | not in | because |"
    yield "|---|---|---|"
    for option in OPTIONS:
        for entrance, why in option.absent.items():
            place = {"python": "Python", "page": "the page"}.get(entrance, entrance)
            yield f"| `{option.spelled_at('command line')}` | {place} | {why} |"


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(filled(page), encoding="utf-8")
