"""``via: oauth``: an account logs in by OAuth, and every HTTP request has its token.

The SDK discovers the authorization server, registers, refreshes, and asks for further scopes where
a call needs them (`harness.sessions.identity.oauth`). Texts may have templates such as
``{client_id}``: then each identity is an account of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import field, replace
from typing import ClassVar, Literal, TypeAlias, get_args
from urllib.parse import urlsplit

from harness.base import (
    InvalidValue,
    UsageError,
    choice_field,
    is_web_address,
    line_field,
)
from harness.sessions.identity.delivery import IdentityDelivery, fill_template
from harness.types import JsonObject, dataclass

OAuthFlow: TypeAlias = Literal["authorization_code", "client_credentials"]

_OF_CLIENT = ("client_id", "client_secret", "authorization_server")


def _parse_address(value: object) -> str:
    text: str = line_field("").parse(value)
    if not is_web_address(text) or urlsplit(text).query:
        raise InvalidValue(f"expected a URL without a query, found {text!r}")
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthDelivery(IdentityDelivery):
    """Sends a token that an authorization server issues to an account."""

    flow: OAuthFlow = "authorization_code"
    """Whether a person logs in once, by ``harness login``, or the client by its own secret."""
    client_id: str | None = None
    """Template of the client's id; ``None``: the client registers itself."""
    client_secret: str | None = field(default=None, repr=False)
    """Template of the client's secret."""
    scope: str | None = None
    """Template of the scopes to ask for; ``None``: those that the server names."""
    authorization_server: str | None = None
    """The only authorization server that may get the client's id and secret."""
    client_metadata_url: str | None = None
    """HTTPS URL of a document about the client, which stands for its id."""

    fields: ClassVar = {
        "flow": choice_field(
            "via oauth: authorization_code (a person runs harness login once) or "
            "client_credentials.",
            get_args(OAuthFlow),
        ),
        "client_id": line_field("via oauth: id of the client, a template."),
        "client_secret": line_field("via oauth: secret of the client, a template."),
        "scope": line_field("via oauth: scopes to ask for, separated by spaces, a template."),
        "authorization_server": replace(
            line_field("via oauth: URL of the only authorization server that gets the secret."),
            parse=_parse_address,
        ),
        "client_metadata_url": replace(
            line_field("via oauth: HTTPS URL of a document that describes the client."),
            parse=_parse_address,
        ),
    }
    elsewhere: ClassVar = {
        "scopes": "Did you mean 'scope'?",
        "token_url": "The server names it: leave it out.",
        "authorization_url": "The server names it: leave it out.",
    }
    plain: ClassVar = frozenset({"flow", "authorization_server", "scope", "client_metadata_url"})
    hidden: ClassVar = frozenset({"client_secret"})
    needs_http: ClassVar = True
    logs_in: ClassVar = True

    def find_problems(self, keys: Collection[str]) -> Iterator[tuple[str | None, str, str]]:
        """Yield what a secret lacks: its client, and whom it may be sent to."""
        if self.flow == "client_credentials" or self.client_secret is not None:
            for name in _OF_CLIENT:
                if getattr(self, name) is None:
                    # A server could otherwise name any address to which the secret is sent.
                    message = f"a client with a secret needs {name!r}."
                    yield None, message, f"Add '{name}:' to the identity."
        if self.client_metadata_url is not None and not self.client_metadata_url.startswith(
            "https://"
        ):
            message = "'client_metadata_url' has to be an https URL."
            yield "client_metadata_url", message, "Serve the document over https."

    def check_user(self, user_context: JsonObject) -> None:
        """Accept only a user who has what the templates name."""
        for name in ("client_id", "client_secret", "scope"):
            template = getattr(self, name)
            if template is not None and fill_template(template, user_context) is None:
                raise UsageError(
                    f"the {name} of this user_context is missing: its template names an attribute "
                    "that it does not have",
                    meant="Add the attribute to the identity.",
                )


DELIVERY = OAuthDelivery
"""``via: oauth``."""
