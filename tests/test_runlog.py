import json
import os
import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError, InvalidInput
from harness.runlog import (
    CallLine,
    DamagedLine,
    Footer,
    Header,
    LogWriter,
    ToolsLine,
    TrialLine,
    read_lines,
    read_log,
    reader,
)
from harness.runlog.lines import build_damaged_line, dump_line
from harness.types import (
    AssistantMessage,
    CaseFacts,
    CheckResult,
    Reply,
    Tool,
    ToolAnswer,
    ToolCall,
    ToolList,
    ToolMessage,
    ToolRequest,
    Transcript,
    TrialResult,
    UserMessage,
)

HEADER = Header(run_id="r", started_at="2026-01-01T00:00:00Z", harness_version="0", planned=3)
FOOTER = Footer(finished_at="2026-01-01T00:00:01Z", elapsed_s=1.0)


def a_trial(key: str = "k", status: str = "passed", text: str = "hello") -> TrialLine:
    transcript = Transcript(
        messages=(
            UserMessage(text="question"),
            AssistantMessage(
                reply=Reply(
                    tool_requests=(ToolRequest(id="1", tool="t", arguments={"a": [1, None]}),)
                )
            ),
            ToolMessage(answers=(ToolAnswer(request_id="1", text=text),)),
            AssistantMessage(reply=Reply(text=text, native=[{"type": "text"}])),
        ),
        tool_calls=(
            ToolCall(
                tool="t", arguments={"a": [1, None]}, outcome="ok", reply=1, structured={"x": 1.5}
            ),
        ),
        answer=text,
    )
    return TrialLine(
        run=TrialResult(
            key=key,
            suite="s",
            case=CaseFacts(name=f"case {key}"),
            model="m",
            trial=1,
            status=status,  # type: ignore[arg-type]
        ),
        transcript=transcript,
    )


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"in": value}
    return value


def write(path: Path, *lines: Header | ToolsLine | TrialLine | Footer) -> None:
    with LogWriter(path) as log:
        for line in lines:
            log.append(line)


@pytest.mark.parametrize("metadata", [{"plain": 1}, {"deep": deep(300)}])
def test_a_result_begins_with_what_a_damaged_line_is_named_by(
    tmp_path: Path, metadata: dict[str, Any]
) -> None:
    path = tmp_path / "log.jsonl"
    facts = CaseFacts(name="refund", identity="clerk", tags=("a",), metadata=metadata)
    line = TrialLine(
        run=TrialResult(key="k", suite="s", case=facts, model="m", trial=1, status="passed")
    )
    write(path, HEADER, line)
    written = json.loads(path.read_text().splitlines()[1])["run"]
    assert list(written)[:5] == ["key", "suite", "model", "axes", "trial"]
    assert next(iter(written["case"].items())) == ("name", "refund")
    (result,) = read_log(path).results
    assert (result.case.name, result.case.identity, result.case.tags) == ("refund", "clerk", ("a",))


