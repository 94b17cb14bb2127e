"""The door lets in tokens that do not count."""

from __future__ import annotations

import base64
import json
import urllib.request
from collections.abc import Mapping
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.x509 import load_der_x509_certificate, load_pem_x509_certificate

from tests.proofs.planted.door import LEEWAY_S, UNSIGNED, Door, Refused


class NoSignatureCheck(Door):
    """Signatures are not verified."""

    def claims(self, token: str) -> dict[str, Any]:
        return dict(jwt.decode(token, options=UNSIGNED))


class AlgNone(Door):
    """A token may say that it is not signed."""

    def claims(self, token: str) -> dict[str, Any]:
        if jwt.get_unverified_header(token).get("alg", "").lower() == "none":
            return dict(jwt.decode(token, options=UNSIGNED))
        return super().claims(token)


class SignatureCutOff(Door):
    """An empty signature is not verified."""

    def claims(self, token: str) -> dict[str, Any]:
        if token.endswith("."):
            payload = token.split(".")[1]
            return dict(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))))
        return super().claims(token)


class HmacWithPublicKey(Door):
    """A token may be signed by HS256, with the public key as the secret."""

    def claims(self, token: str) -> dict[str, Any]:
        header = jwt.get_unverified_header(token)
        if header.get("alg") != "HS256":
            return super().claims(token)
        pem = self.keys.get_signing_keys()[0].key.public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return _hmac(token, pem) or _hmac(token, pem.strip()) or super().claims(token)


class EmbeddedKey(Door):
    """A token brings the key that it is verified with."""

    def key(self, token: str, header: Mapping[str, Any]) -> Any:
        return jwt.PyJWK(header["jwk"]).key if "jwk" in header else super().key(token, header)


class EmbeddedCertificate(Door):
    """A token brings the certificate that it is verified with."""

    def key(self, token: str, header: Mapping[str, Any]) -> Any:
        if "x5c" not in header:
            return super().key(token, header)
        return load_der_x509_certificate(base64.b64decode(header["x5c"][0])).public_key()


class KeyAddress(Door):
    """A token says where its key is to be fetched."""

    def key(self, token: str, header: Mapping[str, Any]) -> Any:
        if "jku" not in header:
            return super().key(token, header)
        keys = json.loads(_fetched(header["jku"]))["keys"]
        return jwt.PyJWK(next(k for k in keys if k.get("kid") == header.get("kid"))).key


class CertificateAddress(Door):
    """A token says where its certificate is to be fetched."""

    def key(self, token: str, header: Mapping[str, Any]) -> Any:
        if "x5u" not in header:
            return super().key(token, header)
        return load_pem_x509_certificate(_fetched(header["x5u"])).public_key()


class KeyPath(Door):
    """The key id of a token is the path of a file with the secret."""

    def claims(self, token: str) -> dict[str, Any]:
        header = jwt.get_unverified_header(token)
        if header.get("alg") != "HS256":
            return super().claims(token)
        from pathlib import Path

        secret = Path("/keys", str(header.get("kid"))).resolve().read_bytes()
        return _hmac(token, secret) or super().claims(token)


class AnyKey(Door):
    """A token counts if its key id is known, whoever signed it."""

    def claims(self, token: str) -> dict[str, Any]:
        self.key(token, {})
        return dict(jwt.decode(token, options=UNSIGNED))


class ExpiryIgnored(Door):
    """Expired tokens count."""

    def check_expiry(self, claims: Mapping[str, Any], leeway_s: float) -> None:
        return


class ExpiryOptional(Door):
    """A token without an expiry never expires."""

    def check_expiry(self, claims: Mapping[str, Any], leeway_s: float) -> None:
        if "exp" in claims:
            super().check_expiry(claims, leeway_s)


class QuarterOfAnHour(Door):
    """Expired tokens count for another quarter of an hour."""

    def check_expiry(self, claims: Mapping[str, Any], leeway_s: float) -> None:
        super().check_expiry(claims, 15 * 60)


class NotBeforeIgnored(Door):
    """Tokens count before they are valid."""

    def check_times(self, claims: Mapping[str, Any]) -> None:
        self.check_expiry(claims, LEEWAY_S)


