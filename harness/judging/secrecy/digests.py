"""Digests without a salt: whoever can list the possible values reads a value off its digest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from harness.judging.secrecy.values import SearchForm

ALGORITHMS: Mapping[str, str] = {"MD5": "md5", "SHA-1": "sha1", "SHA-256": "sha256"}
"""Name → name in `hashlib`."""


def iterate_digests(value: object) -> Iterator[tuple[str, SearchForm]]:
    """Yield the name of each algorithm, and the hexadecimal digest of ``value`` to search for."""
    text = str(value).strip()
    # Addresses are usually put into small letters before they are hashed.
    for plain in dict.fromkeys((text, text.lower())):
        for name, algorithm in ALGORITHMS.items():
            made = hashlib.new(algorithm, plain.encode(), usedforsecurity=False).hexdigest()
            yield name, SearchForm(made, made, "unmistakable", "key")
