"""Recorded outputs, each with the official verdict and everything needed to judge it here."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.leaderboards.bfcl.check import build_check, find_fault
from harness.leaderboards.bfcl.data import find_entry
from harness.leaderboards.bfcl.result_files import read_recordings
from harness.types import JsonObject, Transcript


@dataclass(frozen=True)
class Output:
    """One recorded output."""

    model: str
    case: str
    category: str
    params: JsonObject
    transcript: Transcript
    error_type: str | None
    """The official name of what is wrong; ``None`` where it is valid."""

    def found(self) -> str | None:
        """Return what is wrong by the rules as they are now."""
        fault = find_fault(self.params, self.transcript)
        return None if fault is None else fault.error_type


def read_outputs(path: Path) -> list[Output]:
    """Return all outputs in ``path``."""
    recordings = read_recordings(path, find_entry)
    with gzip.open(path, "rt") as file:
        rows = [json.loads(line) for line in file]
    return [
        Output(
            model=row["model"],
            case=row["id"],
            category=row["category"],
            params=build_check(find_entry(row["id"])).params,
            transcript=recordings[row["model"]].get_transcripts(row["id"])[0],
            error_type=None if row["valid"] else row["error_type"],
        )
        for row in rows
    ]


PUBLISHED_WRONGLY = ("DeepSeek-V3.1-Terminus-FC", "multi_turn_long_context_0")
"""The one output whose published verdict the official rules themselves do not give: it is valid."""


def differing(outputs: Iterable[Output]) -> Iterator[Output]:
    """Yield the outputs that are judged another way than officially, the wrongly published one left
    out.
    """
    for output in outputs:
        if (output.model, output.case) != PUBLISHED_WRONGLY and output.found() != output.error_type:
            yield output
