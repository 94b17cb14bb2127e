"""What is counted of the trials of a workbench."""

from __future__ import annotations

from pathlib import Path

from harness.descriptions.workbench.measurements import ModelMeasurements, note_written_calls
from harness.judging.trial import written_call_warnings
from harness.types import AssistantMessage, Reply, Transcript
from tests.reports.logs import a_transcript
from tests.reports.sample_logs import a_log, a_run

AS_TEXT = written_call_warnings(
    Transcript(messages=(AssistantMessage(reply=Reply(written_call="get_order")),))
)


def test_a_reply_that_was_a_call_as_text_says_nothing_about_the_words(tmp_path: Path) -> None:
    runs = [
        (a_run("case", "passed", trial=1), a_transcript()),
        (a_run("case", "failed", trial=2, checks=AS_TEXT), a_transcript()),
        (a_run("other", "failed", checks=AS_TEXT), a_transcript()),
    ]
    log = a_log(tmp_path, runs)
    measured = ModelMeasurements([log], "shop", "m")
    assert measured.count_trials() == {"case": (1, 1)}
    assert [call.case for call in measured.first_calls()] == ["case"]
    assert measured.count_unjudged() == 2
    (note,) = note_written_calls(log.results)
    assert note.startswith("2 replies were calls written as text, not counted. ")
    assert "--tool-call-parser" in note
    assert note_written_calls([run for run, _ in runs[:1]]) == ()
