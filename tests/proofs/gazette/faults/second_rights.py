"""The second half: rights, states, tenants, writes, quotas and identities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.proofs.gazette.data import FORMER, TODAY, Row
from tests.proofs.gazette.faults.base import Step, fault
from tests.proofs.gazette.newsroom import QUOTA, TRIES, Newsroom
from tests.proofs.gazette.policy import Caller


@fault(
    "an identity in the query string",
    Step("freelancer", "get_story", {"story_id": "S-103"}, {"user": "P-10"}),
    shows="{S-103.source}",
)
class UserInQuery(Newsroom):
    """``?user=`` in the address says who asks, once there is any token."""

    def identify(self, attributes: Mapping[str, Any], query: Mapping[str, str]) -> Caller:
        """Look the user up."""
        person = self.archive.people.get(query.get("user", ""))
        if person is None or not attributes:
            return self.caller(attributes)
        roles = {"P-10": "chief", "P-11": "editor", "P-20": "chief"}
        role = roles.get(person["contributor_id"], "reporter")
        return self.caller({**person, "role": role})


@fault(
    "quotas and lockouts",
    *(Step("reporter", "open_sealed", {"story_id": "S-102", "code": "no"}) for _ in range(TRIES)),
    Step("editor", "open_sealed", {"story_id": "S-102", "code": "no"}),
    holds=lambda said: "too many" in said[-1],
)
class LockedForAll(Newsroom):
    """Somebody's wrong codes shut a story for everybody."""

    def lock_key(self, caller: Caller, story_id: str) -> tuple[str, str]:
        """Count them together."""
        return "", story_id


@fault(
    "quotas and lockouts",
    Step("editor", "search_volumes", {"query": "x"}),
    Step("reporter", "search_volumes", {"query": "x"}),
    holds=lambda said: f'"searches_left": {QUOTA - 2}' in said[-1],
)
class OneQuotaForAll(Newsroom):
    """All callers of a paper use up the same searches."""

    def quota_key(self, caller: Caller) -> str:
        """Count them together."""
        return caller.outlet


@fault(
    "rights that change in time",
    Step("reporter", "get_story", {"story_id": "S-103"}),
    shows="{S-103.text}",
)
class FormerAuthor(Newsroom):
    """A story stays readable to whoever wrote it before it was handed on."""

    def owns(self, caller: Caller, story: Row) -> bool:
        """Count former authors."""
        return super().owns(caller, story) or FORMER.get(story["story_id"]) == caller.contributor_id


@fault(
    "rights that change in time",
    Step("editor", "story_digest", {"story_id": "S-107"}),
    shows="{S-107.title}",
)
class DelegationNeverEnds(Newsroom):
    """A desk that was handed over until a day stays with whoever got it."""

    def is_delegate(self, row: Row, caller: Caller, day: str) -> bool:
        """Forget the last day."""
        return bool(row["to"] == caller.contributor_id)


@fault("rights that change in time", Step("freelancer", "list_stories"), shows="{S-107.title}")
class ListOfRevokedShares(Newsroom):
    """The list of stories has those whose share was revoked; by its id none of them comes."""

    def list_stories(self, caller: Caller, state: str = "", desk: str = "", sort: str = "") -> Row:
        """Add the stories of all shares."""
        found = super().list_stories(caller, state, desk, sort)
        mine = [
            one["story_id"] for one in self.archive.shares if one["with"] == caller.contributor_id
        ]
        known = [one["story_id"] for one in found["stories"]]
        more = [self.archive.stories[one] for one in mine if one not in known]
        fits = [one for one in more if state in ("", one["state"]) and desk in ("", one["desk"])]
        return {"stories": [*found["stories"], *(self.shown(caller, one) for one in fits)]}


@fault(
    "rights that change in time",
    Step("editor", "export_stories", {"desk": "sports"}),
    shows="{S-108.title}",
)
class ExportForFormerMembers(Newsroom):
    """The export asks who ever was a member of a desk, and not who is."""

    def exported(self, caller: Caller) -> list[Row]:
        """Export the stories of former desks, too."""
        mine = [
            one for one in self.archive.members if one["contributor_id"] == caller.contributor_id
        ]
        desks = {one["desk"] for one in mine}
        rows = [one for one in self.every_story() if one["desk"] in desks and not self.is_gone(one)]
        kept = [one for one in rows if self.same_outlet(caller, one["outlet"])]
        return kept if caller.role == "editor" else super().exported(caller)


@fault(
    "tenants and owners compared loosely",
    Step("sister", "update_story", {"story_id": "S-102", "title": "x"}),
    holds=lambda said: "denied" not in said[-1],
)
class ChiefOfBoth(Newsroom):
    """A chief may retitle the stories of the other paper."""

    def update_story(self, caller: Caller, story_id: str, title: str) -> Row:
        """Ask a chief for nothing more."""
        found = self.archive.stories.get(story_id)
        if caller.role != "chief" or found is None:
            return super().update_story(caller, story_id, title)
        found["title"] = title
        return {"story_id": story_id, "title": title}


@fault(
    "tenants and owners compared loosely",
    Step("chief", "get_story", {"story_id": "S-114"}),
    shows="{S-114.title}",
)
class OutletByBeginning(Newsroom):
    """An outlet has the records of every outlet whose name begins like its own."""

    def same_outlet(self, caller: Caller, outlet: str | None) -> bool:
        """Compare the beginning."""
        return outlet is not None and outlet.startswith(caller.outlet)


