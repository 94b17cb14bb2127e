"""What all translators share: keys that are accounted for, and the tests that they make."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, NamedTuple

from harness.base import (
    Document,
    DocumentReader,
    InvalidInput,
    Problem,
    Steps,
    describe_value,
    did_you_mean,
    read_document,
)
from harness.suites.foreign.json_as_yaml import prepare_json
from harness.suites.mxcp import read_content
from harness.suites.readers import Vocabulary
from harness.types import JsonObject, Location, Suite, dataclass

PROVIDERS = {
    "anthropic": "anthropic",
    "claude": "anthropic",
    "openai": "openai",
    "google": "gemini",
    "gemini": "gemini",
}
"""Our names of providers, by those that other tools give them."""
IN_MODELS = "Set it in the model's entry under 'models:' of harness.yml."
"""What is nearest to a model's settings."""
WITHOUT_MODEL = (
    "It calls a tool without a model: test that as the server's own unit test, or ask a model for "
    "the same."
)
"""What is nearest to a test that asks no model."""
LISTS = frozenset({"answer_verbatim", "must_call", "must_not_call", "max_calls"})
"""Checks of which a test may have several under one key."""
_NO_LONGER = "not_checked"
"""The key of a test's metadata under which stands what its original also checks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslatedSuite:
    """A suite of another tool in our own format."""

    file: str
    digest: str
    content: dict[str, Any]
    """As the content of a file in YAML."""
    places: Mapping[Steps, Location]
    """Where parts of `content` stand in the original."""
    notes: tuple[str, ...] = field(default=())

    def build_suite(self, vocabulary: Vocabulary) -> Suite:
        """Return the suite.

        Raises:
            InvalidInput: the translation breaks a rule of our suites.
        """
        reading = DocumentReader(_TranslatedDocument(self))
        suite = read_content(reading, vocabulary)
        reading.finish()
        return replace(suite, notes=(*self.notes, *suite.notes))


class _TranslatedDocument(Document):
    """Our content, each part with its place in the original."""

    def __init__(self, translation: TranslatedSuite) -> None:
        self.file, self.digest = translation.file, translation.digest
        self.value, self.problems = translation.content, ()
        self._places = translation.places

    def locate(self, path: Steps) -> Location:
        """Return where the original has what stands at ``path``, or the nearest part around it."""
        return _find_place(self._places, path, self.file)

    def locate_key(self, path: Steps) -> Location:
        """Return the same: the keys are not those of the original."""
        return self.locate(path)


def _find_place(places: Mapping[Steps, Location], path: Steps, file: str) -> Location:
    for end in range(len(path), 0, -1):
        if path[:end] in places:
            return places[path[:end]]
    return Location(file=file, line=1, column=1)


class StatedChecks(NamedTuple):
    """One or more of our assertions, and where the original states them."""

    at: Location
    assertions: JsonObject


def negate(assertions: JsonObject) -> JsonObject:
    """Return the assertion that ``assertions`` do not hold."""
    return {"not": assertions}


def require_all(parts: Sequence[JsonObject]) -> JsonObject:
    """Return one mapping that holds if all ``parts`` hold."""
    return parts[0] if len(parts) == 1 else {"all_of": [dict(part) for part in parts]}


def require_any(parts: Sequence[JsonObject]) -> JsonObject:
    """Return one mapping that holds if one of ``parts`` holds."""
    return parts[0] if len(parts) == 1 else {"any_of": [dict(part) for part in parts]}


class SuiteTranslator:
    """Collects the tests of one file, the problems, and with ``lenient`` what is left out."""

    def __init__(self, file: str, digest: str, name: str, *, lenient: bool) -> None:
        self.content: dict[str, Any] = {"mxcp": 1, "suite": name, "tests": []}
        self.lenient = lenient
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self._file, self._digest = file, digest
        self._places: dict[Steps, Location] = {}
        self._lost: list[str] = []
        self._names: dict[str, int] = {}
        self._models: dict[str, Location] = {}

    def add_fault(self, at: Location, message: str, meant: str | None = None) -> None:
        """Add a mistake in the file, which nothing excuses."""
        self.problems.append(Problem(at=at, message=message, meant=meant))

    def lose(self, at: Location, message: str, meant: str | None = None) -> None:
        """Refuse a part that has no form here; if lenient, note what is no longer checked."""
        if self.lenient:
            self.notes.append(f"{at}: left out: {message}")
            self._lost.append(message.rstrip("."))
        else:
            self.add_fault(at, message, meant)

    def note(self, at: Location, message: str) -> None:
        """Tell something that loses nothing."""
        self.notes.append(f"{at}: {message}")

    def locate_result(self, path: Steps) -> Location:
        """Return where the original has what stands at ``path`` of the content so far."""
        return _find_place(self._places, path, self._file)

    def forget_losses(self) -> list[str]:
        """Return what was lost since the last call; later tests no longer count it as theirs."""
        lost, self._lost = self._lost, []
        return lost

    def count_losses(self) -> int:
        """Return how much was refused or left out so far."""
        return len(self.problems) + len(self._lost)

    def add_model(self, at: Location, name: str) -> None:
        """Add the model of a test, or one of the file's; a suite here has one."""
        self._models.setdefault(name, at)

    def add_test(
        self,
        at: Location,
        name: str,
        prompt: str,
        parts: Iterable[StatedChecks],
        lost: Sequence[str] = (),
        turns: Sequence[tuple[str, Sequence[StatedChecks]]] = (),
        **more: Any,
    ) -> None:
        """Add a test with the assertions in ``parts``; what was ``lost`` is written in it.

        With ``turns``, each a prompt and its own assertions, they take the place of ``prompt``.
        """
        parts, lost = list(parts), [*lost, *self.forget_losses()]
        if not parts and not any(own for _, own in turns):
            if self.problems and not self.lenient:
                return
            message = f"test {name!r} checks nothing here."
            if self.lenient:
                self.notes.append(f"{at}: left out: {message}")
            else:
                meant = "Give it at least one assertion; --lenient leaves such tests out."
                self.add_fault(at, message, meant)
            return
        path: Steps = ("tests", len(self.content["tests"]))
        test: dict[str, Any] = {"name": self._make_unique(name), "prompt": prompt, **more}
        if turns:
            del test["prompt"]
            test["turns"] = [
                {"prompt": said, "assertions": self._combine((*path, "turns", place), own)}
                if own
                else {"prompt": said}
                for place, (said, own) in enumerate(turns)
            ]
        if lost:
            told = "Not checked here: " + "; ".join(lost)
            test["description"] = ". ".join(filter(None, (test.get("description"), told)))
            test["metadata"] = {**test.get("metadata", {}), _NO_LONGER: list(lost)}
        if parts:
            test["assertions"] = self._combine(path, parts)
        self.content["tests"].append(test)
        self._places[path] = at

    def finish(self) -> TranslatedSuite:
        """Return the translation.

        Raises:
            InvalidInput: something in the file is wrong, or has no form here.
        """
        names = list(self._models)
        if len(names) == 1:
            self.content["model"] = names[0]
        elif names:
            options = " ".join(f"--model {name}" for name in names)
            message = f"{len(names)} models are named, and a suite here has one."
            self.lose(self._models[names[1]], message, f"Keep one, and run it with {options}.")
        if not self.problems and not self.content["tests"]:
            self.add_fault(Location(file=self._file), "no test is left that checks anything.")
        if self.problems:
            unique = dict.fromkeys(self.problems)
            order = sorted(unique, key=lambda one: (one.at.line or 0, one.at.column or 0))
            raise InvalidInput(order)
        return TranslatedSuite(
            file=self._file,
            digest=self._digest,
            content=self.content,
            places=self._places,
            notes=tuple(dict.fromkeys(self.notes)),
        )

    def _make_unique(self, name: str) -> str:
        count = self._names[name] = self._names.get(name, 0) + 1
        return name if count == 1 else self._make_unique(f"{name} ({count})")

    def _combine(self, path: Steps, parts: Sequence[StatedChecks]) -> JsonObject:
        """Return the assertions of what stands at ``path``, in which no part replaces another."""
        path = (*path, "assertions")
        found: dict[str, Any] = {}
        again: list[JsonObject] = []
        for at, assertions in parts:
            mergeable = all(key in LISTS or key not in found for key in assertions)
            if not mergeable or "all_of" in assertions:
                again.append(assertions)
                self._places.setdefault((*path, "all_of", len(again) - 1), at)
                continue
            for key, value in assertions.items():
                place: Steps = (*path, key)
                if key in LISTS:
                    items = found.setdefault(key, [])
                    for item in value if isinstance(value, list) else [value]:
                        self._places[*place, len(items)] = at
                        items.append(item)
                else:
                    found[key] = value
                    self._places[place] = at
        if again:
            found["all_of"] = again
            self._places.setdefault((*path, "all_of"), parts[-1].at)
        return found


