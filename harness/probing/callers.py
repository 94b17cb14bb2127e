"""The callers of a probe: the suites' identities, and damaged ones that a policy may overlook.

Policy engines fail open there: a rule about an attribute raises an error if the attribute is
missing, and the error is taken for "does not apply". So every attribute is removed, emptied, given
another type, an unknown value, an overlong one, and a second spelling; and attributes are added
that no identity of the suite has. None of that may give a caller more than before.

Lookalikes have an attribute that is close to a value, and not it. A policy that compares by
beginning, by containment or after some normalisation takes them for the real ones; one that
normalises more than its issuer does makes one of two whom it tells apart. Such an identity may have
no more than one whose attribute is plainly unknown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count, zip_longest
from typing import Any, Literal, TypeAlias

from harness.base import canonical_json, make_one_line, shorten_text
from harness.judging import fold_text
from harness.sessions import AGAIN, IN_HEADER, delivery_of
from harness.types import FLAWS, Case, Credential, JsonObject, ServerSpec, dataclass

ANONYMOUS = "anonymous"
MAX_DAMAGED = 240
"""Maximum number of damaged identities in one probe."""
MAX_PROCESSES = 60
"""The same if each identity needs a separate process."""
UNKNOWN = "harness_unknown"
"""A value that no policy knows."""
OVERSIZED = "x" * 50_000
"""Short enough for a header, a variable or a token, and longer than any real value."""
FLAGS = ("is_admin", "admin", "is_superuser", "superuser", "is_staff", "root", "internal")
"""Attributes that make an administrator of somebody in many programs."""
LISTS = ("roles", "groups", "authorities", "permissions", "scopes", "user_roles")
"""Attributes that many programs read roles from."""
ROLES = ("role", "user_role", "group", "position", "title", "level")
"""Attributes, in small letters, that say somebody's role."""
_NAME_CHARS = 40
# The most telling first: in a table a role says more than a number.
_NAMING = ("role", "name", "username", "user", "user_id", "sub", "id")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeCaller:
    """One identity that makes calls."""

    name: str
    """Its name in tables."""
    user_context: JsonObject | None
    """Its attributes."""
    credential: Credential = "valid"
    """The kind of token that it sends."""
    bases: tuple[str, ...] = ()
    """The identities that a damaged one derives from: it may get no more than any of them. Empty
    for the suite's own identities."""
    damage: str | None = None
    """The damage in words: ``role is missing``."""


def name_callers(cases: Iterable[Case]) -> tuple[ProbeCaller, ...]:
    """Return the identities that ``cases`` name, once each, and the anonymous caller."""
    given: dict[str, tuple[str | None, JsonObject | None]] = {}
    for case in cases:
        context = case.caller.user_context
        given.setdefault(canonical_json(context), (case.caller.identity, context))
    # Always asked: what nobody in particular gets is no gain of anybody else.
    given.setdefault(canonical_json(None), (ANONYMOUS, None))
    names = [name or _choose_name(context) for name, context in given.values()]
    callers: list[ProbeCaller] = []
    taken: set[str] = set()
    for first, (_, context) in zip(names, given.values(), strict=True):
        # Shortened attributes may be equal, too; then only a number tells two identities apart.
        name = first if names.count(first) == 1 else _distinguish_name(first, context)
        number = next(n for n in count(1) if (name if n == 1 else f"{name}-{n}") not in taken)
        name = name if number == 1 else f"{name}-{number}"
        taken.add(name)
        callers.append(ProbeCaller(name=name, user_context=context))
    return tuple(callers)


def _choose_name(context: JsonObject | None) -> str:
    """Return the attribute that serves best as a name, else all attributes."""
    if context is None:
        return ANONYMOUS
    values = map(context.get, _NAMING)
    telling = (value for value in values if isinstance(value, str) and value)
    return next(telling, None) or _summarize_context(context) or "no attributes"


def _distinguish_name(name: str, context: JsonObject | None) -> str:
    rest = [value for value in (context or {}).values() if value not in (name, "", [], {})]
    if not rest:
        return name
    values = make_one_line(", ".join(map(_format_value, rest)))
    return f"{name} ({shorten_text(values, _NAME_CHARS)})"


def _summarize_context(context: JsonObject) -> str:
    parts = (f"{key}={_format_value(value)}" for key, value in context.items())
    return shorten_text(make_one_line(", ".join(parts)), _NAME_CHARS)


