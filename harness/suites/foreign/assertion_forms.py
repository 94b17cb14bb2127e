"""Tables of another tool's assertions: the keys of each kind, and what it comes to here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from harness.base import Steps, did_you_mean
from harness.suites.foreign.comparisons import compare_text
from harness.suites.foreign.templates import NoFormError
from harness.suites.foreign.translation import (
    DocumentTranslator,
    StatedChecks,
    TranslatedSuite,
    negate,
    require_all,
    require_any,
)
from harness.types import JsonObject

_REQUIRED: Any = object()


class Values:
    """The values of one assertion; what is missing or of another type is a `NoFormError`."""

    def __init__(self, given: Mapping[str, Any], expected: Any = None) -> None:
        self._given, self.expected = given, expected

    def take(self, key: str, noun: str, *types: type, default: Any = _REQUIRED) -> Any:
        """Return a value of one of the ``types``, or the default if there is none."""
        value = self._given.get(key)
        if value is None and default is not _REQUIRED:
            return default
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise NoFormError(
                f"{key!r} is no {noun}" if value is not None else f"{key!r} is missing"
            )
        return value

    def text(self, key: str) -> str:
        """Return a text that is not empty."""
        if not (value := self.take(key, "text", str)):
            raise NoFormError(f"{key!r} is empty")
        return str(value)

    def texts(self, key: str) -> list[str]:
        """Return one text, or a list of them, as a list."""
        value = self.take(key, "text or list of texts", str, list)
        texts = value if isinstance(value, list) else [value]
        if not texts or not all(isinstance(one, str) and one for one in texts):
            raise NoFormError(f"{key!r} is no list of texts")
        return texts

    def optional_text(self, key: str) -> str | None:
        """Return a text; ``None`` if there is none."""
        found: str | None = self.take(key, "text", str, default=None)
        return found

    def folds(self, key: str = "case_sensitive", *, sensitive: bool = False) -> bool:
        """Return whether a comparison overlooks case, by a flag that says when it does not."""
        return not self.flag(key, default=sensitive)

    def number(self, key: str, default: Any = _REQUIRED) -> Any:
        """Return a number."""
        return self.take(key, "number", int, float, default=default)

    def flag(self, key: str, *, default: bool) -> bool:
        """Return true or false."""
        return bool(self.take(key, "true or false", bool, default=default))

    def mapping(self, key: str) -> JsonObject:
        """Return a mapping."""
        found: JsonObject = self.take(key, "mapping", dict)
        return found


class AssertionForm(NamedTuple):
    """What one kind of assertion comes to here."""

    keys: Sequence[str]
    build: Callable[[Values], JsonObject]
    nearest: Mapping[str, str] = {}
    """Keys that have no form here, and what is nearest to them."""


class AssertionTranslator(DocumentTranslator):
    """Translates a file whose assertions stand in a table."""

    forms: ClassVar[Mapping[str, AssertionForm]]
    nearest_forms: ClassVar[Mapping[str, str]] = {}
    placeholder: ClassVar[re.Pattern[str] | None] = None
    """What the original fills in before it reads the file, or while it runs."""
    expected: Any = None
    """The right answer to the question that is being read, if its file gives one."""

    def finish(self) -> TranslatedSuite:
        """Return the translation; a placeholder that is left in it is a fault."""
        for path, text in _iterate_texts((), self.content):
            if self.placeholder and (found := self.placeholder.search(text)):
                message = f"the placeholder {found[0][:60]!r} is filled in by nothing here."
                self.add_fault(self.locate_result(path), message, "Write the text itself.")
        return super().finish()

    def read_assertion(self, path: Steps, kind: Any, given: Any, noun: str) -> list[StatedChecks]:
        """Return our assertion for one of another tool, which is lost if it has no form here."""
        at, form = self.locate(path), self.forms.get(str(kind))
        if form is None:
            known = (*self.forms, *self.nearest_forms)
            meant = self.nearest_forms.get(str(kind)) or did_you_mean(str(kind), known)
            self.lose(at, f"{noun}: {str(kind)[:60]!r} has no form here.", meant)
            return []
        noun = f"{noun}: {kind}"
        taken = self.take(path, given, noun, form.keys, form.nearest)
        try:
            return (
                [StatedChecks(at, form.build(Values(taken, self.expected)))]
                if isinstance(given, dict)
                else []
            )
        except NoFormError as error:
            self.lose(at, f"{noun}: {error}.")
            return []


def _iterate_texts(path: Steps, value: Any) -> Iterator[tuple[Steps, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict | list):
        for step, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _iterate_texts((*path, step), part)


def contain_all(texts: Sequence[str], *, ignore_case: bool) -> JsonObject:
    """Return the assertion that the answer contains each text."""
    return require_all([compare_text("contains", one, ignore_case=ignore_case) for one in texts])


def contain_none(texts: Sequence[str], *, ignore_case: bool) -> JsonObject:
    """Return the assertion that the answer contains none of the texts."""
    parts = [compare_text("contains", one, ignore_case=ignore_case) for one in texts]
    return negate(require_any(parts))


def ask_judge(rubric: str, threshold: Any, model: str | None = None) -> JsonObject:
    """Return the assertion that our judge gives an answer at least this mark from 0 to 1."""
    if not isinstance(threshold, int | float) or not 0 < threshold <= 1:
        raise NoFormError(f"the threshold {threshold!r} is not above 0 and at most 1")
    chosen = {"model": model} if model else {}
    return {"answer_judge": {"rubric": rubric, "threshold": threshold, **chosen}}