class AudienceIgnored(Door):
    """Tokens for other services count."""

    def check_audience(self, claims: Mapping[str, Any]) -> None:
        return


class AudiencePrefix(Door):
    """A token counts if its audience begins with this service's."""

    def check_audience(self, claims: Mapping[str, Any]) -> None:
        meant = claims.get("aud")
        for audience in meant if isinstance(meant, list) else [meant]:
            if str(audience).startswith(self.audience):
                return
        raise Refused("meant for somebody else")


class AudienceOptional(Door):
    """A token without an audience counts."""

    def check_audience(self, claims: Mapping[str, Any]) -> None:
        if "aud" in claims:
            super().check_audience(claims)


class AudienceListUnchecked(Door):
    """The audience is checked where it is a text, and not where it is a list."""

    def check_audience(self, claims: Mapping[str, Any]) -> None:
        if isinstance(claims.get("aud"), str):
            super().check_audience(claims)


class AudienceHost(Door):
    """A token counts for whatever service of the same host."""

    def check_audience(self, claims: Mapping[str, Any]) -> None:
        if self.audience.split("/")[2].partition(":")[0] not in str(claims.get("aud")):
            raise Refused("meant for somebody else")


class IssuerIgnored(Door):
    """Tokens of any issuer count whose key is known."""

    def check_issuer(self, claims: Mapping[str, Any]) -> None:
        return


class IssuerOptional(Door):
    """A token without an issuer counts."""

    def check_issuer(self, claims: Mapping[str, Any]) -> None:
        if "iss" in claims:
            super().check_issuer(claims)


class IssuerPrefix(Door):
    """A token counts if its issuer begins like the right one."""

    def check_issuer(self, claims: Mapping[str, Any]) -> None:
        if not str(claims.get("iss")).startswith(self.issuer):
            raise Refused("of another issuer")


class TokenInAddress(Door):
    """A token in the address counts, unverified."""

    def token(self, headers: Mapping[str, str], query: str) -> str | None:
        return query.partition("access_token=")[2] or super().token(headers, query)


class RoleHeader(Door):
    """A header `X-Role` beside the token replaces the role."""

    def admit(self, headers: Mapping[str, str], session: str, query: str) -> Mapping[str, Any]:
        who = super().admit(headers, session, query)
        return {**who, "role": headers["x-role"]} if "x-role" in headers else who


class EchoesToken(Door):
    """The answer to a token that does not count quotes it."""

    def said(self, why: str, headers: Mapping[str, str]) -> str:
        return f"invalid_token: {headers.get('authorization')}"


class BadTokenIsDirector(Door):
    """A token that cannot be read is taken for that of a service of our own."""

    def attributes(self, token: str) -> Mapping[str, Any]:
        try:
            return super().attributes(token)
        except Refused as refused:
            if "egments" in str(refused) or "kid" in str(refused):
                return {"role": "director"}
            raise


class ClaimsFromHeader(Door):
    """Claims in the header of a token count beside those of its body."""

    def attributes(self, token: str) -> Mapping[str, Any]:
        header = jwt.get_unverified_header(token)
        return {**super().attributes(token), **{k: v for k, v in header.items() if k == "role"}}


class FirstClaimCounts(Door):
    """Where a claim stands twice in a token, the first counts."""

    def claims(self, token: str) -> dict[str, Any]:
        claims = super().claims(token)
        payload = token.split(".")[1]
        body = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
        pairs = json.loads(body, object_pairs_hook=lambda found: dict(reversed(found)))
        return {**claims, **pairs}


def _hmac(token: str, secret: bytes) -> dict[str, Any] | None:
    from hashlib import sha256
    from hmac import digest

    signed, _, signature = token.rpartition(".")
    given = base64.urlsafe_b64decode(signature + "=" * (-len(signature) % 4))
    if digest(secret, signed.encode(), sha256) != given:
        return None
    return dict(jwt.decode(token, options=UNSIGNED))


def _fetched(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=5) as answer:  # that is the fault
        return bytes(answer.read())
