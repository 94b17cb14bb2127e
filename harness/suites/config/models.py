"""Makes a `ModelSpec` from settings and the environment, or from a name alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from harness.base import KNOWN, InvalidInput, InvalidValue, UsageError, is_web_address
from harness.models import get_traits, list_built_in_providers
from harness.suites.config.expansion import (
    UnsetVariable,
    build_setting_error,
    expand_references,
    find_sole_reference,
)
from harness.suites.config.model_entries import ModelEntry
from harness.types import ModelSpec, Secret, dataclass

OFFLINE = "lexical"
"""The model that needs no key, no network and no configuration.

It is the default, so that a key in the environment alone never starts a paid run.
"""

KeyState: TypeAlias = Literal["present", "missing", "not needed"]
"""State of the key that a model needs."""

_PLAIN = {
    "timeout": "timeout_s",
    "max_retries": "max_retries",
    "api": "api",
    "takes": "takes",
    "temperature": "temperature",
    "max_tokens": "max_tokens",
    "max_reply_mb": "max_reply_mb",
    "body": "body",
    "input_price": "input_price",
    "output_price": "output_price",
}
# Setting → field of `ModelSpec`, for settings that need no lookup.

_KEY_HEADERS = frozenset({"authorization", "x-api-key"})  # either header can replace a key

# schemes by which other tools fetch a key from a store
_ELSEWHERE = ("vault://", "op://", "file://")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedModel:
    """A model as ``harness models`` shows it."""

    spec: ModelSpec
    """The model's settings, which may be incomplete."""
    key: KeyState
    """State of its key."""
    source: str
    """The file that configures it, or a word on why it needs none."""
    error: UsageError | None = None
    """The problem that prevents its use; its text is a message for the user."""


def find_named_entry(name: str) -> ModelEntry | None:
    """Return the entry of a name that needs no file: ``lexical``, an API's id, ``provider:id``."""
    if name == OFFLINE:
        return ModelEntry(name=name, settings={"type": OFFLINE}, wanted=name, source="built in")
    # Ids before `provider:id`: fine-tuned models have colons in theirs (ft:gpt-4o:…).
    if provider := _find_id_owner(name):
        return ModelEntry(name=name, settings={"type": provider}, wanted=name, source="known name")
    provider, _, wanted = name.partition(":")
    if provider and wanted:
        return ModelEntry(
            name=name, settings={"type": provider}, wanted=wanted, source="provider:model"
        )
    return None


def well_known_names() -> tuple[str, ...]:
    """Return names of models to suggest for a misspelt one."""
    services = [provider.service for provider in list_built_in_providers().values()]
    return tuple(name for service in services if service for name in service.well_known)


def _find_id_owner(name: str) -> str | None:
    """Return the provider whose ids look like ``name``, if there is one."""
    for own, traits in list_built_in_providers().items():
        if traits.service and traits.service.ids.match(name):
            return own
    return None


