"""What a recording holds: two runs answer from the same one if it has the same content."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from harness.base import UsageError, compute_sha256, digest_json
from harness.runner.planning.model_choice import is_replay
from harness.runner.recordings.recorded_outputs import RECORDED, split_recording
from harness.types import ModelSpec


def digest_recording(model: ModelSpec) -> str | None:
    """Return a digest of what ``model`` repeats, wherever it lies; ``None`` if it is no recording.

    It is ``None``, too, for what cannot be read (any more): nobody knows whether that is the same.
    """
    if not is_replay(model) and model.provider != RECORDED:
        return None
    facts, path = ["replay"], Path(model.model_id)
    try:
        if model.provider == RECORDED:
            leaderboard, file, entrant = split_recording(model)
            facts, path = [leaderboard, entrant], Path(file)
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        contents = [
            (str(file.relative_to(path)), _digest_file(file, file.stat().st_mtime_ns))
            for file in files
            if file.is_file()
        ]
    except (OSError, UsageError):
        return None
    return digest_json([*facts, contents]) if contents else None


@cache
def _digest_file(file: Path, _changed: int) -> str:
    # The time is only a key: a file that has changed is read anew.
    return compute_sha256(file)
