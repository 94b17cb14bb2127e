"""Tokens that a caller may show: a valid one, none, and those that a verifier has to refuse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Credential: TypeAlias = Literal[
    "valid",
    "none",
    "expired",
    "expired_lately",
    "not_yet_valid",
    "missing_expiry",
    "wrong_audience",
    "other_audiences",
    "longer_audience",
    "missing_audience",
    "wrong_issuer",
    "longer_issuer",
    "missing_issuer",
    "bad_signature",
    "no_signature",
    "alg_none",
    "hmac_with_public_key",
    "other_key",
    "embedded_key",
    "embedded_certificate",
    "key_url",
    "certificate_url",
    "key_path",
    "unreadable",
]
"""The token that a caller presents under ``identity: bearer``: a valid one, none at all, or one
that a verifier must refuse (`FLAWS`)."""


@dataclass(frozen=True, slots=True)
class TokenFlaw:
    """What is wrong with a token, and what lets it in."""

    words: str
    """The token, in words: ``an expired token``."""
    hint: str
    """What a verifier that accepts it has to do."""
    left_open: str | None = None
    """Why a verifier may accept it all the same; it is then told, and no finding."""


FLAWS: Mapping[Credential, TokenFlaw] = {
    "expired": TokenFlaw("an expired token", "Have the server's verifier check 'exp'."),
    "expired_lately": TokenFlaw(
        "a token that expired ten minutes ago",
        "Allow clocks to differ by a minute or two, not by ten.",
    ),
    "not_yet_valid": TokenFlaw(
        "a token that is not valid before the next hour", "Have the server's verifier check 'nbf'."
    ),
    "missing_expiry": TokenFlaw(
        "a token without an expiry",
        "Have the server's verifier require 'exp'.",
        "RFC 7519 leaves 'exp' open; RFC 9068 requires it",
    ),
    "wrong_audience": TokenFlaw(
        "a token for another service",
        "Have the server's verifier check 'aud': a token for another service is good there only.",
    ),
    "other_audiences": TokenFlaw(
        "a token for a list of other audiences",
        "Have the server's verifier look for its own name in a list of audiences.",
    ),
    "longer_audience": TokenFlaw(
        "a token for an audience that only begins like the server's",
        "Have the server's verifier compare 'aud' as a whole, not by its beginning.",
    ),
    "missing_audience": TokenFlaw(
        "a token without an audience", "Have the server's verifier require 'aud'."
    ),
    "wrong_issuer": TokenFlaw(
        "a token that names another issuer", "Have the server's verifier check 'iss'."
    ),
    "longer_issuer": TokenFlaw(
        "a token of an issuer that only begins like the right one",
        "Have the server's verifier compare 'iss' as a whole, not by its beginning.",
    ),
    "missing_issuer": TokenFlaw(
        "a token that names no issuer", "Have the server's verifier require 'iss'."
    ),
    "bad_signature": TokenFlaw(
        "a token with a wrong signature",
        "Have the server's verifier check the signature by the issuer's keys; decoding is not "
        "verifying.",
    ),
    "no_signature": TokenFlaw(
        "a token whose signature is cut off",
        "Have the server's verifier refuse a token without a signature.",
    ),
    "alg_none": TokenFlaw(
        "a token that says that it is not signed (alg: none)",
        "Give the verifier the list of accepted algorithms; never take it from the token.",
    ),
    "hmac_with_public_key": TokenFlaw(
        "a token signed by HS256 with the public key as its secret",
        "Accept only the issuer's own algorithms, none with a shared secret beside them.",
    ),
    "other_key": TokenFlaw(
        "a token signed by another key under the issuer's key id",
        "Have the server's verifier check the signature by the issuer's keys.",
    ),
    "embedded_key": TokenFlaw(
        "a token that brings its own key (jwk)", "Ignore keys in the header of a token."
    ),
    "embedded_certificate": TokenFlaw(
        "a token that brings its own certificate (x5c)",
        "Ignore certificates in the header of a token.",
    ),
    "key_url": TokenFlaw(
        "a token that says where its key is (jku)",
        "Take keys from the issuer's address alone; ignore 'jku'.",
    ),
    "certificate_url": TokenFlaw(
        "a token that says where its certificate is (x5u)",
        "Take keys from the issuer's address alone; ignore 'x5u'.",
    ),
    "key_path": TokenFlaw(
        "a token whose key id is the path of an empty file",
        "Look a key id up among the issuer's keys; never open it as a file.",
    ),
    "unreadable": TokenFlaw(
        "a text that is no token",
        "Have the server's verifier refuse whatever it cannot read; an error must not let in.",
    ),
}
"""Every flawed token."""
