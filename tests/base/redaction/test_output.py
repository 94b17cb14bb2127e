"""Whatever is written to guarded streams is written without secrets."""

import io
import sys

import click
import pytest
from rich.console import Console

from harness.base.redaction import KNOWN
from harness.base.redaction.output import guard_stream, guarded_output

SECRET = "hunter2-and-more"


@pytest.fixture(autouse=True)
def known() -> None:
    KNOWN.add_secret(SECRET)


def test_whoever_prints_prints_no_secret(capfd: pytest.CaptureFixture[str]) -> None:
    with guarded_output():
        print(f"print {SECRET}")  # noqa: T201 - as a suite in Python might
        click.echo(f"click {SECRET}")
        click.echo(f"err {SECRET}", err=True)
        Console(width=200).print(f"rich {SECRET}")
        sys.stdout.buffer.write(f"bytes {SECRET}\n".encode())
        sys.stdout.writelines([f"lines {SECRET}\n"])
        sys.excepthook(ValueError, ValueError(f"trace {SECRET}"), None)
    said = capfd.readouterr()
    assert said.out.splitlines() == [
        f"{who} [redacted]" for who in ("print", "click", "rich", "bytes", "lines")
    ]
    assert said.err.splitlines() == ["err [redacted]", "ValueError: trace [redacted]"]


def test_the_streams_are_what_they_were_afterwards() -> None:
    before = sys.stdout, sys.stderr
    with pytest.raises(ValueError, match="oh"), guarded_output():
        raise ValueError("oh")
    assert (sys.stdout, sys.stderr) == before


def test_a_stream_in_memory_is_guarded_too() -> None:
    stream = io.StringIO()
    guard_stream(stream).write(f"a {SECRET} b")
    assert stream.getvalue() == "a [redacted] b"


def test_what_is_no_text_in_the_encoding_passes_through(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    with guarded_output():
        sys.stdout.buffer.write(b"\xff" + SECRET.encode() + b"\xfe")
        sys.stdout.flush()
    assert capfdbinary.readouterr().out == b"\xff[redacted]\xfe"


def test_a_file_that_its_owner_has_closed_is_left_alone() -> None:
    file = io.TextIOWrapper(io.BytesIO())
    stream = guard_stream(file)
    file.close()
    stream.flush()
