"""The name and the tags that people give a run: a file beside its log, which stays as it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from harness.base import make_one_line
from harness.reports import write_atomically
from harness.types import dataclass

LABEL = "label.json"
"""The file's name."""
_NAME = 100
"""Characters of a name at most."""
_TAGS = 10
"""Tags of a run at most."""
_TAG = 30
"""Characters of a tag at most."""


@dataclass(frozen=True, slots=True)
class RunLabel:
    """What people call a run."""

    name: str = ""
    """Its name; empty if nobody gave one."""
    tags: tuple[str, ...] = ()
    """Its tags, without repeats."""

    def fits(self, words: str) -> bool:
        """Return whether its name or a tag contains ``words``, in any case of letters."""
        return any(words.lower() in one.lower() for one in (self.name, *self.tags))

    def as_json(self) -> dict[str, Any]:
        """Return it as the page and the file have it."""
        return {"name": self.name, "tags": list(self.tags)}


def parse_label(found: Any) -> RunLabel | None:
    """Return the label that ``found`` says; ``None``: it is none, or too long."""
    if not isinstance(found, Mapping) or not found.keys() <= {"name", "tags"}:
        return None
    name, tags = found.get("name", ""), found.get("tags", [])
    if not isinstance(name, str) or not isinstance(tags, list) or len(tags) > _TAGS:
        return None
    # Measured before they are cleaned: whoever sends megabytes gets no label of them.
    if len(name) > _NAME or any(not isinstance(tag, str) or len(tag) > _TAG for tag in tags):
        return None
    cleaned = (make_one_line(tag) for tag in tags)
    return RunLabel(make_one_line(name), tuple(dict.fromkeys(tag for tag in cleaned if tag)))


def read_label(log: Path) -> RunLabel:
    """Return the label of the run of ``log``; an empty one if nobody gave it any."""
    try:
        # Most runs have none; what others wrote into the file is no label.
        return parse_label(json.loads(log.with_name(LABEL).read_text("utf-8"))) or RunLabel()
    except (OSError, ValueError):
        return RunLabel()


def write_label(log: Path, label: RunLabel) -> None:
    """Keep ``label`` as that of the run of ``log``.

    Raises:
        OSError: its folder cannot be written to.
    """
    write_atomically(log.with_name(LABEL), partial(_dump_label, label))


def _dump_label(label: RunLabel, stream: TextIO) -> None:
    json.dump(label.as_json(), stream, ensure_ascii=False)
