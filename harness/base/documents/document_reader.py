"""Reads the mappings of a document by their layouts, and continues after a mistake."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from harness.base.documents.document import Document, Steps
from harness.base.documents.fields import Layout
from harness.base.errors import InvalidInput, InvalidValue, Problem, did_you_mean

Values: TypeAlias = Mapping[str, Any]
"""The parsed values of a mapping, by their keys."""
EXTENSION = "x-"
"""How keys begin that the file's author may use for anything, such as the anchors of YAML; the
convention of Docker Compose, OpenAPI and GitLab."""


class DocumentReader:
    """Reads one document; problems are collected and reported at the end."""

    def __init__(self, document: Document) -> None:
        """Begin with the problems of the YAML itself."""
        self.document = document
        self.problems = list(document.problems)
        self.notes: list[str] = []
        """Notes for the user that are not mistakes."""

    def read_mapping(
        self, path: Steps, given: Mapping[str, Any], layout: Layout, noun: str
    ) -> dict[str, Any]:
        """Return the parsed values of the mapping ``given`` at ``path``, in the order of the file.

        Keys that are absent, null, unknown or invalid are left out. Unknown and invalid keys are
        problems; so are a missing required key, and null that a field takes but cannot parse. Keys
        that begin with `EXTENSION` are the author's own.
        ``noun`` is the name of the mapping in messages.
        """
        for name, field in layout.fields.items():
            if field.required and given.get(name) is None:
                self.add_problem((*path, name), f"{noun} has no {name!r}.", f"Add '{name}: …'.")
        parsed = {}
        for name, part in given.items():
            if name not in layout.fields:
                if not name.startswith(EXTENSION):
                    self._report_unknown_key(path, name, layout, noun)
            elif part is None and not layout.fields[name].takes_null:
                continue
            elif (result := self._parse((*path, name), part, layout)) is not None:
                parsed[name] = result
        return parsed

    def add_problem(self, path: Steps, message: str, meant: str | None = None) -> None:
        """Add a problem of the value at ``path``."""
        self.problems.append(Problem(at=self.document.locate(path), message=message, meant=meant))

    def add_key_problem(self, path: Steps, message: str, meant: str | None = None) -> None:
        """Add a problem of the key at the end of ``path``."""
        at = self.document.locate_key(path)
        self.problems.append(Problem(at=at, message=message, meant=meant))

    def has_key(self, name: str) -> bool:
        """Whether the document has a value under ``name``, valid or not."""
        content = self.document.value
        return isinstance(content, dict) and content.get(name) is not None

    def finish(self) -> None:
        """End reading.

        Raises:
            InvalidInput: there are problems; the error has all of them, in the order of the file.
        """
        if self.problems:
            unique = dict.fromkeys(self.problems)
            raise InvalidInput(
                sorted(unique, key=lambda one: (one.at.line or 0, one.at.column or 0))
            )

    def _parse(self, path: Steps, value: Any, layout: Layout) -> Any:
        name = str(path[-1])
        try:
            return layout.fields[name].parse(value)
        except InvalidValue as error:
            message = f"{name}: {error.message.rstrip('.')}."
            self.add_problem((*path, *error.path), message, error.meant)
            return None

    def _report_unknown_key(self, path: Steps, name: str, layout: Layout, noun: str) -> None:
        near = layout.elsewhere.get(name) or did_you_mean(name.lower(), layout.fields)
        meant = near or f"Known keys: {', '.join(layout.fields)}."
        self.add_key_problem((*path, name), f"unknown key {name!r} in {noun}.", meant)


def find_dropped_keys(given: Mapping[str, Any], parsed: Values) -> set[str]:
    """Return the keys of ``given`` whose values were invalid and already caused problems."""
    return {key for key, value in given.items() if value is not None and key not in parsed}