def test_what_is_written_is_read_back_the_same(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    tools = ToolList(tools=(Tool(name="t", input_schema={"type": "object"}),), digest="d")
    write(
        path,
        HEADER,
        ToolsLine(server="s", tools=tools),
        a_trial("a"),
        a_trial("b", "failed"),
        FOOTER,
    )
    log = read_log(path)
    assert log.header == HEADER
    assert log.footer == FOOTER
    assert [run.key for run in log.results] == ["a", "b"]
    assert log.read_transcript("a") == a_trial("a").transcript
    assert log.tools["d"].tools == tools.tools


def test_a_log_without_a_footer_is_readable(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    write(path, HEADER, a_trial())
    assert read_log(path).footer is None
    assert len(read_log(path).results) == 1


@pytest.mark.parametrize("cut", range(1, 400, 7))
def test_a_log_cut_at_any_byte_keeps_every_whole_line(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "log.jsonl"
    write(path, HEADER, a_trial("a"), a_trial("b"), FOOTER)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    kept = whole[:-cut].count(b"\n")
    log = read_log(path)
    assert len(log.results) == min(2, kept - 1)
    assert (log.footer is not None) == (kept == 4)


def test_appending_to_a_torn_log_cuts_the_torn_line_off(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    write(path, HEADER, a_trial("a"))
    with path.open("ab") as file:
        file.write(b'{"kind":"trial","run":{"key"')
    write(path, a_trial("b"), FOOTER)
    assert [run.key for run in read_log(path).results] == ["a", "b"]


def test_the_last_result_of_a_trial_counts(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    write(path, HEADER, a_trial("a", "error"), FOOTER, a_trial("a", "passed", "better"), FOOTER)
    log = read_log(path)
    assert [run.status for run in log.results] == ["passed"]
    transcript = log.read_transcript("a")
    assert transcript is not None
    assert transcript.answer == "better"


def test_results_of_a_case_share_what_is_equal_in_them(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lines = [checked(key, actual) for key, actual in (("a", 1), ("b", 1), ("c", 1.0), ("d", True))]
    write(path, HEADER, *lines, FOOTER)
    first, same, *others = read_log(path).results
    assert same.checks is first.checks
    assert all(one.case is first.case for one in (same, *others))
    # Equal in Python, and other values in JSON.
    assert [repr(one.checks[0].actual) for one in (first, same, *others)] == [
        "1",
        "1",
        "1.0",
        "True",
    ]


def checked(key: str, actual: object) -> TrialLine:
    line = a_trial(key)
    check = CheckResult(kind="k", label="k", verdict="passed", actual=actual)
    run = replace(line.run, case=CaseFacts(name="the same"), checks=(check,))
    return replace(line, run=run)


def test_a_resumed_log_has_no_footer_until_it_is_closed_again(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    write(path, HEADER, a_trial("a"), FOOTER, a_trial("b"))
    assert read_log(path).footer is None


@pytest.mark.parametrize("most", [20_000, 0], ids=["in memory", "on disk"])
def test_a_log_that_is_read_on_is_the_same_as_one_that_is_read_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(reader, "MOST_IN_MEMORY", most)
    path = tmp_path / "log.jsonl"
    write(path, HEADER, a_trial("a"), a_trial("b"))
    damage(path, 3)
    so_far = read_log(path)
    assert so_far.read_further() == so_far
    write(path, a_trial("a", "failed", "later"), a_trial("c"), FOOTER)
    damage(path, 5)
    read = so_far.read_further()
    assert read == read_log(path)
    assert [one.line for one in read.damaged] == [3, 5]
    assert read.read_transcript("a") == a_trial("a", "failed", "later").transcript


def damage(path: Path, number: int, how: str = "end") -> None:
    """Damage one line (from 1) of a log.

    Its end is lost, it is overwritten, or it is another sort of object.
    """
    lines = path.read_bytes().splitlines(keepends=True)
    line = lines[number - 1]
    ways = {
        "end": line[: len(line) // 2] + b"\n",
        "zeros": b"\0" * 200 + b"\n",
        "other": b'{"kind": "trial"}\n',
    }
    lines[number - 1] = ways[how]
    path.write_bytes(b"".join(lines))


@pytest.mark.parametrize(
    ("how", "lost"),
    [
        ("end", "s/case b, trial 1 with m has no result"),
        ("zeros", "a trial may have no result"),
        ("other", "may have"),
    ],
)
def test_a_damaged_line_costs_its_trial_and_no_other(tmp_path: Path, how: str, lost: str) -> None:
    path = tmp_path / "log.jsonl"
    write(path, HEADER, a_trial("a"), a_trial("b"), a_trial("c"), FOOTER)
    damage(path, 3, how)
    log = read_log(path)
    assert [run.key for run in log.results] == ["a", "c"]
    assert log.footer == FOOTER
    assert log.read_transcript("c") == a_trial("c").transcript
    (complaint,) = log.complaints
    assert f"{path}:3: this line of the run log is damaged, and " in complaint
    assert lost in complaint


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (" ,\t", " : ")])
def test_a_damaged_line_says_its_trial_however_its_json_is_spaced_and_ordered(
    separators: tuple[str, str],
) -> None:
    run = json.loads(dump_line(replace(a_trial("b"), transcript=None)))["run"]
    run["axes"] = {"variant": "x"}
    for one in (run, dict(sorted(run.items()))):
        raw = json.dumps({"run": one, "transcript": {}}, separators=separators).encode()
        line = build_damaged_line(raw[: raw.rindex(b"{") + 1], 3, "torn")
        assert (line.kind, line.key, line.trial) == ("trial", "b", "s/case b, trial 1 with m+x")
        assert build_damaged_line(raw[: raw.index(b"case b")], 3, "torn").trial is None


def test_a_trial_whose_last_line_is_damaged_has_no_older_result_in_its_place(
    tmp_path: Path,
) -> None:
    path = tmp_path / "log.jsonl"
    write(path, HEADER, a_trial("a", "passed"), a_trial("a", "failed"), FOOTER)
    damage(path, 3)
    assert read_log(path).results == ()


def test_a_damaged_line_of_a_trial_that_was_run_again_is_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    write(path, HEADER, a_trial("a"), FOOTER)
    damage(path, 2)
    write(path, a_trial("a", "failed"), FOOTER)
    log = read_log(path)
    assert ([run.status for run in log.results], log.complaints) == (["failed"], ())


def test_a_damaged_footer_and_a_damaged_list_of_tools_are_told(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    write(
        path,
        HEADER,
        ToolsLine(server="s", tools=ToolList(tools=(), digest="d")),
        a_trial("a"),
        FOOTER,
    )
    damage(path, 2)
    damage(path, 4)
    log = read_log(path)
    assert ([run.key for run in log.results], log.footer, log.tools) == (["a"], None, {})
    assert "a tool list is lost" in log.complaints[0]
    assert "it is not known how the run ended" in log.complaints[1]


def test_without_its_header_a_log_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    write(path, HEADER, a_trial("a"), FOOTER)
    damage(path, 1)
    with pytest.raises(InvalidInput, match=r"log\.jsonl:1: the header of this run log is damaged"):
        read_log(path)


def test_whoever_follows_a_log_meets_the_damaged_line_and_those_behind_it(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    write(path, HEADER, a_trial("a"), a_trial("b"), FOOTER)
    damage(path, 2)
    assert [type(line) for _, _, line in read_lines(path)] == [
        Header,
        DamagedLine,
        TrialLine,
        Footer,
    ]


def test_a_log_in_which_nothing_was_written_is_not_left_behind(tmp_path: Path) -> None:
    path = tmp_path / "run" / "log.jsonl"
    write(path)
    assert not path.parent.exists()


@pytest.mark.parametrize(
    "content", [b"", b"not json", b"{}\n", b'{"kind": "footer"}\n', b"\xff\xfe\n"]
)
def test_a_file_that_is_no_log_is_told_in_words(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match="run log"):
        read_log(path)


def test_secrets_are_scrubbed_before_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with LogWriter(path, lambda text: text.replace("hunter2", "[redacted]")) as log:
        log.append(HEADER)
        log.append(a_trial(text="the password is hunter2"))
    assert b"hunter2" not in path.read_bytes()
    assert "[redacted]" in str(read_log(path).read_transcript("k"))


def test_half_a_surrogate_pair_does_not_lose_the_trial(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    write(path, HEADER, a_trial(text="odd \ud800 text"))
    transcript = read_log(path).read_transcript("k")
    assert transcript is not None
    assert transcript.answer == "odd \ufffd text"


def test_two_processes_cannot_write_one_log(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with LogWriter(path):
        before = list(Path("/dev/fd").iterdir())
        with pytest.raises(HarnessError, match="being written by another process"):
            LogWriter(path)
        assert len(list(Path("/dev/fd").iterdir())) == len(before)


def test_a_full_disk_is_told_in_words(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    child = os.fork()
    if child == 0:  # a process of its own, for the file size limit stays for good
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))
        try:
            with LogWriter(path) as log:
                log.append(HEADER)
                for number in range(100):
                    log.append(a_trial(str(number)))
        except HarnessError as error:
            os._exit(0 if "cannot be written" in str(error) else 1)
        os._exit(2)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert read_log(path).header == HEADER


def test_a_line_is_in_the_file_before_append_returns(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = LogWriter(path)
    log.append(HEADER)
    log.append(a_trial("a"))
    assert len(read_log(path).results) == 1
    log.close()


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3)
    ),
    max_leaves=10,
)


@given(arguments=st.dictionaries(st.text(), JSON, max_size=4), text=st.text())
def test_any_arguments_and_text_survive_the_log(
    tmp_path_factory: pytest.TempPathFactory, arguments: dict[str, object], text: str
) -> None:
    path = tmp_path_factory.mktemp("log") / "log.jsonl"
    call = ToolCall(tool="t", arguments=arguments, outcome="ok", reply=1, text=text)
    line = TrialLine(run=a_trial().run, transcript=Transcript(tool_calls=(call,)))
    write(path, HEADER, line)
    transcript = read_log(path).read_transcript("k")
    assert transcript is not None
    read = transcript.tool_calls[0]
    assert json.dumps(read.arguments) == json.dumps(arguments)
    assert read.text == text


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "value",
    [
        nested(100),
        nested(190),
        nested(240),
        nested(1_000),
        nested(100_000),
        10**400,
        10**5_000,
        [float("nan")],
        "\ud800",
    ],
    ids=lambda value: f"{type(value).__name__}",
)
def test_whatever_a_call_brings_is_written_and_read(tmp_path: Path, value: Any) -> None:
    path = tmp_path / "log.jsonl"
    odd = a_trial("odd")
    assert odd.transcript is not None
    call = ToolCall(tool="t", arguments={"a": value}, outcome="ok", reply=1, structured=value)
    write(
        path,
        HEADER,
        replace(odd, transcript=replace(odd.transcript, tool_calls=(call,))),
        a_trial("b"),
        FOOTER,
    )
    log = read_log(path)
    assert [run.key for run in log.results] == ["odd", "b"]
    transcript = log.read_transcript("odd")
    assert transcript is not None
    assert transcript.tool_calls[0].tool == "t"
    assert transcript.messages == odd.transcript.messages


def test_what_is_within_the_bounds_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    odd = a_trial("odd")
    assert odd.transcript is not None
    value = {"deep": nested(100), "large": 10**400}
    call = ToolCall(tool="t", arguments=value, outcome="ok", reply=1, structured=value)
    write(path, HEADER, replace(odd, transcript=replace(odd.transcript, tool_calls=(call,))))
    assert read_log(path).read_transcript("odd").tool_calls == (call,)  # type: ignore[union-attr]


# ── Sessions that were cut off ───────────────────────────────────────────────────────────────


def a_call(number: int, outcome: str = "ok", text: str = "") -> CallLine:
    call = ToolCall(
        tool="t",
        arguments={"n": number},
        outcome=outcome,  # type: ignore[arg-type]
        reply=number,
        request_id=f"call_{number}",
        text=text,
    )
    return CallLine(call_of="k", call=call)


def cut_off(path: Path) -> None:
    """Write the log of a session whose second call was never answered."""
    begun = a_trial(status="cancelled")
    begun = replace(begun, transcript=Transcript(messages=(UserMessage(text="question"),)))
    with LogWriter(path) as log:
        for line in (HEADER, begun, a_call(1, "timeout"), a_call(1, text="first")):
            log.append(line)
        log.append(a_call(2, "timeout", "never answered"))


def test_the_calls_of_a_session_that_was_cut_off_are_its_conversation(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    cut_off(path)
    log = read_log(path)
    (result,) = log.results
    transcript = log.read_transcript("k")
    assert transcript is not None
    assert (result.status, result.tool_calls) == ("cancelled", 2)
    assert result.outcomes == {"ok": 1, "timeout": 1}
    assert [call.text for call in transcript.tool_calls] == ["first", "never answered"]
    assert [message.role for message in transcript.messages] == [
        *("user", "assistant", "tool", "assistant", "tool"),
    ]
    assert log.footer is None


def test_a_session_that_was_cut_off_is_put_together_once(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    cut_off(path)
    read_log(path)
    size = path.stat().st_size
    read_log(path)
    assert path.stat().st_size == size


def test_the_end_of_a_session_takes_the_place_of_its_calls(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    cut_off(path)
    with LogWriter(path) as log:
        log.append(a_trial())
        log.append(FOOTER)
    log_ = read_log(path)
    assert [result.status for result in log_.results] == ["passed"]
    assert log_.footer == FOOTER


def test_a_session_that_is_under_way_is_left_to_its_writer(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    cut_off(path)
    size = path.stat().st_size
    with LogWriter(path):
        assert [result.tool_calls for result in read_log(path).results] == [0]
    assert path.stat().st_size == size


def test_a_damaged_call_is_told_and_the_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    cut_off(path)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3][:40] + b"\n"
    path.write_bytes(b"".join(lines))
    log = read_log(path)
    assert [result.tool_calls for result in log.results] == [2]
    assert [one.kind for one in log.damaged] == ["call"]
    assert "a call of a session that was cut off is lost" in log.complaints[0]
