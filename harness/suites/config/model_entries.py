"""A model's settings as in a file, before anything is looked up in the environment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import Any

from harness.base import (
    Document,
    DocumentReader,
    InvalidValue,
    Layout,
    Problem,
    UsageError,
    Values,
    array_of,
    build_field,
    choice_field,
    decimal_field,
    describe_value,
    did_you_mean,
    integer_field,
    line_field,
    mapping_field,
    parse_list,
    parse_mapping,
    texts_by_name_field,
)
from harness.types import MEDIA_KINDS, JsonPath, Location, MediaKind, Secret, dataclass


def _parse_hidden_text(value: Any) -> str:
    """Parse text that messages must not show."""
    if not isinstance(value, str):
        raise InvalidValue("expected text", meant="Write it in quotes.")
    return value


def _parse_secret(value: Any) -> Secret:
    return Secret(_parse_hidden_text(value))


def _parse_kinds(value: Any) -> tuple[MediaKind, ...]:
    kinds = parse_list(value)
    wrong = next((kind for kind in kinds if kind not in MEDIA_KINDS), None)
    if wrong is not None:
        known = ", ".join(MEDIA_KINDS)
        raise InvalidValue(f"expected some of {known}; found {describe_value(wrong)}")
    return tuple(kinds)


_TEXT = {"type": "string"}

MODEL = Layout(
    fields={
        "type": line_field(
            "The provider: anthropic (or claude), openai, or another one.", required=True
        ),
        "model": line_field("The model id for the API; without it, the model's name."),
        "api_key": build_field(
            "The API key; ${NAME} is an environment variable.", _TEXT, _parse_secret
        ),
        "base_url": build_field("A compatible endpoint.", _TEXT, _parse_hidden_text),
        "timeout": decimal_field("Seconds that one request may take.", unit="seconds", default=60),
        "max_retries": integer_field("Further attempts after the first.", least=0, default=3),
        "api": choice_field("Which of OpenAI's APIs to use.", ("chat", "responses")),
        "takes": build_field(
            "What it is given of results beside text; [] is text alone.",
            array_of({"type": "string", "enum": list(MEDIA_KINDS)}),
            _parse_kinds,
        ),
        "temperature": decimal_field("Sampling temperature.", unit="degrees", positive=False),
        "max_tokens": integer_field("Upper bound of one reply.", least=1),
        "max_reply_mb": decimal_field(
            "Largest reply in megabytes, also when decompressed.", unit="megabytes", default=4
        ),
        "headers": texts_by_name_field("Further HTTP headers."),
        "body": mapping_field("Further fields of the request's body."),
        "input_price": decimal_field(
            "Dollars per million input tokens.", unit="US dollars", positive=False
        ),
        "output_price": decimal_field(
            "Dollars per million output tokens.", unit="US dollars", positive=False
        ),
        "options": mapping_field("Settings, body:NAME and header:NAME, in MXCP's form."),
    },
    elsewhere={
        "provider": "Use 'type'.",
        "name": "The model's name is the key above this mapping.",
    },
)
"""Layout of the mapping under ``models: models: NAME:``."""

_IN_OPTIONS = (
    "timeout",
    "max_retries",
    "api",
    "takes",
    "temperature",
    "max_tokens",
    "max_reply_mb",
)
# settings that are also allowed under `options`


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """One model of a file, or a model that needs no file."""

    name: str
    """The user's name for it."""
    settings: Values = field(repr=False)
    """Setting → value; the key is a `Secret`, ``options`` are merged in."""
    wanted: str
    """The model for the API if ``model`` is not set: an id, or a name to translate into an id."""
    source: str
    """The file that configures it, or a word on why it needs none."""
    locate: Callable[[JsonPath], Location] | None = field(default=None, repr=False)
    """Returns the location of a setting; ``None`` if there is no file."""
    problems: tuple[Problem, ...] = ()
    """Mistakes in its mapping, if they are reported only when the model is used."""


