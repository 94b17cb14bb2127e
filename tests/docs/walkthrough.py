"""A page that is followed: its files are written, its commands run, its outputs compared.

==================  ============================================================================
a block of a file   goes to the last file that the paragraph before it names; one that begins with
                    spaces takes the place of the last line of that file
``sh``              is run, unless it names a model that costs money
``console``         each line after ``$`` is run; what is shown below it must be in the output, line
                    by line in this order; ``…`` stands for what is left out
==================  ============================================================================

Times and the names of runs are not compared.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FILES = ("yaml", "csv", "python", "json", "jsonl", "toml")
"""Languages of blocks that are files."""
PAID = re.compile(r"claude|gpt-|API_KEY")
"""What an ``sh`` block has if it is not run."""
TIMEOUT_S = 300

_BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_NAMED = re.compile(r"`(?P<path>[\w./-]+\.(?:yml|yaml|csv|py|jsonl?|toml))`")
_VARIES = (
    (re.compile(r"\b\d+(?:\.\d+)? m?s\b"), "SOME ms"),
    (re.compile(r"\b\d{8}T\d{6}Z-"), "RUN-"),
    (re.compile(r"-[0-9a-f]{6}\b"), "-DIGEST"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A file to write, or a command to run."""

    command: str = ""
    shown: tuple[str, ...] = ()
    path: str = ""
    text: str = ""


def steps(page: str) -> Iterator[Step]:
    """Yield what a reader of ``page`` does, in order."""
    for block in _BLOCK.finditer(page):
        language, text = block["language"], block["text"]
        if language == "sh" and not PAID.search(text):
            yield Step(command=text)
        elif language == "console":
            for command in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                typed, _, shown = command.partition("\n")
                yield Step(command=typed, shown=tuple(shown.splitlines()))
        elif language in FILES:
            before = page[: block.start()].rstrip().rpartition("\n\n")[2]
            named = _NAMED.findall(before)
            if named:
                yield Step(path=named[-1], text=text)


def follow(page: str, folder: Path, programs: Path) -> Iterator[str]:
    """Do what ``page`` says in ``folder``; yield what came out otherwise than it shows."""
    for step in steps(page):
        if step.path:
            _write(folder / step.path, step.text)
            continue
        done = subprocess.run(
            ["bash", "-c", step.command],
            cwd=folder,
            env={"PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin", "HOME": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        missing = not_shown(step.shown, done.stdout)
        if missing:
            yield f"$ {step.command}\n{missing!r} is not in:\n{done.stdout}"


def not_shown(shown: tuple[str, ...], output: str) -> str | None:
    """Return the first line of ``shown`` that is missing in ``output``, or stands too early."""
    lines = iter([_constant(line) for line in output.splitlines()])
    for line in shown:
        wanted, dots, _ = _constant(line).partition("…")
        if not wanted.strip():
            continue
        if not any(have.startswith(wanted) if dots else have == wanted for have in lines):
            return line
    return None


def _constant(line: str) -> str:
    """Return ``line`` without what differs from run to run."""
    for pattern, word in _VARIES:
        line = pattern.sub(word, line)
    return line.rstrip()


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if text.startswith(" "):
        *kept, _ = path.read_text("utf-8").splitlines()
        text = "\n".join([*kept, text])
    path.write_text(text, "utf-8")
