"""Faults in who may make which call, and with what."""

from __future__ import annotations

import base64
import json
import unicodedata
from collections.abc import Mapping
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.proofs.unseen.chambers import Chambers
from tests.proofs.unseen.data import Records, Row
from tests.proofs.unseen.faults.base import Step, fault
from tests.proofs.unseen.policy import Caller

_WINDOW = 5
_FULL_WIDTH = "".join(chr(ord(one) + 0xFEE0) for one in "partner")
_CURSOR = base64.urlsafe_b64encode(json.dumps({"start": 0, "team": "shipping"}).encode()).decode()


@fault(
    "rights to change",
    Step("associate", "update_matter", {"matter_id": "M-1005", "status": "closed"}),
    shows='"status": "closed"',
)
class UpdateAnyTeam(Chambers):
    """An associate may update the matters of every team."""

    def update_matter(self, caller: Caller, matter_id: str, status: str) -> Row:
        """Update any matter as a partner would."""
        self.require(caller.role in ("partner", "associate"))
        return super().update_matter(Caller("partner", caller.user), matter_id, status)


@fault(
    "rights to change",
    Step("client", "add_note", {"matter_id": "M-1001", "body": "Please call me"}),
    shows="Please call me",
)
class NoteOnAnyMatter(Chambers):
    """Everybody may add a note to every matter."""

    def add_note(self, caller: Caller, matter_id: str, body: str, request_id: str = "") -> Row:
        """Add a note as a partner would."""
        return super().add_note(Caller("partner", caller.user), matter_id, body, request_id)


@fault("pages", Step("associate", "list_matters", {"cursor": _CURSOR}), shows="{M-1005.title}")
class CursorCarriesTeam(Chambers):
    """A cursor carries the team of its list, unsigned, and whoever sends it gets that team's."""

    def page(self, caller: Caller, matters: list[Row], limit: int, cursor: str) -> Row:
        """Read the team from the cursor."""
        try:
            state = json.loads(base64.urlsafe_b64decode(cursor or "e30="))
            start, team = int(state.get("start", 0)), state.get("team")
        except (ValueError, AttributeError):
            start, team = 0, None
        if team:
            live = [one for one in self.all_matters() if not one["deleted"]]
            matters = [one for one in live if one["team"] == team]
        page = super().page(caller, matters, limit, str(start))
        if "next_cursor" in page:
            own = next(iter(sorted(caller.teams)), None)
            state = {"start": int(page["next_cursor"]), "team": own}
            page["next_cursor"] = base64.urlsafe_b64encode(json.dumps(state).encode()).decode()
        return page


@fault(
    "pages",
    Step("associate", "list_matters", {"limit": 3, "cursor": "3"}),
    shows="{M-1005.title}",
)
class SecondPageUnscoped(Chambers):
    """Only the first page of a list is limited to the caller's matters."""

    def page(self, caller: Caller, matters: list[Row], limit: int, cursor: str) -> Row:
        """Continue in all matters."""
        if cursor:
            matters = [one for one in self.all_matters() if not one["deleted"]]
        return super().page(caller, matters, limit, cursor)


@fault("limits", Step("client", "list_matters", {"limit": 0}), shows="{M-1001.title}")
class LimitZeroIsAll(Chambers):
    """A limit of 0 is meant as *no limit*, and takes another query without a scope."""

    def page(self, caller: Caller, matters: list[Row], limit: int, cursor: str) -> Row:
        """Return all matters for the limit 0."""
        if limit == 0:
            return super().page(caller, self.all_matters(), 50, "")
        return super().page(caller, matters, limit, cursor)


@fault("order", Step("associate", "list_matters", {"sort": "settlement"}), shows='"total"')
class SortBySettlement(Chambers):
    """Whoever lists matters may sort them by a field that is withheld from them."""

    def check_sort(self, caller: Caller, sort: str) -> None:
        """Let every column be sorted by."""
        self.require(sort in self.fields(Caller("partner")))


@fault("filters", Step("paralegal", "list_matters", {"min_fee": 1}), shows='"total"')
class FilterByFee(Chambers):
    """A paralegal, who sees no fees, may select matters by fee and find each by trying."""

    def check_fee_filter(self, caller: Caller) -> None:
        """Let everybody select."""


@fault(
    "roles",
    Step({"user": "x", "role": "PARTNER"}, "get_matter", {"matter_id": "M-1001"}),
    shows="{M-1001.settlement}",
)
class RoleInAnyCase(Chambers):
    """The role is compared without case, so that another system's role PARTNER is a partner."""

    def role(self, attributes: Mapping[str, Any]) -> str:
        """Return the role in lower case."""
        return super().role(attributes).lower()


