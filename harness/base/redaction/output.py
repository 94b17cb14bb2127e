"""Redacts everything that leaves the process: stdout, stderr and files.

`guarded_output` wraps a whole command: all output of click, rich, tracebacks and suites in Python
passes through it. `guard_stream` does the same for one file. Both are the last safeguard: texts are
also redacted where they are made (`harness.base.safe_text`), before they are cut or wrapped.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, TextIO, cast

from harness.base.redaction import KNOWN


class _RedactingText(io.TextIOBase):
    """A text stream that redacts the secrets in what is written to it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str, /) -> int:
        self._stream.write(KNOWN.redact_output(text))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()


class _RedactingBytes(io.BufferedIOBase):
    """A byte stream that redacts: the text stream's ``buffer``."""

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        self._stream = stream
        self._encoding = encoding

    def writable(self) -> bool:
        return True

    def write(self, data: bytes, /) -> int:  # type: ignore[override]  # any buffer; text streams write bytes
        # Whatever bytes come, they go out again unchanged.
        text = bytes(data).decode(self._encoding, "surrogateescape")
        clean = KNOWN.redact_output(text)
        if clean != text:
            self._stream.write(clean.encode(self._encoding, "surrogateescape"))
        else:
            self._stream.write(data)
        return len(data)

    def flush(self) -> None:
        if not self._stream.closed:  # its owner has closed it, and flushed it then
            self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()


def guard_stream(stream: TextIO) -> TextIO:
    """Return a stream that writes to ``stream`` without secrets; its closing closes nothing."""
    if not isinstance(stream, io.TextIOWrapper):
        return cast("TextIO", _RedactingText(stream))
    return io.TextIOWrapper(
        _RedactingBytes(stream.buffer, stream.encoding),  # type: ignore[type-var]  # a buffer that only writes
        encoding=stream.encoding,
        errors=stream.errors,
        newline="",
        line_buffering=stream.line_buffering,
        write_through=True,  # a secret must not be split by a full buffer
    )


@contextmanager
def guarded_output() -> Iterator[None]:
    """Guard stdout and stderr until the end of the block."""
    before = sys.stdout, sys.stderr
    # What was written before must not come after what follows.
    sys.stdout.flush()
    sys.stdout, sys.stderr = guard_stream(before[0]), guard_stream(before[1])
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
