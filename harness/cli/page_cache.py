"""The page of a run that `harness view` has written before, and need not write again.

That is noted in the user's cache, and not beside the log: a browser runs the page's script, and a
folder from somebody else could bring both a page of their own and a note that vouches for it.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path

from harness.base import cache_root
from harness.reports import review_words, write_atomically
from harness.runlog import RunLog, being_written
from harness.version import __version__

WORTH_KEEPING = 1_000_000
"""Bytes of a log from which on its page is not written again."""


def kept_page(log: Path) -> tuple[Path, str] | None:
    """Return the page of ``log`` and what people said of its verdicts; ``None``: it is to be made.

    A page that was written by another version, for another content of the log, by somebody else, or
    that was changed since, is none.
    """
    try:
        noted = json.loads(_locate_note(log).read_text("utf-8"))
        page = log.with_name(noted["page"])
        if noted["of"] != _identify_log(log.stat()) or noted["content"] != _identify_page(page):
            return None
    # A note that is missing or damaged is as good as none: the page is written again.
    except (OSError, RuntimeError, ValueError, KeyError, TypeError):
        return None
    return page, str(noted["words"])


def keep_page(log: RunLog, facts: os.stat_result, page: Path) -> None:
    """Note that ``page`` is that of ``log``, whose file had these ``facts`` before it was read.

    Of a log with damaged lines nothing is noted: whoever opens it is told of them each time.
    """
    # If the log has grown since, these facts are not those of what the page shows.
    whole = facts.st_size == log.size >= WORTH_KEEPING and not being_written(log.path)
    # A note names the page without a folder, so only one beside its log is found again.
    if not whole or log.damaged or log.by_people or page.parent != log.path.parent:
        return
    noted = {
        "of": _identify_log(facts),
        "page": page.name,
        "words": review_words(log.reviews.values()),
    }
    with suppress(OSError, RuntimeError):  # without room for it, the page is written again
        text = json.dumps({**noted, "content": _identify_page(page)})
        write_atomically(_locate_note(log.path), lambda stream: print(text, file=stream))


def _locate_note(log: Path) -> Path:
    """Return the place of the note; ``RuntimeError``: the user has no home."""
    name = hashlib.sha256(os.fsencode(log.resolve())).hexdigest()
    return cache_root() / "pages" / f"{name}.json"


def _identify_log(facts: os.stat_result) -> list[object]:
    return [__version__, facts.st_size, facts.st_mtime_ns]


def _identify_page(page: Path) -> list[object]:
    # Both from one open file: by its path, another could be put in its place in between.
    with page.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return [digest, os.fstat(file.fileno()).st_mtime_ns]
