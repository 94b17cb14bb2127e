"""Every option of a run, with its name at each entrance, from the table that all of them read."""

from __future__ import annotations

from docs.site.reference.markdown import as_code, fenced, plain, table
from harness.runner.planning.options import OPTIONS, Entrance, RunOption, options_of

_HEAD = """# Options

{example}
Every option of a run. [Options of a run](../options.md) explains how they are given.

"""
_ENTRANCES: tuple[Entrance, ...] = ("command line", "python", "pytest", "page")
_PLACES = {"python": "Python", "page": "the page"}


def options_page() -> str:
    """Return the page."""
    example = fenced("sh", "harness evals --help")
    head = ("`harness evals`", "`harness.run`", "`pytest`", "the page", "")
    pytest = table(
        ("option", "in `pytest.ini` or `pyproject.toml`"), map(_setting, options_of("pytest"))
    )
    absent = table(
        ("option", "not in", "because"),
        (
            (as_code(one.spelled_at("command line")), _PLACES.get(place, place), plain(why))
            for one in OPTIONS
            for place, why in one.absent.items()
        ),
    )
    return "\n".join(
        [
            _HEAD.format(example=example) + table(head, map(_row, OPTIONS)),
            f"## With pytest\n\n{pytest}",
            f"## What an entrance does not have\n\n{absent}",
        ]
    )


def _row(option: RunOption) -> tuple[str, ...]:
    names = (
        "–" if entrance in option.absent else _code(_as_typed(option, entrance))
        for entrance in _ENTRANCES
    )
    return (*names, plain(option.help_at("python")))


def _setting(option: RunOption) -> tuple[str, str]:
    typed = " ".join(filter(None, [option.spelled_at("pytest"), option.metavar]))
    return _code(typed), as_code(f"harness_{option.key}")


def _as_typed(option: RunOption, entrance: Entrance) -> str:
    name = option.spelled_at(entrance)
    return " ".join(filter(None, [name, option.metavar])) if entrance == "command line" else name


def _code(text: str) -> str:
    return as_code(text.replace("|", "\\|"))
