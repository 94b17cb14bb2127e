import io
from dataclasses import replace
from pathlib import Path

from harness.reports.build import build_report
from harness.reports.formats.transcripts import write_transcripts
from harness.types import AssistantMessage, Reply
from tests.reports.logs import a_log, a_run, a_transcript


def test_every_message_and_call_of_every_case_is_shown(tmp_path: Path) -> None:
    log = a_log(
        tmp_path / "log.jsonl", a_run("one"), a_run("two", "failed"), a_run("three", "skipped")
    )
    stream = io.StringIO()
    write_transcripts(build_report(log), log, stream)
    text = stream.getvalue()
    for case in ("one", "two"):
        assert f"shop::{case} #1 [m]" in text
    assert "three" not in text
    assert "user      Where is order 7?" in text
    assert 'call      get_order({"id": 7}) → ok, 12 ms' in text
    assert "    status: shipped" in text
    assert "assistant It is on its way." in text
    assert "tools offered: get_order, list_orders" in text


def test_terminal_escapes_of_servers_and_models_do_not_get_through(tmp_path: Path) -> None:
    hostile = a_transcript("\x1b[2J\x1b]0;owned\x07done\x9b31m", "\x1b[31mred\x1b[0m\u202etxt.exe")
    log = a_log(tmp_path / "log.jsonl", a_run("one"), transcript=hostile)
    stream = io.StringIO()
    write_transcripts(build_report(log), log, stream)
    assert not set(stream.getvalue()) & {"\x1b", "\x07", "\x9b", "\u202e"}
    assert "done" in stream.getvalue()


def test_what_was_changed_for_the_endpoint_stands_before_the_reply(tmp_path: Path) -> None:
    reply = Reply(text="Yes.", adapted=("m: Gemini takes no 'const'",))
    adapted = replace(a_transcript(), messages=(AssistantMessage(reply=reply),))
    log = a_log(tmp_path / "log.jsonl", a_run("one"), transcript=adapted)
    stream = io.StringIO()
    write_transcripts(build_report(log), log, stream)
    assert "adapted   m: Gemini takes no 'const'\nassistant Yes." in stream.getvalue()
