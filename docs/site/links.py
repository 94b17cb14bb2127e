"""What must hold in the built site.

Every link leads to a file and a heading, nothing is loaded from elsewhere, and each page has as
many lists, tables and listings as its Markdown has where GitHub shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt

_LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
"""Element → the attribute by which a browser loads something at once."""
_SHAPE = {
    "fence": "pre",
    "table_open": "table",
    "list_item_open": "li",
    "heading_open": "h",
}
"""Token of Markdown → element of the page."""
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


@dataclass
class BuiltPage(HTMLParser):
    """One page of the built site."""

    path: Path
    """Its file."""
    ids: set[str] = field(default_factory=set)
    """Everything that a link can lead to."""
    links: list[str] = field(default_factory=list)
    """The addresses that it links to or loads."""
    loads: list[str] = field(default_factory=list)
    """The addresses that a browser loads with it."""
    shape: Counter[str] = field(default_factory=Counter)
    """Element → how many of it the text has."""
    _in_text: bool = False

    def __post_init__(self) -> None:
        """Read the file."""
        super().__init__()
        self.feed(self.path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element has; see `HTMLParser`."""
        values = {name: value or "" for name, value in attrs}
        self._in_text = self._in_text or tag == "article"
        if "id" in values:
            self.ids.add(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if values.get(_LOADS.get(tag, ""), "") and values.get("rel") not in ("canonical", "next"):
            self.loads.append(values[_LOADS[tag]])
        if self._in_text:
            self.shape["h" if tag in _HEADINGS else tag] += 1

    def handle_endtag(self, tag: str) -> None:
        """Note where the text ends; see `HTMLParser`."""
        self._in_text = self._in_text and tag != "article"


def faults(site: Path, written: Path) -> Iterator[str]:
    """Yield what is wrong in the ``site`` that was built from the folder ``written``."""
    pages = {path: BuiltPage(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        yield from (f"{name}: it loads {to}" for to in page.loads if _is_elsewhere(to))
        if name != "404.html":  # its links hold from any folder, so they need the site's address
            yield from (f"{name}: {fault}" for fault in _dead(page, pages))
        markdown = written / Path(name).with_suffix(".md")
        if markdown.exists():
            yield from (f"{name}: {fault}" for fault in _lost(page, markdown.read_text("utf-8")))


def _is_elsewhere(address: str) -> bool:
    return bool(urlsplit(address).netloc)


def _dead(page: BuiltPage, pages: dict[Path, BuiltPage]) -> Iterator[str]:
    for address in (*page.links, *page.loads):
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
        if target.is_dir():
            target /= "index.html"
        if not target.exists():
            yield f"the link {address} leads nowhere"
        elif (
            parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids
        ):
            yield f"{target.name} has no heading for the link {address}"


def _lost(page: BuiltPage, markdown: str) -> Iterator[str]:
    """Yield what the Markdown has, as GitHub reads it, and the page does not."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    wanted = Counter(_SHAPE[token.type] for token in tokens if token.type in _SHAPE)
    for element, count in sorted(wanted.items()):
        if page.shape[element] != count:
            yield f"its text has {count} <{element}>, the page {page.shape[element]}"
