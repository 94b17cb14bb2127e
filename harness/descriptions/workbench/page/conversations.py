"""The conversations that the page can open, within its size limit, each in its own block."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

from harness.descriptions.workbench.page.cells import format_line
from harness.descriptions.workbench.workbench_result import WorkbenchResult
from harness.judging import judge_log
from harness.reports import trial_detail
from harness.runlog import read_log

MOST_BYTES = 3_000_000
"""Most bytes of all conversations of a page; the others are in the run log."""

Blocks: TypeAlias = list[tuple[str, Any]]


def collect_conversations(
    result: WorkbenchResult, keys: Sequence[str], most: int = MOST_BYTES
) -> tuple[dict[str, Any], Blocks]:
    """Return the facts of each trial of ``keys``, and the conversations that fit into the page.

    ``keys`` are `TrialResult.key`; the first are the most important. A trial without a block names
    the command that shows it.
    """
    wanted = set(keys)
    found = {}
    for path in result.logs if wanted else ():
        log = read_log(path)
        found.update(
            {result.key: (result, log) for result in judge_log(log).results if result.key in wanted}
        )
    known: dict[str, Any] = {}
    blocks: Blocks = []
    room = most
    for key in dict.fromkeys(key for key in keys if key in found):
        one, log = found[key]
        told = {
            "case": format_line(one.case.name),
            "model": format_line(one.model),
            "trial": one.trial,
            "trials": one.repeats,
            "status": one.status,
            "run": format_line(log.header.run_id),
            "block": None,
        }
        detail = trial_detail(one, log.read_transcript(key))
        # As ASCII, so that its characters are bytes of the page.
        size = len(json.dumps(detail))
        # If a long one does not fit, shorter ones after it still may.
        if size <= room:
            room -= size
            told["block"] = f"trial-{len(blocks)}"
            blocks.append((f"trial-{len(blocks)}", detail))
        known[key] = told
    return known, blocks