class DocumentTranslator(SuiteTranslator):
    """Translates a file in YAML or JSON."""

    def __init__(self, path: Path, name: str, *, lenient: bool) -> None:
        is_json = path.suffix.lower() == ".json"
        self.document = read_document(path, prepare_json) if is_json else read_document(path)
        super().__init__(self.document.file, self.document.digest, name, lenient=lenient)
        self.problems += self.document.problems

    def locate(self, path: Steps) -> Location:
        """Return where ``path`` stands."""
        return self.document.locate(path)

    def take(
        self,
        path: Steps,
        given: Any,
        noun: str,
        carried: Collection[str],
        nearest: Mapping[str, str] | None = None,
    ) -> JsonObject:
        """Return the values of the keys that are ``carried`` over; each other key is lost.

        ``nearest`` says for known keys without a form here what is nearest to them.
        """
        given, nearest = self.take_mapping(path, given, noun), nearest or {}
        for key in given.keys() - carried:
            at = self.document.locate_key((*path, key))
            if key in nearest:
                self.lose(at, f"{noun}: {key!r} has no form here.", nearest[key])
            else:
                meant = did_you_mean(key, [*carried, *nearest]) or "The original has no such key."
                self.lose(at, f"{noun}: unknown key {key!r}.", meant)
        return {key: value for key, value in given.items() if key in carried}

    def take_name(self, path: Steps, given: JsonObject, key: str, noun: str = "") -> str:
        """Return the text under ``key``, which must be there; otherwise that is a fault."""
        place, named = (*path, key), f"{noun}: {key}" if noun else key
        return self.take_text(place, given.get(key), named)

    def take_each(self, path: Steps, value: Any, noun: str) -> Iterator[tuple[Steps, Any]]:
        """Yield the items of ``value``, which must be a list, each with its path."""
        for place, item in enumerate(self.take_list(path, value, noun)):
            yield (*path, place), item

    def copy_texts(self, path: Steps, given: JsonObject, **ours: str) -> None:
        """Copy texts that there are to the top of the content, by our names for them."""
        for key, name in ours.items():
            if key in given:
                self.content[name] = self.take_name(path, given, key, ": ".join(map(str, path)))

    def note_idle(self, path: Steps, given: JsonObject, keys: Sequence[str], why: str) -> None:
        """Tell of those ``keys`` that are there that they count for nothing; ``why`` ends it."""
        for key in keys:
            if key in given:
                self.note(self.document.locate_key((*path, key)), why.format(repr(key)))

    def add_provider_model(self, path: Steps, provider: Any, name: Any, noun: str) -> None:
        """Add the model ``name`` of a provider, whose name here may be another."""
        if (known := PROVIDERS.get(str(provider))) is None or not isinstance(name, str):
            message = f"{noun}: the model {name!r} of {provider!r} has no form here."
            self.lose(self.locate(path), message, "Choose one with --model.")
        else:
            self.add_model(self.locate(path), f"{known}:{name}")

    def _take_typed(self, path: Steps, value: Any, kind: type, noun: str, wanted: str) -> Any:
        """Return ``value``, or an empty one of its ``kind`` if it is another, which is a fault."""
        if isinstance(value, kind):
            return value
        message = f"{noun}: expected {wanted}, found {describe_value(value)}."
        self.add_fault(self.locate(path), message)
        return kind()

    def take_text(self, path: Steps, value: Any, noun: str) -> str:
        """Return ``value``, which must be a text; otherwise that is a fault."""
        text: str = self._take_typed(path, value, str, noun, "text")
        return text

    def take_list(self, path: Steps, value: Any, noun: str) -> list[Any]:
        """Return ``value``, which must be a list; otherwise that is a fault."""
        items: list[Any] = self._take_typed(path, value, list, noun, "a list")
        return items

    def take_mapping(self, path: Steps, value: Any, noun: str) -> dict[str, Any]:
        """Return ``value``, which must be a mapping of any keys; otherwise that is a fault."""
        found: dict[str, Any] = self._take_typed(path, value, dict, noun, "a mapping")
        return found

    def take_texts(self, path: Steps, value: Any, noun: str) -> list[str]:
        """Return the texts in ``value``: one, or a list of them."""
        if isinstance(value, str):
            return [value]
        return [self.take_text(at, item, noun) for at, item in self.take_each(path, value, noun)]
