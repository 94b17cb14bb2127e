"""Strict JSON: no duplicate key, no NaN, no extension of Python."""

from __future__ import annotations

import json
from typing import Any

from harness.base.errors import InvalidValue

TYPOGRAPHIC_QUOTES = "“”„‟«»‹›‘’‚‛″′＂＇"
_SHOWN = 60
"""Most characters of an invalid text that a message quotes."""


def strict_json(text: str, *, meant: str | None = None) -> Any:
    """Return the value of ``text``; ``meant`` is the advice if it is not JSON at all.

    Raises:
        InvalidValue: it is not JSON.
    """
    try:
        return json.loads(text, object_pairs_hook=_build_object, parse_constant=_no_constant)
    except RecursionError:
        raise InvalidValue("this is nested too deeply") from None
    except json.JSONDecodeError as error:
        quote = text[error.pos : error.pos + 1]
        if quote and quote in TYPOGRAPHIC_QUOTES:
            raise InvalidValue(
                f"this is not JSON: there is a typographic quote {quote} at character "
                f"{error.pos + 1} of {text.strip()[:_SHOWN]!r}",
                meant='Replace every such quote by the straight one, ".',
            ) from None
        message = (
            f"this is not JSON: {error.msg} at character {error.pos + 1} of "
            f"{text.strip()[:_SHOWN]!r}"
        )
        raise InvalidValue(message, meant=meant) from None
    except ValueError:  # Python refuses integers of more than 4300 digits
        raise InvalidValue("a number in it has too many digits") from None


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidValue(f"the key {twice[:_SHOWN]!r} is given twice")
    return found


def _no_constant(word: str) -> Any:
    raise InvalidValue(f"{word} is not a number in JSON")
