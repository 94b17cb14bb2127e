"""A comparison for a pull request (Markdown), and its statistics for a browser (HTML)."""

from __future__ import annotations

import html
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TextIO

from harness.base import printable
from harness.reports.comparing import sentences as words
from harness.reports.comparing.nouns import Comparison, Contrast
from harness.reports.formats.markdown_report import code


def write_comparison_markdown(comparison: Comparison, stream: TextIO) -> None:
    """Write Markdown in which nothing from a suite or server is markup."""
    stream.writelines(_page(comparison, _Markdown()))


def statistics_html(comparison: Comparison) -> str:
    """Return the sides, the settings and the statistics as HTML, without the cases."""
    return "".join(_page(comparison, _Html()))


class _Markdown:
    """How the parts of a page are written in Markdown."""

    lists_cases = True

    def heading(self, level: int, text: str) -> str:
        return f"{'#' * level} {text}\n\n"

    def paragraph(self, text: str) -> str:
        return f"{text}\n\n"

    def items(self, texts: Iterable[str]) -> str:
        return "".join(f"- {text}\n" for text in texts) + "\n"

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        lines = [columns, ["---"] * len(columns), *rows]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n"

    def folded(self, title: str, body: str) -> str:
        return f"<details><summary>{title}</summary>\n\n{body}</details>\n\n"

    def code(self, text: str) -> str:
        return code(text)

    def text(self, text: str) -> str:
        return html.escape(text)


class _Html:
    """How the parts of a page are written in HTML; its cases are data beside it."""

    lists_cases = False

    def heading(self, level: int, text: str) -> str:
        return f"<h{level}>{text}</h{level}>\n"

    def paragraph(self, text: str) -> str:
        return f"<p>{text}</p>\n"

    def items(self, texts: Iterable[str]) -> str:
        return f"<ul>{''.join(f'<li>{text}</li>' for text in texts)}</ul>\n"

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        head = "".join(f'<th scope="col">{cell}</th>' for cell in columns)
        body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in rows)
        name = html.escape(f"Table: {', '.join(filter(None, columns))}", quote=True)
        return (
            f'<div class="scroll" role="region" tabindex="0" aria-label="{name}"><table><thead>'
            f"<tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>\n"
        )

    def folded(self, title: str, body: str) -> str:
        return f"<details><summary>{title}</summary>\n{body}</details>\n"

    def code(self, text: str) -> str:
        return f"<code>{html.escape(printable(text))}</code>"

    def text(self, text: str) -> str:
        return html.escape(text)


def _page(comparison: Comparison, form: _Markdown | _Html) -> Iterator[str]:
    verdicts = ", ".join(words.heading(contrast) for contrast in comparison.contrasts)
    yield form.heading(1, form.text(f"Comparison: {verdicts}"))
    rows = [words.side_row(side) for side in comparison.sides]
    yield form.table(words.SIDE_COLUMNS, _cells(rows, form, {1, 2}))
    unsound = [told for side in comparison.sides for told in words.unsound(side)]
    yield form.items(map(form.text, unsound)) if unsound else ""
    if comparison.by_people:
        yield form.paragraph(words.BY_PEOPLE)
    for contrast in comparison.contrasts:
        yield from _contrast(contrast, comparison, form)


def _contrast(contrast: Contrast, comparison: Comparison, form: _Markdown | _Html) -> Iterator[str]:
    overall = contrast.effects[0]
    yield form.heading(2, form.text(words.heading(contrast)))
    yield form.paragraph("What differs in the setting:")
    yield form.items(map(form.code, contrast.differences or ("nothing that the logs record",)))
    note = f". {words.UNJUDGED}" if overall.not_judged else ""
    yield form.paragraph(form.text(words.counts(overall) + note))
    yield form.items(map(form.text, words.sentences(overall, comparison)))
    effects = [words.effect_row(effect) for effect in contrast.effects]
    yield form.table(words.EFFECT_COLUMNS, _cells(effects, form, {0}))
    columns = ("case", contrast.before.name, contrast.after.name)
    for change in words.CHANGES if form.lists_cases else ():
        rows = [words.case_row(pair, contrast) for pair in words.moved(contrast, change)]
        if rows:
            body = form.table(columns, _cells(rows, form, {0}))
            title = f"{change} ({len(rows)})"
            yield form.folded(title, body) if change == "same" else form.heading(3, title) + body
    rest = list(words.not_shared(contrast))
    if rest:
        yield form.items(map(form.code, rest))


def _cells(
    rows: Iterable[Sequence[str]], form: _Markdown | _Html, names: Collection[int]
) -> list[list[str]]:
    """Return ``rows`` in ``form``; the columns ``names`` contain names by suites or users."""
    return [
        [form.code(cell) if column in names else form.text(cell) for column, cell in enumerate(row)]
        for row in rows
    ]
