"""Secrets taken out of everything that is written: logs, reports, messages.

Two kinds are found: values that are known to be secret, in whatever form they travel (as they are,
URL-encoded, in JSON, in base64 even in the middle of a longer text), and text that looks like a
well-known kind of key, wherever it came from. One regular expression does it in one pass.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from harness.types import ModelSpec, ServerSpec

MARK = "[redacted]"
"""What stands where a secret stood."""

MIN_LENGTH = 6
"""Shorter values are no secrets: they would turn up everywhere."""

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH|PRIVATE", re.IGNORECASE)

_ESCAPE = re.compile("%[0-9A-F]{2}")

_PLAIN_HEADERS = frozenset(
    {
        "accept",
        "anthropic-beta",
        "anthropic-version",
        "content-type",
        "http-referer",
        "openai-beta",
        "openai-organization",
        "openai-project",
        "user-agent",
        "x-title",
    }
)
# Headers whose values are no secrets, and too common a text to be taken out.

_WORDS = (
    (r"sk-", r"(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{16,}"),
    (r"gh[oprsu]_", r"[A-Za-z0-9]{30,}"),
    (r"github_pat_", r"\w{30,}"),
    (r"glpat-", r"[\w-]{20,}"),
    (r"xox[abeprs]-", r"[A-Za-z0-9-]{16,}"),
    (r"AKIA", r"[0-9A-Z]{16}(?!\w)"),
    (r"ASIA", r"[0-9A-Z]{16}(?!\w)"),
    (r"AIza", r"[\w-]{35}"),
    (r"eyJ", r"[\w-]{8,}\.[\w-]{8,}\.[\w-]*"),
)
# How keys of model providers, code hosts, chat and cloud services begin and go on; last, JSON Web Tokens.

_AFTER = (
    (r"Bearer ", r"(?=[a-z._-]*[A-Z0-9+/=~])[\w.~+/-]{16,}=*"),
    (r"bearer ", r"(?=[a-z._-]*[A-Z0-9+/=~])[\w.~+/-]{16,}=*"),
    (r"://", r"[^\s/:@\"'\\]*:[^\s/@\"'\\]+(?=@)"),
)
# What stands before a secret and is none itself, and the secret: credentials, a user and password in a URL.


def _word(begin: str, rest: str) -> str:
    r"""Match ``begin`` only at the start of a word, so that no text is tried twice and time stays linear.

    A word also starts after an escape such as ``\n`` of JSON. The condition stands behind ``begin``,
    since a pattern that begins with plain characters lets the engine skip to where they occur.
    """
    back = "." * len(re.sub(r"\[\w+\]", ".", begin))
    return rf"{begin}(?:(?<![\w-]{back})|(?<=\\[bfnrt]{back})){rest}"


_SHAPES = (*(_word(begin, rest) for begin, rest in _WORDS), *(before + secret for before, secret in _AFTER))


class Redactor:
    """Replaces secrets by `MARK`."""

    __slots__ = ("_known", "_pattern")

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Know ``secrets`` by value; those shorter than `MIN_LENGTH` are passed over."""
        forms = {form for secret in secrets if len(secret) >= MIN_LENGTH for form in _forms(secret)}
        self._known = {form for form in forms if form not in MARK}
        literal = [re.escape(form) for form in sorted(self._known, key=len, reverse=True)]
        self._pattern = re.compile("|".join([*literal, *_SHAPES]))

    @classmethod
    def of(
        cls,
        models: Iterable[ModelSpec] = (),
        servers: Iterable[ServerSpec] = (),
        environ: Mapping[str, str] | None = None,
    ) -> Redactor:
        """Know the secrets of ``models`` and (expanded) ``servers``.

        These are keys, header values, variables that a server is given under a name such as
        ``API_TOKEN``, and whatever a server is given, be it in an argument, that ``environ``
        holds under such a name.
        """
        models, servers = tuple(models), tuple(servers)
        secrets = {*_of_models(models), *_of_servers(servers)}
        given = [text for spec in servers for text in _texts(spec)]
        given += [model.base_url for model in models if model.base_url]
        for name, value in (environ or {}).items():
            if _SECRET_NAME.search(name) and len(value) >= MIN_LENGTH and any(value in text for text in given):
                secrets.add(value)
        return cls(secrets)

    def text(self, text: str) -> str:
        """Return ``text`` without secrets: the same object when there are none."""
        replaced, count = self._pattern.subn(self._replacement, text)
        return replaced if count else text

    def document(self, text: str) -> str:
        """Return the JSON document ``text`` without secrets, and still one: the same object when there are none.

        In plain text a number may be a secret, and a secret may run across quotation marks.
        """
        if self._pattern.search(text) is None:
            return text
        value = json.loads(text)
        clean = self.json(value)
        return text if clean is value else json.dumps(clean, ensure_ascii=False, separators=(",", ":"))

    def json(self, value: Any) -> Any:
        """Return the JSON ``value`` without secrets in its texts and keys: the same object when there are none."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            items = {self.text(key): self.json(item) for key, item in value.items()}
            same = len(items) == len(value) and all(
                old is new and value[old] is items[new] for old, new in zip(value, items, strict=True)
            )
            return value if same else items
        if isinstance(value, list | tuple):
            parts = [self.json(item) for item in value]
            same = all(old is new for old, new in zip(value, parts, strict=True))
            return value if same else type(value)(parts)
        return value

    def _replacement(self, match: re.Match[str]) -> str:
        found = match[0]
        if found in self._known:
            return MARK
        return next((before for before, _ in _AFTER if found.startswith(before)), "") + MARK


def _of_models(models: Iterable[ModelSpec]) -> Iterator[str]:
    for model in models:
        if model.api_key is not None:
            yield model.api_key.reveal()
        for name, value in model.headers.items():
            if name.lower() not in _PLAIN_HEADERS:
                yield value
                yield value.rpartition(" ")[2]  # the credentials without their scheme


def _of_servers(servers: Iterable[ServerSpec]) -> Iterator[str]:
    for server in servers:
        yield from (value for name, value in server.env.items() if _SECRET_NAME.search(name))


def _texts(server: ServerSpec) -> Iterator[str]:
    """Yield every text that a server is given."""
    yield from (server.command or "", *server.args, *server.env.values())
    yield from (str(value) for value in (*server.identity.headers.values(), *server.identity.variables.values()))


def _forms(secret: str) -> Iterator[str]:
    """Yield ``secret`` as it looks in plain text, URLs, JSON and base64."""
    yield secret
    raw = secret.encode("utf-8", "surrogatepass")
    for encoded in (quote(raw), quote(raw, safe=""), quote_plus(raw)):
        yield from (encoded, _ESCAPE.sub(lambda match: match[0].lower(), encoded))
    for ascii_only in (True, False):
        once = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        yield from (once, json.dumps(once, ensure_ascii=ascii_only)[1:-1])
    for offset in range(3):
        yield from _base64_forms(raw, offset)


def _base64_forms(raw: bytes, offset: int) -> Iterator[str]:
    """Yield what base64 makes of ``raw`` when ``offset`` bytes stand before it, without what its neighbours change."""
    begin = -(-offset * 8 // 6)
    end = (offset + len(raw)) * 8 // 6
    padded = bytes(offset) + raw
    yield from (encode(padded).decode()[begin:end] for encode in (base64.b64encode, base64.urlsafe_b64encode))