def _format_value(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "+".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def build_damaged_callers(
    callers: Iterable[ProbeCaller], *, by_token: bool = False
) -> tuple[ProbeCaller, ...]:
    """Return copies of ``callers`` with damaged attributes, without any that equals a caller.

    ``by_token``: the attributes are claims of a token, so a claim may also be duplicated. The
    first damage of each caller comes first, then the second of each, so that a limit cuts off no
    caller completely.
    """
    callers = tuple(callers)
    named = [caller for caller in callers if caller.user_context]
    own = {canonical_json(caller.user_context) for caller in callers}
    found: dict[str, ProbeCaller] = {}
    for together in zip_longest(
        *(_propose_damages(caller.user_context or {}, named, by_token) for caller in named)
    ):
        for caller, damaged in zip(named, together, strict=True):
            # A damage may turn one identity of the suite into another, who is asked anyway.
            if damaged is None or (key := canonical_json(damaged[1])) in own:
                continue
            old = found.get(key) or ProbeCaller(name="", user_context=damaged[1], damage=damaged[0])
            # Two identities may become the same damaged one, which may get no more than either.
            bases = tuple(dict.fromkeys((*old.bases, caller.name)))
            found[key] = replace(old, name=f"{'/'.join(bases)}: {old.damage}", bases=bases)
    return tuple(found.values())


def build_flawed_callers(callers: Iterable[ProbeCaller]) -> tuple[ProbeCaller, ...]:
    """Return ``callers`` with tokens that a verifier must refuse."""
    return tuple(
        ProbeCaller(
            name=f"{caller.name}: {flaw.words}",
            user_context=caller.user_context,
            credential=credential,
            bases=(caller.name,),
            damage=flaw.words,
        )
        for caller in callers
        # Without attributes there is no token to flaw.
        if caller.user_context
        for credential, flaw in FLAWS.items()
    )


Unsent: TypeAlias = Literal["command", "joined"]
"""Why a server that takes tokens gets none that a verifier must refuse. ``command``: its tokens
come from its ``token_command``, and harness does not hold the key that signs them. ``joined``: it
is one of several joined servers, and the refusal by one of them hides what the others do."""
UNSENT: Mapping[Unsent, str] = {
    "command": (
        "tokens that {server} must refuse, expired ones included (its tokens come from its "
        "token_command, and harness does not hold their key)"
    ),
    "joined": (
        "tokens that {server} must refuse, apart from expired ones (it is one of several joined "
        "servers: probe it by itself)"
    ),
}
"""The same in words, for what was not tried."""


def find_unsent_tokens(server: ServerSpec) -> dict[str, Unsent]:
    """Return each server that takes tokens but gets none that a verifier must refuse, and why."""
    return {
        one.name: "joined" if delivery.is_signed else "command"
        for one in server.members or (server,)
        if (delivery := delivery_of(one.identity)).takes_tokens
        and (server.members or not delivery.is_signed)
    }


def _propose_damages(
    context: JsonObject,
    named: Iterable[ProbeCaller],
    by_token: bool,  # noqa: FBT001 - one of two ways
) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, value in context.items():
        yield f"{name} is missing", {key: part for key, part in context.items() if key != name}
        yield f"{name} is null", {**context, name: None}
        empty = type(value)() if isinstance(value, str | list | dict) else ""
        yield f"{name} is empty", {**context, name: empty}
        yield f"{name} has another type", {**context, name: _change_type(value)}
        yield f"{name} is unknown", {**context, name: UNKNOWN}
        oversized = [*value, OVERSIZED] if isinstance(value, list) else OVERSIZED
        yield f"{name} is oversized", {**context, name: oversized}
        # Somebody else's value shows a gain, if the server takes it for the caller's.
        other = _other_value(name, value, named)
        if other is not None:
            yield (
                # A lookup that ignores case may find either.
                f"{name} is there twice",
                {**context, name.upper() if name != name.upper() else name.lower(): other},
            )
            yield f"{name} has two values", {**context, name: [value, other]}
            if by_token:
                # The own claim comes last, which RFC 7519 lets a verifier take.
                yield f"{name} is claimed twice", {f"{name}{AGAIN}": other, **context}
                in_header = {**context, f"{name}{IN_HEADER}": other}
                yield f"{name} is in the header of the token, too", in_header
    yield "an unknown attribute", {**context, UNKNOWN: True}
    # An attribute that some identity has would be another damage: a second value of it.
    issued = {name.casefold() for one in named for name in one.user_context or {}}
    flags = {name: True for name in FLAGS if name not in issued}
    yield "flags of an administrator are there that nobody has", {**context, **flags}
    role = _find_other_role(context, named)
    lists = {name: [role] for name in LISTS if name not in issued}
    if role is not None and lists:
        yield f"lists of roles are there that nobody has, with {role}", {**context, **lists}


def _find_other_role(context: JsonObject, named: Iterable[ProbeCaller]) -> str | None:
    """Return the first role that somebody else has."""
    roles = (
        value
        for caller in named
        for name, value in (caller.user_context or {}).items()
        if name.casefold() in ROLES and isinstance(value, str) and value != context.get(name)
    )
    return next(roles, None)


def _change_type(value: Any) -> Any:
    if isinstance(value, str):
        return {"value": value}
    if isinstance(value, list):
        return {str(place): part for place, part in enumerate(value)}
    return [value]


def _other_value(name: str, value: Any, named: Iterable[ProbeCaller]) -> Any:
    """Return the first other value of the attribute among the named callers."""
    contexts = [caller.user_context or {} for caller in named]
    values = (context[name] for context in contexts if name in context)
    return next((other for other in values if other != value), None)


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
    damaged = build_damaged_callers(callers)
    unknown = {canonical_json(caller.user_context): caller.name for caller in damaged}
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