class ModelResolver:
    """Resolves one model: each step returns a part of the spec, and its source or a problem."""

    def __init__(
        self, entry: ModelEntry, environ: Mapping[str, str], *, keyless: bool = False
    ) -> None:
        """Resolve ``entry`` in ``environ``; if ``keyless``, a missing key is not a problem."""
        self.keyless = keyless
        self.entry = entry
        self.settings = entry.settings
        self.environ = environ
        self.problems: list[InvalidValue] = []
        self.sources: dict[str, str] = {}
        written = self.settings.get("type") or ""
        providers = list_built_in_providers().items()
        # The provider's own name, where an alias is written.
        self.provider = next((name for name, of in providers if written in of.aliases), written)
        self.service = get_traits(self.provider).service

    def resolve(self) -> ResolvedModel:
        """Do all steps; a problem is recorded, not raised."""
        self._note_source("type")
        base_url = self._base_url()
        # Before key and id: both depend on whose endpoint it is.
        own_service = self.service is not None and self.service.is_own_url(base_url)
        model_id, notes = self._model_id(own_service=own_service)
        headers = self._expand_setting("headers") or {}
        plain = [setting for setting in _PLAIN if setting in self.settings]
        for setting in plain:
            self._note_source(setting)
        required = (
            self.service is not None
            and own_service
            and not self.service.key_optional
            and not any(name.lower() in _KEY_HEADERS for name in headers)
        )
        key, variable = self._api_key(own_service=own_service, required=required)
        spec = ModelSpec(
            name=self.entry.name,
            provider=self.provider,
            model_id=model_id,
            api_key=Secret(key) if key else None,
            api_key_variable=variable,
            base_url=base_url,
            headers=headers,
            notes=notes,
            **{_PLAIN[setting]: self.settings[setting] for setting in plain},
            sources=self.sources,
        )
        # Before the error is built, whose text must not show a secret.
        KNOWN.add_specs(models=[spec], environ=self.environ)
        state: KeyState = "present" if key else "missing" if required else "not needed"
        return ResolvedModel(
            spec=spec, key=state, source=self.entry.source, error=self._build_error()
        )

    def _base_url(self) -> str | None:
        # An unset variable is told once, and not again as an address that is none.
        known = len(self.problems)
        url: str | None = self._expand_setting("base_url")
        variable = self.service.base_url_variable if self.service else ""
        if url is None and (url := self.environ.get(variable) or None):
            self.sources["base_url"] = f"${variable}"
        if url and len(self.problems) == known and not is_web_address(url):
            self._add_problem("base_url", "a base_url looks like http://localhost:11434/v1.")
        return url

    def _model_id(self, *, own_service: bool) -> tuple[str, tuple[str, ...]]:
        """Return the id and notes; names are translated only for the provider's own service."""
        if written := self.settings.get("model"):
            self._note_source("model")
            return written, ()
        self.sources["model"] = "its name"
        wanted = self.entry.wanted
        known, note = (
            self.service.api_id(wanted) if own_service and self.service else (wanted, None)
        )
        return known, (note,) if note else ()

    def _api_key(self, *, own_service: bool, required: bool) -> tuple[str | None, str | None]:
        """Return the key and the variable that holds it.

        The key of the usual variable is sent only to the provider's own service or to the endpoint
        in the environment; a file with another endpoint must also give its key.
        """
        if (written := self.settings.get("api_key")) is not None:
            return self._written_key(written.reveal(), required=required)
        # The usual key must not go to an endpoint that a file names.
        if self.service is None or not (own_service or "base_url" not in self.settings):
            return None, None
        variable = self.service.key_variable
        # An empty variable is how CI systems pass a secret that is not there.
        key = self.environ.get(variable) or None
        if key:
            self.sources["api_key"] = f"${variable}"
        elif required:
            self._missing_key(variable)
        return key, variable

    def _written_key(self, written: str, *, required: bool) -> tuple[str | None, str | None]:
        variable = find_sole_reference(written)
        # A list of its own: an unset variable of a key is told as a missing key.
        found: list[InvalidValue] = []
        key = expand_references(written, self.environ, found)
        for problem in found:
            if isinstance(problem, UnsetVariable):
                self._missing_key(problem.variable)
            else:
                self._add_problem("api_key", problem.message, problem.meant)
        if written.startswith(_ELSEWHERE):
            self._add_problem(
                "api_key",
                "harness does not fetch keys from other stores.",
                "Put it into a variable: ${NAME}.",
            )
        elif not found and not key and required:
            self._missing_key(variable)
        if not key or found:
            return None, variable
        self.sources["api_key"] = f"${variable}" if variable else self._format_origin("api_key")
        return key, variable

    def _missing_key(self, variable: str | None) -> None:
        # A dry run sends nothing.
        if self.keyless:
            return
        lack = f"{variable} is not set" if variable else "it is empty"
        remedy = f"Set it (export {variable}=…)" if variable else "Fill it in"
        self._add_problem(
            "api_key",
            f"an API key is needed, and {lack}.",
            f"{remedy}, or run offline: --model {OFFLINE}.",
        )

    def _expand_setting(self, setting: str) -> Any:
        if setting not in self.settings:
            return None
        self._note_source(setting)
        return expand_references(self.settings[setting], self.environ, self.problems, (setting,))

    def _note_source(self, setting: str) -> None:
        self.sources[setting] = self._format_origin(setting)

    def _format_origin(self, *path: str) -> str:
        """Return the place of a setting: ``harness.yml:5``."""
        if self.entry.locate is None:
            return self.entry.source
        at = self.entry.locate(path)
        return f"{at.file}:{at.line}"

    def _add_problem(self, setting: str, message: str, meant: str | None = None) -> None:
        self.problems.append(InvalidValue(message, path=(setting,), meant=meant))

    def _build_error(self) -> UsageError | None:
        locate = self.entry.locate
        if locate is not None and self.entry.problems:
            return InvalidInput(self.entry.problems)
        noun = f"model {self.entry.name!r}"
        return build_setting_error(noun, self.problems, locate) if self.problems else None