@fault(
    "tenants and owners compared loosely",
    Step("chief", "related_stories", {"story_id": "S-102"}),
    shows="{S-113.title}",
)
class RelatedOfBoth(Newsroom):
    """Related stories come from both papers."""

    def near(self, caller: Caller) -> list[Row]:
        """Seek among what is published anywhere, and the caller's own."""
        rows = [one for one in self.every_story() if self.is_published(one)]
        return [*super().near(caller), *(one for one in rows if not self.may_read(caller, one))]


@fault(
    "tenants and owners compared loosely",
    Step("chief", "get_stories", {"story_ids": ["S-102", "S-114"]}),
    shows="{S-114.title}",
)
class FirstOfBatch(Newsroom):
    """Of several stories only the first one is looked at."""

    def get_stories(self, caller: Caller, story_ids: list[str]) -> Row:
        """Judge all by the first."""
        self.require(bool(story_ids))
        self.story(caller, story_ids[0])
        rows = [self.archive.stories.get(one) for one in story_ids]
        return {"stories": [self.shown(caller, one) for one in rows if one is not None]}


@fault(
    "the state of a record",
    Step("reporter", "get_stories", {"story_ids": ["S-103"]}),
    shows="{S-103.title}",
)
class DraftsInBatches(Newsroom):
    """Several stories at once are not asked whether they are out."""

    def get_stories(self, caller: Caller, story_ids: list[str]) -> Row:
        """Look at the outlet alone."""
        rows = [self.archive.stories.get(one) for one in story_ids]
        self.require(bool(rows) and caller.role != "freelancer")
        found = [one for one in rows if one and self.same_outlet(caller, one["outlet"])]
        self.require(len(found) == len(rows) and not any(map(self.is_gone, found)))
        if caller.role == "editor":
            return super().get_stories(caller, story_ids)
        return {"stories": [self.shown(caller, one) for one in found]}


@fault(
    "the state of a record",
    Step("reporter", "get_story", {"story_id": "S-102", "revision": 1}),
    holds=lambda said: "told us" in said[-1],
)
class OldRevisions(Newsroom):
    """Whoever may read a story may read its older revisions, which name the source."""

    def may_read_revision(self, caller: Caller, number: int) -> bool:
        """Forget whose older revisions are."""
        return bool(caller.role)


@fault("the state of a record", Step("reporter", "embargo_calendar"), shows="{S-111.title}")
class CalendarForAll(Newsroom):
    """The calendar of embargoes has the titles of stories that are held back."""

    def embargo_calendar(self, caller: Caller) -> Row:
        """Show the outlet's calendar."""
        self.require("embargo" in self.story_fields(caller))
        held = [one for one in self.every_story() if one["embargo"] > TODAY]
        names = ("story_id", "title", "embargo")
        rows = [one for one in held if self.same_outlet(caller, one["outlet"])]
        return {"held": [{name: one[name] for name in names} for one in rows]}


@fault(
    "the state of a record",
    Step("reporter", "move_story", {"story_id": "S-104", "desk": "sports"}),
    Step("editor", "move_story", {"story_id": "S-112", "desk": "sports"}),
    holds=lambda said: "denied" not in said[-1],
)
class LockedIsMoved(Newsroom):
    """A locked story keeps its title, and can be moved."""

    def move_story(self, caller: Caller, story_id: str, desk: str) -> Row:
        """Forget the lock."""
        found = self.archive.stories.get(story_id)
        if found is None or found["state"] != "locked" or not self.may_read(caller, found):
            return super().move_story(caller, story_id, desk)
        self.require(self.may_change(caller, {**found, "state": "published"}))
        found["desk"] = desk
        return {"story_id": story_id, "desk": desk}


@fault(
    "writes that echo or touch",
    Step("reporter", "copy_story", {"story_id": "S-111"}),
    holds=lambda said: "denied" not in said[-1],
)
class CopyOfAnything(Newsroom):
    """Any story of the outlet can be copied, and the copy is the caller's."""

    def copy_story(self, caller: Caller, story_id: str) -> Row:
        """Ask for the outlet alone."""
        found = self.archive.stories.get(story_id)
        self.require(found is not None and self.same_outlet(caller, found["outlet"]))
        assert found is not None
        return {**self.copied(caller, found), "title": "Copy"}


@fault(
    "writes that echo or touch",
    Step("freelancer", "share_story", {"story_id": "S-107", "contributor_id": "P-14"}),
    Step("freelancer", "get_story", {"story_id": "S-107"}),
    shows="{S-107.text}",
)
class ShareWithOneself(Newsroom):
    """Anybody may share any story of the outlet, also with themselves."""

    def to_share(self, caller: Caller, story_id: str) -> Row:
        """Ask for the outlet alone."""
        found = self.archive.stories.get(story_id)
        self.require(found is not None and self.same_outlet(caller, found["outlet"]))
        assert found is not None
        return found


@fault(
    "writes that echo or touch",
    Step("editor", "update_story", {"story_id": "S-103", "title": "A new title"}),
    shows="{S-103.source}",
)
class UpdateReturnsStory(Newsroom):
    """A new title is answered with the whole story."""

    def update_story(self, caller: Caller, story_id: str, title: str) -> Row:
        """Return all of it."""
        super().update_story(caller, story_id, title)
        return {**self.archive.stories[story_id], "code": ""}
