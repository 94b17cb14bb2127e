"""A comparison for a pull request (Markdown), and its statistics for a browser (HTML)."""

from __future__ import annotations

import html
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TextIO, TypeAlias

from harness.base import make_printable
from harness.reports.comparing import sentences
from harness.reports.comparing.comparison_types import Comparison, Contrast
from harness.reports.formats.markdown_report import format_code


def write_comparison_markdown(comparison: Comparison, stream: TextIO) -> None:
    """Write Markdown in which nothing from a suite or server is markup."""
    stream.writelines(_format_page(comparison, _Markdown()))


def statistics_html(comparison: Comparison) -> str:
    """Return the sides, the settings and the statistics as HTML, without the cases."""
    return "".join(_format_page(comparison, _Html()))


class _Markdown:
    """How the parts of a page are written in Markdown."""

    lists_cases = True

    def format_heading(self, level: int, text: str) -> str:
        return f"{'#' * level} {text}\n\n"

    def format_paragraph(self, text: str) -> str:
        return f"{text}\n\n"

    def format_list(self, texts: Iterable[str]) -> str:
        return "".join(f"- {text}\n" for text in texts) + "\n"

    def format_table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        lines = [columns, ["---"] * len(columns), *rows]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n"

    def format_details(self, title: str, body: str) -> str:
        return f"<details><summary>{title}</summary>\n\n{body}</details>\n\n"

    def format_code(self, text: str) -> str:
        return format_code(text)


class _Html:
    """How the parts of a page are written in HTML; its cases are data beside it."""

    lists_cases = False

    def format_heading(self, level: int, text: str) -> str:
        return f"<h{level}>{text}</h{level}>\n"

    def format_paragraph(self, text: str) -> str:
        return f"<p>{text}</p>\n"

    def format_list(self, texts: Iterable[str]) -> str:
        return f"<ul>{''.join(f'<li>{text}</li>' for text in texts)}</ul>\n"

    def format_table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        head = "".join(f'<th scope="col">{cell}</th>' for cell in columns)
        body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in rows)
        # What scrolls must be reachable by keyboard, and what is reachable needs a name.
        name = html.escape(f"Table: {', '.join(filter(None, columns))}", quote=True)
        return (
            f'<div class="scroll" role="region" tabindex="0" aria-label="{name}"><table><thead>'
            f"<tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>\n"
        )

    def format_details(self, title: str, body: str) -> str:
        return f"<details><summary>{title}</summary>\n{body}</details>\n"

    def format_code(self, text: str) -> str:
        return f"<code>{html.escape(make_printable(text))}</code>"


_Form: TypeAlias = _Markdown | _Html


def _format_page(comparison: Comparison, form: _Form) -> Iterator[str]:
    verdicts = ", ".join(sentences.format_verdict(contrast) for contrast in comparison.contrasts)
    yield form.format_heading(1, html.escape(f"Comparison: {verdicts}"))
    rows = [sentences.side_row(side) for side in comparison.sides]
    yield form.format_table(sentences.SIDE_COLUMNS, _format_cells(rows, form, {1, 2}))
    unsound = [told for side in comparison.sides for told in sentences.describe_unsound_run(side)]
    yield form.format_list(map(html.escape, unsound)) if unsound else ""
    if comparison.by_people:
        yield form.format_paragraph(sentences.BY_PEOPLE)
    for contrast in comparison.contrasts:
        yield from _format_contrast(contrast, comparison, form)


def _format_contrast(contrast: Contrast, comparison: Comparison, form: _Form) -> Iterator[str]:
    overall = contrast.effects[0]
    yield form.format_heading(2, html.escape(sentences.format_verdict(contrast)))
    yield form.format_paragraph("What differs in the setting:")
    differences = contrast.differences or ("nothing that the logs record",)
    yield form.format_list(map(form.format_code, differences))
    note = f". {sentences.UNJUDGED}" if overall.not_judged else ""
    yield form.format_paragraph(html.escape(sentences.format_changes(overall) + note))
    yield form.format_list(map(html.escape, sentences.describe_effect(overall, comparison)))
    effects = [sentences.effect_row(effect) for effect in contrast.effects]
    yield form.format_table(sentences.EFFECT_COLUMNS, _format_cells(effects, form, {0}))
    columns = ("case", contrast.before.name, contrast.after.name)
    for change in sentences.CHANGES if form.lists_cases else ():
        changed = sentences.select_changed(contrast, change)
        if rows := [sentences.case_row(pair, contrast) for pair in changed]:
            body = form.format_table(columns, _format_cells(rows, form, {0}))
            title = f"{change} ({len(rows)})"
            heading = form.format_heading(3, title) + body
            yield form.format_details(title, body) if change == "same" else heading
    if rest := list(sentences.not_shared(contrast)):
        yield form.format_list(map(form.format_code, rest))


def _format_cells(
    rows: Iterable[Sequence[str]], form: _Form, names: Collection[int]
) -> list[list[str]]:
    """Return ``rows`` in ``form``; the columns ``names`` contain names by suites or users."""
    return [
        [
            form.format_code(cell) if at in names else html.escape(cell)
            for at, cell in enumerate(row)
        ]
        for row in rows
    ]
