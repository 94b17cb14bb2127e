"""Ask a model once for something that a workbench needs, and record its answer.

What was said is in a file of the first run's folder: a workbench that goes on does not ask again,
and whoever reads the logs later sees the same.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

import anyio

from harness.errors import ModelError, UsageError
from harness.reports.atomic_files import write_atomically
from harness.runner.open_models import open_models
from harness.types import ModelSpec, ToolList, Usage, UserMessage

TIMEOUT_S = 300.0
"""Seconds that a model may take for one answer, retries included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request to a model, and what came of it."""

    model: str
    """Name of the model."""
    prompt: str
    """What it was asked."""
    text: str = ""
    """What it said; empty if it failed."""
    failed: str | None = None
    """Why there is no answer, or only a part of one."""
    usage: Usage = field(default_factory=Usage)
    """What it used."""


def asked_before(path: Path) -> Asked | None:
    """Return the recorded answers in ``path``; ``None`` if there are none yet.

    Raises:
        UsageError: the file is not what `ask_once` wrote.
    """
    if not path.exists():
        return None
    try:
        written = json.loads(path.read_text("utf-8"))
        return Asked(**{**written, "usage": Usage(**written["usage"])})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UsageError(
            f"{path} is not what a model said: {error}",
            meant="Delete the file, and the model is asked again.",
        ) from error


def ask_once(spec: ModelSpec, system: str, prompt: str, path: Path) -> Asked:
    """Return what ``spec`` answers to ``prompt``, from ``path`` if it was asked before.

    A failure is an answer too: it is written down, and returned again.
    """
    known = asked_before(path)
    if known is not None:
        return known
    text = json.dumps(asdict(anyio.run(partial(_ask, spec, system, prompt))), indent=1)
    write_atomically(path, lambda stream: print(text, file=stream))
    said = asked_before(path)  # without secrets, as whoever reads it later sees it
    assert said is not None, "it was just written"
    return said


async def _ask(spec: ModelSpec, system: str, prompt: str) -> Asked:
    try:
        with anyio.fail_after(TIMEOUT_S):
            async with open_models((spec,)) as models:
                model = models[spec.name]
                message = UserMessage(text=prompt)
                reply = await model.answer([message], ToolList(tools=()), system)
    except ModelError as error:
        usage = error.usage or Usage()
        return Asked(model=spec.name, prompt=prompt, failed=str(error), usage=usage)
    except TimeoutError:
        failed = f"no answer within {TIMEOUT_S:.0f} s"
        return Asked(model=spec.name, prompt=prompt, failed=failed)
    cut = f"the reply ended early: {reply.stop}" if reply.stop != "end" else None
    return Asked(model=spec.name, prompt=prompt, text=reply.text, failed=cut, usage=reply.usage)
