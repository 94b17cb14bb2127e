"""Reads a multipart request into an `Upload` and a `Choice`, within limits."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any

import anyio
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from harness.base import make_one_line
from harness.web.settings import Settings

RECEIVE_S = 60.0
"""Seconds for a request's whole body; five megabytes take that long at 0.7 Mbit/s."""
MAX_CONCURRENCY = 16
SUFFIXES = ("csv", "yml", "yaml")

_FORM_BYTES = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """An uploaded file."""

    name: str
    """The client's name of it, for display; never part of a path."""
    suffix: str
    """One of `SUFFIXES`."""
    content: bytes
    """Its bytes."""

    @property
    def stem(self) -> str:
        """The name without its suffix, which is a dataset's name."""
        return self.name.rpartition(".")[0].strip() or "upload"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The client's choices; ``None`` leaves them to the suite and the configuration."""

    model: str | None = None
    """Name of a configured model."""
    server: str | None = None
    """Name of a configured or built-in server."""
    judge_model: str | None = None
    """Name of a configured model, or ``none``."""
    concurrency: int | None = None
    """Trials at the same time."""
    failed_of: str | None = None
    """Name of a run: only the cases that failed in it, or were errors."""

    def as_json(self) -> dict[str, Any]:
        """Return it in the form for the worker."""
        return asdict(self)


async def read_upload(request: Request, settings: Settings) -> tuple[Upload, Choice]:
    """Return the upload and the choices of a request.

    Raises:
        HTTPException: it is too large or too slow, has no file or one of another kind, or wrong
        fields.
    """
    limit = settings.max_bytes + _FORM_BYTES
    if _parse_content_length(request) > limit:
        raise _too_large(settings)
    seen = 0
    receive = request.receive

    async def receive_counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise _too_large(settings)
        return message

    request = Request(request.scope, receive_counted)
    try:
        with anyio.fail_after(RECEIVE_S):
            async with request.form(max_files=1, max_fields=8, max_part_size=4096) as form:
                upload = await _build_upload(form.get("file"), settings)
                return upload, _build_choice(
                    {key: value for key, value in form.items() if key != "file"}
                )
    except TimeoutError:
        raise HTTPException(408, "The upload took too long.") from None
    except ClientDisconnect:
        raise HTTPException(400, "The upload was broken off.") from None


def _parse_content_length(request: Request) -> int:
    text = request.headers.get("content-length", "0")
    return int(text) if text.isdecimal() and len(text) < len("1" + "0" * 15) else 0


async def _build_upload(part: Any, settings: Settings) -> Upload:
    if not isinstance(part, UploadFile):
        raise HTTPException(
            400,
            "Send the suite as the multipart field 'file', for example curl -F "
            '"file=@tests.csv".',
        )
    # Of a path in the client's file name only the last part is shown, and none is opened.
    name = make_one_line(PurePosixPath((part.filename or "").replace("\\", "/")).name)[:120]
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    if suffix not in SUFFIXES:
        raise HTTPException(
            415,
            "A suite is a .csv, .yml or .yaml file; suites in Python are run from a terminal only.",
        )
    content = await part.read()
    if len(content) > settings.max_bytes:
        raise _too_large(settings)
    return Upload(name=name, suffix=suffix, content=content)


def _build_choice(fields: dict[str, Any]) -> Choice:
    values: dict[str, Any] = {}
    for key, value in fields.items():
        if key not in Choice.__dataclass_fields__:
            raise HTTPException(
                400, f"There is no field {key[:40]!r}: {', '.join(Choice.__dataclass_fields__)}."
            )
        if value == "":
            continue
        if key == "concurrency":
            values[key] = _parse_concurrency(value)
        elif isinstance(value, str) and len(value) <= 200 and value.isprintable():  # noqa: PLR2004 - a name
            values[key] = value
        else:
            raise HTTPException(
                400, f"The field {key!r} takes the name of a configured {key.replace('_', ' ')}."
            )
    return Choice(**values)


def _parse_concurrency(value: Any) -> int:
    number = int(value) if isinstance(value, str) and value.isdecimal() and len(value) <= 4 else 0  # noqa: PLR2004
    if not 1 <= number <= MAX_CONCURRENCY:
        raise HTTPException(
            400, f"The field 'concurrency' takes a number from 1 to {MAX_CONCURRENCY}."
        )
    return number


def _too_large(settings: Settings) -> HTTPException:
    return HTTPException(413, f"The file is larger than {settings.max_bytes / 1_000_000:g} MB.")