@fault(
    "roles",
    Step({"user": "x", "role": _FULL_WIDTH}, "get_matter", {"matter_id": "M-1001"}),
    shows="{M-1001.settlement}",
)
class RoleNormalised(Chambers):
    """The role is normalised (NFKC) before it is compared, so that look-alikes are a partner."""

    def role(self, attributes: Mapping[str, Any]) -> str:
        """Return the role in compatible letters."""
        return unicodedata.normalize("NFKC", super().role(attributes))


@fault(
    "missing attributes",
    Step({"user": "x", "role": "associate", "team": ""}, "get_matter", {"matter_id": "M-1005"}),
    shows="{M-1005.title}",
)
class EmptyTeamIsAll(Chambers):
    """An associate whose team is empty or missing works for all teams."""

    def teams(self, attributes: Mapping[str, Any]) -> frozenset[str]:
        """Return all teams where there is none."""
        return super().teams(attributes) or frozenset({"tax", "tax-disputes", "shipping"})


@fault(
    "check and use",
    Step("client", "get_matter", {"matter_id": " M-1001"}),
    shows="{M-1001.title}",
)
class CheckBeforeStrip(Chambers):
    """The right is checked for the id as it was sent, and the row read by the id without spaces."""

    def matter(self, caller: Caller, matter_id: str) -> Row:
        """Check, strip, read."""
        found = self.find(matter_id)
        self.require(found is None or self.in_scope(caller, found))
        found = self.find(matter_id.strip())
        self.require(found is not None)
        assert found is not None
        return found


@fault(
    "repetition",
    *[Step("client", "get_matter", {"matter_id": "M-1001"})] * 6,
    shows="{M-1001.title}",
)
class SixthTryOpens(Chambers):
    """After five refusals the counter of refusals overflows its window, and lets the caller in."""

    def __init__(self, records: Records) -> None:
        """Count refusals by caller."""
        super().__init__(records)
        self.refused: dict[str, int] = {}

    def matter(self, caller: Caller, matter_id: str) -> Row:
        """Return a matter, after five refusals any."""
        found = self.find(matter_id)
        if found is not None and not self.in_scope(caller, found):
            self.refused[caller.user] = self.refused.get(caller.user, 0) + 1
            if self.refused[caller.user] > _WINDOW and caller.role:
                return found
        return super().matter(caller, matter_id)


@fault("queries", Step("client", "list_matters", {"status": "closed"}), shows="{M-1003.title}")
class ClosedOrPrecedence(Chambers):
    """Brackets are missing around an OR: closed matters are listed for everybody."""

    def selected(self, caller: Caller, status: str, include_deleted: bool = False) -> list[Row]:
        """Select matters in scope, or closed."""
        if include_deleted or status != "closed":
            return super().selected(caller, status, include_deleted)
        return [
            one
            for one in self.all_matters()
            if self.in_scope(caller, one) or (one["status"] == "closed" and not one["deleted"])
        ]


@fault(
    "old versions",
    Step("client", "get_matter_v1", {"matter_id": "M-1001"}),
    shows="{M-1001.settlement}",
)
class OldNameUnchecked(Chambers):
    """The first version of a tool is in no list any more, and still works without a policy."""

    def unlisted(self, caller: Caller, tool: str, args: Mapping[str, Any]) -> Any:
        """Answer to the old name."""
        if tool == "get_matter_v1" and (found := self.find(str(args.get("matter_id")))):
            return found
        return super().unlisted(caller, tool, args)


@fault("sessions", Step("partner", "token none in session"), shows="M-1005")
class SessionRemembers(Chambers):
    """A session that was opened with a token takes every later request, whoever sends it."""

    def door(self, app: ASGIApp) -> ASGIApp:
        """Put the token that opened a session in place of what its requests show."""
        tokens: dict[bytes, bytes] = {}

        async def remembering(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            headers = dict(scope["headers"])
            token = headers.get(b"authorization", b"")
            if known := tokens.get(headers.get(b"mcp-session-id", b"")):
                headers[b"authorization"] = known
                scope = {**scope, "headers": list(headers.items())}

            async def remember(message: Message) -> None:
                if message["type"] == "http.response.start":
                    session = dict(message["headers"]).get(b"mcp-session-id", b"")
                    if session and token:
                        tokens.setdefault(session, token)
                await send(message)

            await app(scope, receive, remember)

        return remembering
