"""Identities whose attributes only look like those of somebody: close to a value, and not it.

A policy that compares by beginning, by containment or after some normalisation takes them for the
real ones; one that normalises more than its issuer does makes one of two whom it tells apart. Such
an identity may have no more than one whose attribute is plainly unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.base import canonical_json
from harness.judging import fold_text
from harness.probing.callers import ROLES, UNKNOWN, ProbeCaller, build_damaged_callers
from harness.types import JsonObject

_LIKE = str.maketrans({"a": "\u0430", "e": "\u0435", "o": "\u043e", "c": "\u0441", "i": "\u0456"})
"""Latin letters → Cyrillic ones that look the same."""
_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
"""ASCII characters → full-width ones, which Unicode normalisation (NFKC) makes equal."""
_INVISIBLE = "\u200b"
"""A character that takes no room."""
_SPACED = ("scope", "scp", "scopes")
"""Attributes that are lists with blanks between (RFC 6749), so that blanks around mean nothing."""
_SHORT = 4
"""Shorter values, such as numbers, are too common to be truncated."""


def build_lookalike_callers(callers: Iterable[ProbeCaller]) -> tuple[ProbeCaller, ...]:
    """Return identities with attributes that resemble those of ``callers``.

    The base of each is the identity with an unknown value of the same attribute.
    """
    callers = tuple(callers)
    taken = {canonical_json(caller.user_context) for caller in callers}
    unknown = {
        canonical_json(caller.user_context): caller.name
        for caller in build_damaged_callers(callers)
    }
    found: list[tuple[int, ProbeCaller]] = []
    for caller in callers:
        for name, value in (caller.user_context or {}).items():
            base = unknown.get(canonical_json(_replace_attribute(caller, name, UNKNOWN)))
            # Without an unknown value there is nothing to compare a similar one with.
            if base is None or not isinstance(value, str) or not value:
                continue
            for place, (like, how) in enumerate(_propose_lookalikes(name, value)):
                context = _replace_attribute(caller, name, like)
                key = canonical_json(context)
                if key not in taken:
                    taken.add(key)
                    damage = f"{name} only looks like {value} ({how})"
                    one = ProbeCaller(
                        name=f"{caller.name}: {damage}",
                        user_context=context,
                        bases=(base,),
                        damage=damage,
                    )
                    found.append((place, one))
    # The first of each, then the second …: taking only some of them misses no attribute.
    return tuple(one for _, one in sorted(found, key=lambda each: each[0]))


def _replace_attribute(caller: ProbeCaller, name: str, value: str) -> JsonObject:
    return {**(caller.user_context or {}), name: value}


def _propose_lookalikes(name: str, value: str) -> Iterator[tuple[str, str]]:
    """Yield values that are not ``value`` and look like it, each with how it was made.

    An address of email means the same in any case, wherever it is compared.
    """
    if value.swapcase() != value and "@" not in value:
        yield value.swapcase(), "is in other case"
    yield value.translate(_WIDE), "is in full-width letters"
    if fold_text(name) not in _SPACED:
        yield f" {value} ", "has spaces around it"
    if fold_text(name) in map(fold_text, ROLES):
        yield "0", "is the number of a row"
        yield "1", "is the number of another row"
    yield f"not_{value}", "ends with it"
    yield f"{value}_not", "begins with it"
    yield f"not_{value}_not", "contains it"
    yield f"{UNKNOWN},{value}", "is second in a list"
    yield f"{value},{UNKNOWN}", "is first in a list"
    if len(value) >= _SHORT:
        yield value[:-1], "lacks its last letter"
    if value.translate(_LIKE) != value:
        yield value.translate(_LIKE), "is in letters that look like its own"
    yield f"{value[:1]}{_INVISIBLE}{value[1:]}", "has an invisible character in it"
    yield "*", "is a wildcard"
    yield "%", "is a wildcard of SQL"
    yield f"{value}' OR '1'='1", "is a condition of SQL"