def read_model(reading: DocumentReader, path: JsonPath, value: Any) -> ModelEntry:
    """Return the model in the mapping ``value`` at ``path``; ``reading`` collects mistakes."""
    name = str(path[-1])
    settings: dict[str, Any] = {}
    moved: dict[JsonPath, JsonPath] = {}
    try:
        given = parse_mapping({} if value is None else value)
        settings = reading.read_mapping(path, given, MODEL, f"model {name!r}")
        moved = _dissolve_options(settings)
    except InvalidValue as error:
        reading.add_problem((*path, *error.path), f"model {name!r}: {error.message}.", error.meant)

    def locate_setting(part: JsonPath) -> Location:
        # A moved setting is told at the line under `options` where somebody wrote it.
        moves = (at for target, at in moved.items() if part[: len(target)] == target[: len(part)])
        return reading.document.locate((*path, *next(moves, part)))

    file = reading.document.file
    return ModelEntry(name=name, settings=settings, wanted=name, source=file, locate=locate_setting)


def override_options(entry: ModelEntry, options: Values) -> ModelEntry:
    """Return ``entry`` with a program's settings, which override the file's.

    Raises:
        UsageError: there is no such setting, or its value is not valid.
    """
    known = [name for name in MODEL.fields if name not in ("type", "options")]
    # A copy: the entry belongs to the file, and other runs of the program read it again.
    noun, settings = f"model {entry.name!r}", dict(entry.settings)
    for name, value in options.items():
        if name not in known:
            meant = did_you_mean(name, known) or f"Known: {', '.join(known)}."
            raise UsageError(f"a model has no setting {name!r}", meant=meant)
        try:
            settings[name] = value if isinstance(value, Secret) else MODEL.fields[name].parse(value)
        except InvalidValue as error:
            raise UsageError(f"{noun}: {name}: {error.message}", meant=error.meant) from error
        except TypeError as error:  # the usual message would show the value
            kind = type(value).__name__
            raise UsageError(f"{noun}: {name}: a {kind} is not JSON") from error
    source = f"{entry.source}, and options of the program"
    return replace(entry, settings=settings, source=source, locate=None)


def read_foreign_model(document: Document, path: JsonPath, value: Any) -> ModelEntry:
    """Return a model of another tool's file; its mistakes are reported when it is used."""
    reading = DocumentReader(document)
    # Its own list: problems of the file as a whole are reported elsewhere.
    reading.problems = []
    entry = read_model(reading, path, value)
    return replace(entry, problems=tuple(reading.problems))


def _dissolve_options(settings: dict[str, Any]) -> dict[JsonPath, JsonPath]:
    """Move the settings under ``options`` to their places; existing settings take precedence.

    ``body:NAME`` goes into the body and ``header:NAME`` into the headers; any other name is a
    setting, or else also goes into the body. Returns the place of each moved setting.
    """
    moved: dict[JsonPath, JsonPath] = {}
    for option, value in settings.pop("options", {}).items():
        # At the last colon: the name of a header or a field has none.
        kind, _, name = option.rpartition(":")
        target: tuple[str, ...] = ("body", name if kind == "body" else option)
        parsed = value
        try:
            if kind == "header":
                target, parsed = ("headers", name), _join_header(value)
            elif option in _IN_OPTIONS:
                target, parsed = (option,), MODEL.fields[option].parse(value)
        except InvalidValue as error:
            message = f"{option}: {error.message}"
            raise InvalidValue(message, path=("options", option), meant=error.meant) from error
        place, (*sections, key) = settings, target
        for section in sections:
            place = place.setdefault(section, {})
        # Written directly counts more than under `options`.
        if key not in place:
            place[key] = parsed
            moved[target] = ("options", option)
    return moved


def _join_header(value: Any) -> str:
    """Join the values of a header with several."""
    return ", ".join(map(_parse_hidden_text, value if isinstance(value, list) else [value]))
