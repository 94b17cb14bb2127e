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
from urllib.parse import SplitResult, parse_qsl, quote, quote_plus, unquote, urlsplit, urlunsplit

from harness.secret_names import looks_secret, may_name_secret, names_secret, of_header, secrets_of, words_of
from harness.types import ModelSpec, ServerSpec

MARK = "[redacted]"
"""What stands where a secret stood."""

MIN_LENGTH = 6
"""Shorter values are no secrets: they would turn up everywhere."""

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
        self._known: set[str] = set()
        self._know(secrets)

    @classmethod
    def of(
        cls,
        models: Iterable[ModelSpec] = (),
        servers: Iterable[ServerSpec] = (),
        environ: Mapping[str, str] | None = None,
    ) -> Redactor:
        """Know the secrets of ``models`` and (expanded) ``servers``.

        These are keys, header values, variables that a server is given under a name such as
        ``API_TOKEN``, what command lines, a request's body and the call that resets a server say
        under one, and whatever a server or a model is given, be it in an argument, that ``environ``
        holds under such a name. What is asked of a server's data, or claimed of a user, is mostly
        ordinary words: of these only what looks like a secret, or is named like one beyond doubt.
        """
        models, servers = tuple(models), tuple(servers)
        secrets = {*_of_models(models), *_of_servers(servers)}
        given = [text for spec in servers for text in _texts(spec)]
        given += [text for model in models for text in (model.base_url or "", *_inside(model.body))]
        sent = [text for spec in servers for text in _sent(spec)]
        wordy = [*sent, *(text for spec in servers for text in _wordy(spec))]
        for name, value in (environ or {}).items():
            if len(value) < MIN_LENGTH or not may_name_secret(name):
                continue
            texts = [*given, *(sent if names_secret(name) else ()), *(wordy if looks_secret(value) else ())]
            if any(value in text for text in texts):
                secrets.add(value)
        return cls(secrets)

    def learn(self, secret: str) -> None:
        """Know ``secret`` from now on: one that came up in the middle of a run.

        What is recognised by its shape, such as a JSON Web Token, need not be: long ones would make this slow.
        """
        if self.text(secret) != MARK:
            self._know([secret])

    def _know(self, secrets: Iterable[str]) -> None:
        forms = {form for secret in secrets if len(secret) >= MIN_LENGTH for form in _forms(secret)}
        self._known |= {form for form in forms if form not in MARK}
        literal = [re.escape(form) for form in sorted(self._known, key=len, reverse=True)]
        self._pattern = re.compile("|".join([*literal, *_SHAPES]))

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
        yield from _of_headers(model.headers)
        yield from _inside(model.body, named=True)


def _inside(value: Any, *, named: bool = False) -> Iterator[str]:
    """Yield every text in a JSON value; where ``named``, every one under a name such as ``api_token``."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _inside(part, named=named and not _names_field(name))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _inside(part, named=named)
    elif isinstance(value, str) and not named:
        yield value


def _names_field(name: str) -> bool:
    return names_secret(name) or name.lower() == "auth"


def _of_headers(headers: Mapping[str, str]) -> Iterator[str]:
    for name, value in headers.items():
        if name.lower() not in _PLAIN_HEADERS:
            yield from of_header(value)


def _of_url(url: str | None) -> Iterator[str]:
    if url is None:
        return
    parts = _split(url)
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    yield from map(unquote, (password or user, *(value for _, value in parse_qsl(parts.query))))


def bare_url(url: str) -> str:
    """Return ``url`` without the parts that may hold secrets: user and password, query and fragment."""
    parts = _split(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", "", "", "")


def _of_servers(servers: Iterable[ServerSpec]) -> Iterator[str]:
    for server in servers:
        yield from (value for name, value in server.env.items() if may_name_secret(name))
        yield from secrets_of(server.args)
        yield from secrets_of(words_of(server.identity.token_command))
        for query in server.queries.values():
            yield from (*secrets_of(words_of(query.command)), *secrets_of([query.database or ""]))
        yield from _inside(None if server.reset is None else server.reset.arguments, named=True)
        yield from _of_headers(server.headers)
        yield from _of_url(server.url)


def _texts(server: ServerSpec) -> Iterator[str]:
    """Yield every text that a server is given."""
    identity = server.identity
    yield from (server.command or "", server.url or "", identity.token_command or "")
    yield from (*server.args, *server.env.values())
    yield from (str(value) for value in (*identity.headers.values(), *identity.variables.values()))


def _sent(server: ServerSpec) -> Iterator[str]:
    """Yield what is run beside a server, and what resets it."""
    yield from (query.command or "" for query in server.queries.values())
    yield from _inside(None if server.reset is None else server.reset.arguments)


def _wordy(server: ServerSpec) -> Iterator[str]:
    """Yield what is claimed of its users, and asked of its data."""
    yield from _inside(server.identity.claims)
    yield from (text or "" for query in server.queries.values() for text in (query.sql, query.database))


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
