"""The pages that people write, as the site has them: links lead within the site.

A page of ``docs/`` keeps its path; those at the top of the repository are named in `AT_THE_TOP`.
A link to a file that is not on the site, such as a source file, becomes its words and the path.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
AT_THE_TOP = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
"""Page at the top of the repository → page of the site."""
PICTURES = (".png", ".svg")

_FENCE = re.compile(r"^ *(?P<marks>`{3,}|~{3,})")
_CODE = re.compile(r"(`+)(?:.*?[^`])\1(?!`)")
_LINK = re.compile(r"(?P<picture>!?)\[(?P<words>[^][]*)\]\((?P<to>[^)\s]+)\)")
_ITEM = re.compile(r"^(?:[-*+] |\d+\. )")
_INDENT = 4
"""Spaces before what belongs to an item of a list; GitHub's Markdown takes fewer."""


def pages(root: Path = ROOT) -> dict[str, str]:
    """Return every page: its path in the repository → its path on the site."""
    below = sorted((root / "docs").rglob("*.md"))
    return {
        **{name: page for name, page in AT_THE_TOP.items() if (root / name).exists()},
        **{path.relative_to(root).as_posix(): _in_docs(root, path) for path in below},
    }


def copy_pages(to: Path, root: Path = ROOT) -> None:
    """Write all pages and pictures into the folder ``to``."""
    known = pages(root)
    for source, page in known.items():
        target = to / page
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(on_site((root / source).read_text("utf-8"), source, known, root), "utf-8")
    for picture in sorted((root / "docs").rglob("*")):
        if picture.suffix in PICTURES:
            target = to / _in_docs(root, picture)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(picture, target)


def on_site(text: str, source: str, known: dict[str, str], root: Path = ROOT) -> str:
    """Return the text of the page ``source`` as the site's generator reads it."""

    def linked(prose: str) -> str:
        return _LINK.sub(lambda link: _moved(link, source, known, root), prose)

    return "\n".join(_items_indented(_outside_code(text.split("\n"), linked)))


def _in_docs(root: Path, path: Path) -> str:
    return path.relative_to(root / "docs").as_posix()


def _moved(link: re.Match[str], source: str, known: dict[str, str], root: Path) -> str:
    """Return a link of ``source`` as it must be on the site; a dead one stays, to be found."""
    to, mark, heading = link["to"].partition("#")
    if not to or "://" in to or to.startswith("mailto:"):
        return link[0]
    file = posixpath.normpath(posixpath.join(posixpath.dirname(source), to))
    target = known.get(file) or (
        file.removeprefix("docs/") if file.endswith(PICTURES) and file.startswith("docs/") else None
    )
    if target is None and not (root / file).exists():
        return link[0]
    if target is None:
        return _path_instead(link["words"], file)
    near = posixpath.relpath(target, posixpath.dirname(known[source]) or ".")
    return f"{link['picture']}[{link['words']}]({near}{mark}{heading})"


def _path_instead(words: str, file: str) -> str:
    return f"{words} (`{file}`)"


def _outside_code(lines: list[str], change: Callable[[str], str]) -> Iterator[str]:
    """Yield ``lines``, those outside of fences and inline code changed."""
    fence: str | None = None
    for line in lines:
        opened = _FENCE.match(line)
        if fence is None and opened:
            fence = opened["marks"]
        elif fence is not None and line.strip() == fence:
            fence = None
        elif fence is None:
            yield _prose_changed(line, change)
            continue
        yield line


def _prose_changed(line: str, change: Callable[[str], str]) -> str:
    """Return ``line`` with the text of its links changed; code keeps what looks like a link."""
    kept: list[str] = []
    in_table = line.startswith("|")

    def hide(code: re.Match[str]) -> str:
        # the generator takes a bar in code for code, and shows the backslash that GitHub needs
        kept.append(code[0].replace(r"\|", "|") if in_table else code[0])
        return f"\0{len(kept) - 1}\0"

    def show(text: str) -> str:
        return re.sub(r"\0(\d+)\0", lambda at: kept[int(at[1])], text)

    return show(change(_CODE.sub(hide, line)))


def _items_indented(lines: Iterator[str]) -> Iterator[str]:
    """Yield ``lines`` with what belongs to an item of a list indented as far as is needed."""
    widths: list[int] = []  # of the items that are open, the outermost first
    fence: str | None = None
    ended = loose = False
    for line in lines:
        level, rest = _inside(line, widths)
        if fence is not None:
            fence = None if rest.strip() == fence else fence
        elif rest:
            loose = loose or (ended and level > 0)
            if loose and not ended and level < len(widths) and _ITEM.match(rest):
                yield ""  # the generator takes it for a part of the paragraph before it
            if level < len(widths) and (_ITEM.match(rest) or ended):
                del widths[level:]
            opened, item = _FENCE.match(rest), _ITEM.match(rest)
            fence = opened["marks"] if opened else None
            if item:
                widths.append(len(item[0]))
                loose = False
        ended = not rest  # an item goes on in the next line, indented or not, but not after a blank
        yield " " * (_INDENT * level) + rest if rest else rest


def _inside(line: str, widths: list[int]) -> tuple[int, str]:
    """Return in how many of the open items ``line`` stands, and the rest of it."""
    level = 0
    for width in widths:
        if not line.startswith(" " * width):
            break
        level, line = level + 1, line[width:]
    return level, line
