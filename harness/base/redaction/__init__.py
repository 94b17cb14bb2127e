"""Redacts secrets in everything that is written: logs, reports, messages.

Two kinds are found: known secret values in any form (plain, URL-encoded, in JSON, HTML and XML, in
base64 even inside a longer text), and text that looks like a well-known kind of key, whatever its
origin. One regular expression finds both in one pass.

`KNOWN` is the redactor of this process. Every reader of a configuration, a suite, a command line or
a token adds the secrets in it, and all output of the process goes through it
(`harness.base.redaction.output`).
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, takewhile
from typing import Any
from urllib.parse import quote, quote_plus

from harness.base.redaction import spec_secrets
from harness.base.redaction.secret_names import (
    TokenPieces,
    change_texts,
    looks_secret,
    may_name_secret,
    names_secret,
)
from harness.types import JsonObject, ModelSpec, ServerSpec, Suite

MARK = "[redacted]"
"""The replacement of a secret."""

MIN_LENGTH = 6
"""Shorter values are not treated as secrets, because they occur everywhere."""

_LONG_LINE = 16
"""Minimum length of a line of a multi-line secret that is treated as a secret itself."""

_NUMBER = re.compile(r"-?[\d.]+(?:[eE][+-]?\d+)?")
_QUOTE = re.compile(r'(?<!\\)"')
_OUR_WORDS = frozenset(
    """access answer arguments budget cancelled checks complete denied description error expected
    explanation failed footer harness header interrupted latency message messages metadata method
    models outcome passed planned prompt reason replies result results schema server servers
    settings skipped status steps suites target tokens tool_calls tool_error transcript trials
    unknown unknown_tool usage user_context version warning""".split()  # noqa: SIM905
)
"""Words of logs and reports. A password that is one of them is not redacted, because logs would be
unreadable."""

_ESCAPE = re.compile("%[0-9A-F]{2}")

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
# Beginnings and forms of keys of model providers, code hosts, chat and cloud services; last,
# JSON Web Tokens.

_BEARER = (
    # not a parameter of WWW-Authenticate, such as error_description="…"
    r"(?![a-z_-]+=(?:\\*\"[^\"\s,:;)}\]\\'<>&]|[\w/:]))"
    r"(?=[a-z._-]*[A-Z0-9+/=~])[\w.~+/-]{16,}=*"
)
_AFTER = (
    (r"Bearer ", _BEARER),
    (r"bearer ", _BEARER),
    (r"://", r"[^\s/:@\"'\\]*:[^\s/@\"'\\]+(?=@)"),
)
# The text before a secret, which is not secret itself, and the secret: credentials, a user and
# password in a URL.


def _anchor_word(begin: str, rest: str) -> str:
    r"""Match ``begin`` only at the start of a word, so that time stays linear.

    A word also starts after an escape such as ``\n`` of JSON. The condition follows ``begin``,
    because a pattern that begins with plain characters lets the engine skip to their occurrences.
    """
    back = "." * len(re.sub(r"\[\w+\]", ".", begin))
    return rf"{begin}(?:(?<![\w-]{back})|(?<=\\[bfnrt]{back})){rest}"


_SHAPES = (
    *(_anchor_word(begin, rest) for begin, rest in _WORDS),
    *(before + secret for before, secret in _AFTER),
)


_PIECE = 262_144
_OVERLAP = 65_536
# Characters that are searched at once, and the most further ones of a secret that begins there.


class Redactor:
    """Replaces secrets with `MARK`.

    Secrets of different identities get different marks, ``[redacted]``, ``[redacted 2]``, so that
    the identities stay distinguishable in a policy's report.
    """

    __slots__ = ("_compiled", "_identities", "_known", "_tokens")

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Add ``secrets`` by value; those shorter than `MIN_LENGTH` are ignored."""
        self.forget()
        self._add_secrets(secrets)

    def add_specs(
        self,
        models: Iterable[ModelSpec] = (),
        servers: Iterable[ServerSpec] = (),
        suites: Iterable[Suite] = (),
        identities: Iterable[JsonObject] = (),
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """Add the secrets of ``models``, (expanded) ``servers``, ``suites`` and ``identities``.

        These are keys, header values, passwords of URLs, and values with a name such as
        ``API_TOKEN``: variables of a server, and values in command lines, request bodies, calls and
        users' attributes. Values of such variables in ``environ`` count wherever a server or a
        model gets them. Queries of a server's data and claims about a user are mostly ordinary
        words: of these, only values count that look like a secret or clearly have a secret's name.
        """
        models, servers, suites = tuple(models), tuple(servers), tuple(suites)
        servers += tuple(member for server in servers for member in server.members)
        self._add_secrets(spec_secrets.find_model_secrets(models))
        self._add_secrets(spec_secrets.find_server_secrets(servers))
        self._add_secrets(spec_secrets.find_suite_secrets(suites))
        self._add_secrets(_find_environment_secrets(environ or {}, models, servers))
        for user_context in (*spec_secrets.iterate_identities(suites), *identities):
            for secret in spec_secrets.find_identity_secrets(user_context):
                self._know_identity(secret)

    def add_secret(self, secret: str) -> None:
        """Add ``secret``, which was found during a run.

        A secret that is recognised by its form, such as a JSON Web Token, is not added, since long
        ones would make the search slow. Only the pieces of a token, split at its dots, are added,
        since they have no recognisable form.
        """
        self._tokens.add(secret)
        if self.redact_text(secret) != MARK:
            self._add_secrets([secret])

    def forget(self) -> None:
        """Forget all secrets, for a test that starts anew."""
        self._known: dict[str, str] = {}
        self._identities: dict[str, str] = {}
        self._compiled: re.Pattern[str] | None = None
        self._tokens = TokenPieces(MARK)

    def take_over(self, other: Redactor) -> None:
        """Replace the known secrets and marks with those of ``other``."""
        self._known, self._identities = dict(other._known), dict(other._identities)
        self._tokens, self._compiled = other._tokens, None

    def _add_secrets(self, secrets: Iterable[str], mark: str = MARK) -> None:
        for secret in secrets:
            if len(secret) < MIN_LENGTH or secret in _OUR_WORDS:
                continue
            if mark == MARK and secret in self._known:
                continue
            # A single line of a private key must be found as well.
            for part in (secret, *_split_lines(secret)):
                # A password such as `redacted` would be found in every mark.
                self._known |= {form: mark for form in _iterate_forms(part) if form not in MARK}
            self._compiled = None

    def _know_identity(self, secret: str) -> None:
        if secret not in self._identities:
            number = len(self._identities) + 1
            self._identities[secret] = MARK if number == 1 else f"{MARK[:-1]} {number}]"
            self._add_secrets([secret], self._identities[secret])

    @property
    def _pattern(self) -> re.Pattern[str]:
        if self._compiled is None:
            literal = [_build_pattern(sorted(self._known))] if self._known else []
            self._compiled = re.compile("|".join([*literal, *_SHAPES]))
        return self._compiled

    def redact_text(self, text: str) -> str:
        """Return ``text`` without secrets; the same object if there are none."""
        replaced, count = self._pattern.subn(self._replace_match, text)
        return self._tokens.redact_text(replaced if count else text)

    def redact_output(self, text: str) -> str:
        """Return a piece of output without secrets; it may be JSON, a table or a sentence.

        A secret that is a number, or contains a quotation mark, stays, because its removal could
        break JSON. Such secrets are redacted when texts are put into the output.
        """

        def replace_match(match: re.Match[str]) -> str:
            return match[0] if _is_syntax(match[0]) else self._replace_match(match)

        return self._tokens.redact_text(self._pattern.sub(replace_match, text))

    def redact_json_text(self, text: str) -> str:
        """Return the JSON ``text`` without secrets, still valid; the same object if there are none.

        In plain text a number may be a secret, and a secret may run across quotation marks.
        """
        if not self._has_secret(text):
            return text
        value = json.loads(text)
        clean = self.redact_json(value)
        if clean is value:
            return text
        return json.dumps(clean, ensure_ascii=False, separators=(",", ":"))

    def _has_secret(self, text: str) -> bool:
        """Whether ``text`` contains a secret.

        A long text is searched piece by piece, so that other threads can run in between.

        A secret that begins in one piece may end in the next.
        """
        if self._tokens.is_in(text):
            return True
        # A copy of the keys: another thread may add a secret meanwhile.
        overlap = max([_OVERLAP, *map(len, tuple(self._known))])
        starts = range(0, max(1, len(text)), _PIECE)
        return any(self._pattern.search(text, start, start + _PIECE + overlap) for start in starts)

    def redact_json(self, value: Any) -> Any:
        """Return the JSON ``value`` without secrets; the same object if there are none."""
        return change_texts(value, self.redact_text)

    def _replace_match(self, match: re.Match[str]) -> str:
        found = match[0]
        if found in self._known:
            return self._known[found]
        return next((before for before, _ in _AFTER if found.startswith(before)), "") + MARK


def _find_environment_secrets(
    environ: Mapping[str, str], models: Iterable[ModelSpec], servers: Iterable[ServerSpec]
) -> Iterator[str]:
    """Yield values that have a secret's name in ``environ`` and that a model or server gets."""
    given = [text for spec in servers for text in spec_secrets.iterate_received_texts(spec)]
    for model in models:
        given += [model.base_url or "", *spec_secrets.iterate_texts(model.body)]
    sent = [text for spec in servers for text in spec_secrets.iterate_query_texts(spec)]
    wordy = [*sent, *(text for spec in servers for text in spec_secrets.iterate_claim_texts(spec))]
    for name, value in environ.items():
        if len(value) < MIN_LENGTH or not may_name_secret(name):
            continue
        texts = given + (sent if names_secret(name) else [])
        texts += wordy if looks_secret(value) else []
        if any(value in text for text in texts):
            yield value


def _split_lines(secret: str) -> list[str]:
    """Return the lines of a multi-line secret, such as a private key."""
    lines = secret.splitlines() if len(secret.splitlines()) > 1 else []
    return [line for line in map(str.strip, lines) if len(line) >= _LONG_LINE]


def _build_pattern(words: Iterable[str]) -> str:
    """Return a pattern for the longest match of sorted ``words``, whatever their number."""
    words = list(words)
    pairs = zip(words[0], words[-1], strict=False)
    begin = "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    rest = [word[len(begin) :] for word in words if len(word) > len(begin)]
    if not rest:
        return re.escape(begin)
    # Words that begin alike share a branch: otherwise each would be tried at each place of a text.
    parts = "|".join(_build_pattern(group) for _, group in groupby(rest, key=lambda word: word[0]))
    return f"{re.escape(begin)}(?:{parts}){'?' if len(rest) < len(words) else ''}"


def _is_syntax(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None or _QUOTE.search(text) is not None


def _iterate_forms(secret: str) -> Iterator[str]:
    """Yield ``secret`` in its forms in plain text, URLs, JSON and base64."""
    yield secret
    raw = secret.encode("utf-8", "surrogatepass")
    for encoded in (quote(raw), quote(raw, safe=""), quote_plus(raw)):
        yield from (encoded, _ESCAPE.sub(lambda match: match[0].lower(), encoded))
    # As reports in HTML and XML write it.
    markup = secret.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    yield from (markup, markup.replace('"', "&quot;").replace("'", "&#x27;"))
    for ascii_only in (True, False):
        once = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        yield from (once, json.dumps(once, ensure_ascii=ascii_only)[1:-1])
    # Base64 of three bytes is four letters, so a secret has three forms by where it begins.
    for offset in range(3):
        yield from _base64_forms(raw, offset)


def _base64_forms(raw: bytes, offset: int) -> Iterator[str]:
    """Yield the base64 of ``raw`` after ``offset`` bytes, without characters of other bytes."""
    begin, end = -(-offset * 8 // 6), (offset + len(raw)) * 8 // 6
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(bytes(offset) + raw).decode()[begin:end]


KNOWN = Redactor()
"""The redactor with all secrets that this process knows."""
