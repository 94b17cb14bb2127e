"""Reads a multipart request into an `Upload` and what was chosen, within limits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias, TypeVar

import anyio
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from harness.base import UsageError, make_one_line
from harness.runner import OPTIONS, options_of, read_options
from harness.types import dataclass
from harness.web.settings import Settings
from harness.web.vetting import FAILED_OF

RECEIVE_S = 60.0
"""Seconds for a request's whole body; five megabytes take that long at 0.7 Mbit/s."""
SUFFIXES = ("csv", "yml", "yaml")

LONGEST = 200
"""Characters of one field: a name, or a few attributes."""
MOST_FIELDS = 64
"""Fields of a form; some options may be given more than once."""
_FORM_BYTES = 65_536
T = TypeVar("T")


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

    @property
    def run_names(self) -> list[str]:
        """What its run is named after; a client's words become no folder."""
        return ["upload"]

    def place_in(self, folder: Path) -> dict[str, Any]:
        """Write it into ``folder``, and return its part of the worker's order."""
        # A name of the page's own: the upload's name is only displayed, never used as a path.
        path = folder / f"suite.{self.suffix}"
        path.touch(0o600)  # it may contain secrets of the user
        path.write_bytes(self.content)
        return {"path": str(path), "name": self.name, "called": self.stem}


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSuites:
    """Suites of the project that are asked for."""

    files: tuple[str, ...]
    """Their files, as they are listed; the run's process checks that they are among these."""
    variants: tuple[str, ...] = ()
    """Variants of the tools, each by its name in the suites."""

    @property
    def name(self) -> str:
        """What the page calls them."""
        return make_one_line(", ".join(self.files))[:120]

    @property
    def run_names(self) -> list[str]:
        """What their run is named after."""
        return [PurePosixPath(file).stem for file in self.files]

    def place_in(self, _folder: Path) -> dict[str, Any]:
        """Return their part of the worker's order; they stay where they are."""
        return {
            "path": self.files[0],
            "name": self.files[0],
            "own": self.files,
            "variants": self.variants,
        }


Choices: TypeAlias = dict[str, Any]
"""Key → what the client gave for an option of a run, as text, and for `FAILED_OF`."""


async def read_upload(request: Request, settings: Settings) -> tuple[Upload, Choices]:
    """Return the upload and the choices of a request.

    Raises:
        HTTPException: it is too large or too slow, has no file or one of another kind, or wrong
        fields.
    """

    async def take_upload(form: FormData) -> tuple[Upload, Choices]:
        upload = await _build_upload(form.get("file"), settings)
        return upload, read_choices(field for field in form.multi_items() if field[0] != "file")

    return await _read_form(request, settings, take_upload)


async def read_own_suites(request: Request, settings: Settings) -> tuple[OwnSuites, Choices]:
    """Return the suites of the project that a request names, and its choices.

    Raises:
        HTTPException: it is too large or too slow, names no suite, or has wrong fields.
    """

    async def take_names(form: FormData) -> tuple[OwnSuites, Choices]:
        files, variants = (
            tuple(str(name) for name in form.getlist(key) if name) for key in ("suite", "variant")
        )
        if not files:
            raise HTTPException(400, "The field 'suite' takes a file of the project's suites.")
        others = (one for one in form.multi_items() if one[0] not in {"suite", "variant"})
        return OwnSuites(files=files, variants=variants), read_choices(others)

    return await _read_form(request, settings, take_names)


async def _read_form(
    request: Request, settings: Settings, take: Callable[[FormData], Awaitable[T]]
) -> T:
    """Return what ``take`` makes of the form of a request, within limits of size and time.

    Raises:
        HTTPException: it is too large or too slow, or ``take`` refuses it.
    """
    limit = settings.max_bytes + _FORM_BYTES
    # Refused before a byte is read; what has no length, or a wrong one, is counted below.
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
            # Starlette applies the size of a part to fields alone; that of a file is counted above.
            async with request.form(
                max_files=1, max_fields=MOST_FIELDS, max_part_size=4096
            ) as form:
                return await take(form)
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


def read_choices(fields: Iterable[tuple[str, Any]]) -> Choices:
    """Return what the client chose; the run's process reads it again.

    Raises:
        HTTPException: a field is unknown, or does not take its value.
    """
    found: Choices = {}
    known = {option.key: option for option in OPTIONS}
    for key, value in fields:
        if key not in known and key != FAILED_OF:
            names = ", ".join((*(option.key for option in options_of("page")), FAILED_OF))
            raise HTTPException(400, f"There is no field {key[:40]!r}: {names}.")
        # A form sends each of its fields, those that nobody filled in as well.
        if value == "":
            continue
        if not isinstance(value, str) or len(value) > LONGEST or not value.isprintable():
            raise HTTPException(
                400, f"The field {key!r} takes a line of at most {LONGEST} letters."
            )
        if key in known and known[key].repeated:
            found.setdefault(key, []).append(value)
        else:
            found[key] = value
    try:
        # Only for its errors: the process of the run reads the texts itself.
        read_options("page", found)
    except UsageError as error:
        raise HTTPException(400, str(error)) from error
    return found


def _too_large(settings: Settings) -> HTTPException:
    return HTTPException(413, f"The file is larger than {settings.max_bytes / 1_000_000:g} MB.")
