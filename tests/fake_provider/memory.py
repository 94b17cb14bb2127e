"""What a provider remembers of its own replies, to recognise them when they come back."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from tests.fake_provider.incoming import Json


class Memory:
    """State of one fake provider; used by its server thread only."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(16)
        self._minted = 0
        self.reasoning: dict[str, list[Json]] = {}
        """Id of a call or item → the reasoning blocks that were sent before it, as sent."""
        self.bad_arguments: dict[str, str] = {}
        """Id of a call → the arguments that were sent on purpose although they are not JSON."""
        self.paused: list[list[Json]] = []
        """Content of the answers that were paused, as sent: only these may end a conversation."""
        self.cached_prefixes: set[bytes] = set()
        """Digests of the prompt prefixes that were written to the cache."""
        self.accepted_tools: set[bytes] = set()
        """Digests of the tool lists that passed, so that each is judged once."""

    def mint(self, prefix: str) -> str:
        """Return a new id such as ``toolu_3f…``, unlike any other of any server."""
        self._minted += 1
        return prefix + self.sign(str(self._minted))[:24]

    def sign(self, text: str) -> str:
        """Return the signature that only this provider can make for ``text``."""
        return hmac.digest(self._key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hex()
