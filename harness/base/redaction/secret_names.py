"""Recognises names of secrets (variables, fields, options, headers) and reads command lines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

_ANYWHERE = re.compile(
    r"KEY(?!CLOAK|FIELD|BOARD|WORD)|TOKEN(?!IZER)|SECRET|PASSW|PASSPHRASE|(?:^|_)PASS$|_PWD$"
    r"|CREDENTIAL|AUTH(?!OR(?!I[SZ]A))|PRIVATE",
    re.IGNORECASE,
)

_KEYS = (
    r"(?:access|account|api|auth|encryption|gateway|master|private|secret|signing|subscription)"
    r"[_.-]?keys?"
)
_WORDS = rf"(?:token|secrets?|credentials?|authorization|{_KEYS})"
_RUN_ON = r"(?:passw(?:or)?ds?|passphrases?|apikeys?)"
"""Words that name a secret even at the end of another word: ``PGPASSWORD``."""
_OTHERWISE = r"(?:no|use|require|with|max|min|next|page|eos|bos|pad|stop)[_.-]"
"""Prefixes of names without secrets: switches, numbers, and tokens that are positions in a list or
a text."""
_WHOLE = re.compile(
    rf"(?!{_OTHERWISE})(?:(?:[\w.-]*[_.-])?{_WORDS}|[\w.-]*{_RUN_ON})", re.IGNORECASE
)
_LOGIN = re.compile(
    rf"(?!{_OTHERWISE})(?:(?:[\w-]+[_-])?(?:auth|pass)|u|user|proxy-user)", re.IGNORECASE
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_OPTION = re.compile(r"--?(?P<name>[A-Za-z][\w.-]*)(?:=(?P<value>.*))?", re.DOTALL)
_ATTACHED = re.compile(r"-(?P<name>[Hpu])(?P<value>[^-=].*)", re.DOTALL)
_PAIR = re.compile(r"(?:^|(?<=[?&;\s]))(?P<name>[A-Za-z_][\w.-]*)=(?P<value>[^&;\s]*)")
_VARIABLE = re.compile(r"(?:-e)?(?P<name>[A-Za-z_]\w*)=(?P<value>.*)", re.DOTALL)
_HEADER = re.compile(r"(?P<name>[A-Za-z][\w-]*):\s*(?P<value>\S.*)", re.DOTALL)
_PASSWORD_PROGRAM = re.compile(r"(?:mysql|mariadb)[\w-]*|sshpass")
"""Programs whose option ``-pVALUE`` is a password, whatever the value looks like."""
_COMMAND = re.compile(r"-[a-z]*c")

_SHORTEST, _LONG = 8, 24
_PLAIN_SYMBOLS = frozenset(" _-./:,@")
"""Texts that are common in prose: paths, addresses, joined words."""


def may_name_secret(name: str) -> bool:
    """Return whether a variable of this name may have a secret: ``SHOP_KEY``, ``AUTH_COOKIE``."""
    return _ANYWHERE.search(name) is not None


def names_secret(name: str) -> bool:
    """Return whether a field, option or header clearly names a secret: ``api_key``, ``adminToken``.

    This is stricter, since fields often have similar names: ``prompt_cache_key``, ``author``,
    ``max_token``.
    """
    return _WHOLE.fullmatch(_CAMEL.sub("_", name)) is not None


def looks_secret(value: str) -> bool:
    """Return whether a text looks like a secret: long, or letters with digits or symbols."""
    if len(value) < _SHORTEST or "://" in value or value.isdigit():
        return False
    if len(value) >= _LONG and not re.search(r"\s", value):
        return True
    symbols = any(not (each.isalnum() or each in _PLAIN_SYMBOLS) for each in value)
    return any(map(str.isalpha, value)) and (symbols or any(map(str.isdigit, value)))


def split_command(command: str | None, *, operators: bool = False) -> list[str]:
    """Return the words of a command line, even if a quotation mark is not closed.

    With ``operators``, shell operators such as ``;`` are separate words.
    """
    reader = shlex.shlex(command or "", posix=True, punctuation_chars=operators)
    # A `#` in a password is no comment.
    reader.whitespace_split, reader.commenters = True, ""
    try:
        return list(reader)
    except ValueError:
        return (command or "").split()


def find_secrets(args: Sequence[str]) -> Iterator[str]:
    """Yield the secrets in ``args``: values of options, variables, headers and logins."""
    before = ""
    if any(_PASSWORD_PROGRAM.fullmatch(arg.rpartition("/")[2]) for arg in args):
        yield from (arg[2:] for arg in args if arg.startswith("-p"))
    for arg in args:
        option = _OPTION.fullmatch(before)
        if option and option["value"] is None and not arg.startswith("-"):
            yield from _find_in_option(option["name"], arg)
        # `sh -c "..."` hides a whole command line in one word.
        if _COMMAND.fullmatch(before):
            yield from find_secrets(split_command(arg, operators=True))
        yield from _find_in_arg(arg)
        before = arg


def _find_in_arg(arg: str) -> Iterator[str]:
    attached, option = _ATTACHED.fullmatch(arg), _OPTION.fullmatch(arg)
    own = option if option and option["value"] is not None else attached
    if own is not None:
        yield from _find_in_option(own["name"], own["value"])
        yield from _find_in_pairs(own["value"])
    yield from _find_in_pairs(arg)


def _find_in_option(name: str, value: str) -> Iterator[str]:
    if names_secret(name) or name == "pass" or (name == "p" and looks_secret(value)):
        yield value
    elif name in {"H", "header"} and (header := _HEADER.fullmatch(value)):
        known = may_name_secret(header["name"]) or header["name"].lower() == "cookie"
        if known and looks_secret(header["value"]):
            yield from find_header_secrets(header["value"])
    elif _LOGIN.fullmatch(name):
        yield from _find_in_login(value, alone=name.lower().endswith(("auth", "pass")))


def _find_in_login(value: str, *, alone: bool) -> Iterator[str]:
    """Yield a user with a password, and the password.

    With ``alone``, also yield a single text that looks like a secret.
    """
    _, _, password = value.partition(":")
    # A URL has a colon, too, and 1000:1000 is a user and a group.
    if password and not password.startswith("//") and not value.replace(":", "").isdigit():
        yield from (value, password)
    elif alone and looks_secret(value):
        yield value


def _find_in_pairs(text: str) -> Iterator[str]:
    """Yield the secrets in ``NAME=value``, also in lists and URLs, and in ``Name: value``."""
    if variable := _VARIABLE.fullmatch(text):
        name, value = variable["name"], variable["value"]
        if names_secret(name) or (name.isupper() and may_name_secret(name) and looks_secret(value)):
            yield value
    pairs = list(_PAIR.finditer(text))
    # A single variable was judged above, by stricter rules.
    if len(pairs) > 1 or not variable:
        yield from (pair["value"].strip("'\"") for pair in pairs if names_secret(pair["name"]))
    if (header := _HEADER.fullmatch(text)) and names_secret(header["name"]):
        yield from find_header_secrets(header["value"])


def find_header_secrets(value: str) -> Iterator[str]:
    """Yield the secrets of a header: its value, and the credentials without their scheme."""
    yield from (value, value.rpartition(" ")[2])


_SHORTEST_TOKEN = 16
"""Fewest characters of a piece, so that a match is no coincidence."""
_JWT = re.compile(r"[\w-]+\.[\w-]+\.[\w-]*", re.ASCII)
_WORD = re.compile(rf"((?:\\[bfnrt])?)([\w-]{{{_SHORTEST_TOKEN},}})", re.ASCII)
"""Matches a word, and skips a JSON escape before it, which would otherwise count as its first
letter."""


class TokenPieces:
    """The words of known tokens."""

    __slots__ = ("_mark", "_whole", "_words")

    def __init__(self, mark: str) -> None:
        """Start without tokens; ``mark`` replaces the pieces that are found."""
        self._mark = mark
        self._words: set[str] = set()
        self._whole: set[str] = set()

    def add(self, token: str) -> None:
        """Add the pieces of ``token``, if it is a JSON Web Token."""
        if _JWT.fullmatch(token):
            self._words.update(match[2] for match in _WORD.finditer(token))

    def add_whole(self, token: str) -> None:
        """Add ``token``, whatever its form, and its pieces if it has any."""
        self.add(token)
        if len(token) >= _SHORTEST_TOKEN and not _JWT.fullmatch(token):
            self._whole.add(token)

    def is_in(self, text: str) -> bool:
        """Return whether ``text`` contains a piece."""
        return any(token in text for token in self._whole) or (
            bool(self._words) and any(m[2] in self._words for m in _WORD.finditer(text))
        )

    def redact_text(self, text: str) -> str:
        """Return ``text`` without pieces: the same object if there are none."""
        if not self.is_in(text):
            return text
        for token in self._whole:
            text = text.replace(token, self._mark)
        text = _WORD.sub(lambda m: m[1] + (self._mark if m[2] in self._words else m[2]), text)
        # A whole token leaves one mark and not three.
        return text.replace(".".join([self._mark] * 3), self._mark)

    def redact_json(self, value: Any) -> Any:
        """Return a JSON ``value`` without pieces: the same object if there are none."""
        return change_texts(value, self.redact_text) if self._words or self._whole else value


def change_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return a JSON ``value`` with all texts changed: the same object if none is another then."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        items = {change(key): change_texts(item, change) for key, item in value.items()}
        # Two keys may become the same mark.
        same = len(items) == len(value) and all(
            old is new and value[old] is items[new] for old, new in zip(value, items, strict=True)
        )
        return value if same else items
    if isinstance(value, list | tuple):
        parts = [change_texts(item, change) for item in value]
        same = all(old is new for old, new in zip(value, parts, strict=True))
        return value if same else type(value)(parts)
    return value
