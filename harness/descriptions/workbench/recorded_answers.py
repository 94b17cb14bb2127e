"""Asks a model once for a text that a workbench needs, and records the answer.

The answer is in a file of the first run's folder, so that a resumed workbench does not ask again,
and later readers of the logs see the same answer.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

import anyio

from harness.base import ModelError, UsageError
from harness.reports import write_atomically
from harness.runner import open_models
from harness.types import ModelSpec, ToolList, Usage, UserMessage

TIMEOUT_S = 300.0
"""Seconds that a model may take for one answer, including retries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAnswer:
    """One request to a model, and its answer."""

    model: str
    """Name of the model."""
    prompt: str
    """The prompt."""
    text: str = ""
    """The answer; empty if the request failed."""
    failed: str | None = None
    """Why there is no answer, or only a part of one."""
    usage: Usage = field(default_factory=Usage)
    """What the request used."""


def recorded_answer(path: Path) -> RecordedAnswer | None:
    """Return the recorded answer in ``path``; ``None`` if there is none yet.

    Raises:
        UsageError: the file is not what `ask_once` wrote.
    """
    if not path.exists():
        return None
    try:
        written = json.loads(path.read_text("utf-8"))
        return RecordedAnswer(**{**written, "usage": Usage(**written["usage"])})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UsageError(
            f"{path} is not a recorded answer: {error}",
            meant="Delete the file, and the model is asked again.",
        ) from error


def ask_once(spec: ModelSpec, system: str, prompt: str, path: Path) -> RecordedAnswer:
    """Return what ``spec`` answers to ``prompt``, from ``path`` if it was asked before.

    A failure is recorded too, and returned again.
    """
    known = recorded_answer(path)
    if known is not None:
        return known
    text = json.dumps(asdict(anyio.run(partial(_ask_model, spec, system, prompt))), indent=1)
    write_atomically(path, lambda stream: print(text, file=stream))
    said = recorded_answer(path)  # read again, so that secrets are redacted as for a later reader
    assert said is not None, "it was just written"
    return said


async def _ask_model(spec: ModelSpec, system: str, prompt: str) -> RecordedAnswer:
    try:
        with anyio.fail_after(TIMEOUT_S):
            async with open_models((spec,)) as models:
                model = models[spec.name]
                message = UserMessage(text=prompt)
                reply = await model.answer([message], ToolList(tools=()), system)
    except ModelError as error:
        # A failed request may have cost something.
        usage = error.usage or Usage()
        return RecordedAnswer(model=spec.name, prompt=prompt, failed=str(error), usage=usage)
    except TimeoutError:
        failed = f"no answer within {TIMEOUT_S:.0f} s"
        return RecordedAnswer(model=spec.name, prompt=prompt, failed=failed)
    cut = f"the reply ended early: {reply.stop}" if reply.stop != "end" else None
    cut = cut or ("the reply holds only thinking" if reply.only_thinking else None)
    return RecordedAnswer(
        model=spec.name, prompt=prompt, text=reply.text, failed=cut, usage=reply.usage
    )
