"""The first half: rights, states, tenants, writes, quotas and identities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.proofs.gazette.data import Row
from tests.proofs.gazette.faults.base import Step, fault
from tests.proofs.gazette.newsroom import QUOTA, Newsroom
from tests.proofs.gazette.policy import Caller, Denied


@fault(
    "an identity in the query string",
    Step(
        "freelancer",
        "get_story",
        {"story_id": "S-103"},
        {"contributor_id": "P-10", "role": "chief"},
    ),
    shows="{S-103.source}",
)
class AttributesInQuery(Newsroom):
    """Attributes in the address replace those of the token."""

    def identify(self, attributes: Mapping[str, Any], query: Mapping[str, str]) -> Caller:
        """Take what the address says."""
        return self.caller({**attributes, **query} if attributes else attributes)


@fault(
    "quotas and lockouts",
    Step("editor", "search_stories", {"query": "zebra crossing"}),
    Step("reporter", "recent_searches"),
    holds=lambda said: "zebra" in said[-1],
)
class SearchesOfAll(Newsroom):
    """The last searches are those of all callers."""

    def remember(self, caller: Caller, query: str) -> None:
        """Keep one list."""
        self.archive.searches.setdefault("", []).insert(0, query)

    def recent_searches(self, caller: Caller) -> Row:
        """Return it."""
        return {"queries": self.archive.searches.get("", [])[:3]}


@fault(
    "quotas and lockouts",
    Step("reporter", "search_volumes", {"query": "x"}),
    Step("freelancer", "search_volumes", {"query": "y"}),
    holds=lambda said: f'"searches_left": {QUOTA - 2}' in said[-1],
)
class OneQuotaForEverybody(Newsroom):
    """The searches of everybody, of both papers, count together."""

    def quota_key(self, caller: Caller) -> str:
        """Count all together."""
        return ""


@fault(
    "rights that change in time",
    Step("freelancer", "open_link", {"link": "L-82"}),
    shows="{S-107.title}",
)
class LinkOutlivesShare(Newsroom):
    """The link of a share works after the share was revoked."""

    def link_holds(self, caller: Caller, share: Row) -> bool:
        """Look only at whom the link was made for."""
        return bool(share["with"] == caller.contributor_id) or super().link_holds(caller, share)


@fault(
    "rights that change in time",
    Step("editor", "get_story", {"story_id": "S-108", "as_of": "2024-06-01"}),
    holds=lambda said: "S-108" in said[-1] and "denied" not in said[-1],
)
class RightsAsOf(Newsroom):
    """A story as of a day is shown by the rights of that day."""

    def today(self, as_of: str) -> str:
        """Return the day that was asked for."""
        return as_of or super().today(as_of)

    def text_of(self, caller: Caller, story: Row, revision: int, as_of: str) -> str:
        """Give the present text to whoever may not read old ones."""
        if not self.may_read_revision(caller, revision) and not revision:
            return str(story["text"])
        return super().text_of(caller, story, revision, as_of)


@fault(
    "rights that change in time",
    Step("editor", "get_story", {"story_id": "S-109"}),
    shows="{S-109.title}",
)
class DeskByBeginning(Newsroom):
    """Whoever has a desk has every desk whose name begins like it."""

    def in_desks(self, desk: str, desks: set[str]) -> bool:
        """Compare the beginning."""
        return any(desk.startswith(one) for one in desks)


@fault(
    "rights that change in time",
    Step("freelancer", "get_story", {"story_id": "S-107"}),
    shows="{S-107.title}",
)
class RevokedShare(Newsroom):
    """A share that was revoked still opens its story, by every road."""

    def is_open(self, share: Row, day: str) -> bool:
        """Look at the last day alone."""
        return not self.ends(share["until"], day)


@fault(
    "tenants and owners compared loosely",
    Step("freelancer", "get_contributor", {"contributor_id": "P-140"}),
    shows="{P-140.iban}",
)
class SelfByBeginning(Newsroom):
    """A freelancer's own record is each whose id begins like theirs."""

    def may_know(self, caller: Caller, person: Row) -> bool:
        """Compare the beginning."""
        if caller.role == "freelancer":
            return str(person["contributor_id"]).startswith(caller.contributor_id)
        return super().may_know(caller, person)


@fault(
    "tenants and owners compared loosely", Step("sister", "list_contributors"), shows="{P-13.email}"
)
class ContributorsOfBoth(Newsroom):
    """The list of contributors is that of the publisher, and not of the paper."""

    def list_contributors(self, caller: Caller) -> Row:
        """List all."""
        self.require(caller.role != "freelancer")
        people = self.archive.people.values()
        return {"contributors": [self.shown_person(caller, one) for one in people]}


@fault(
    "tenants and owners compared loosely",
    Step("sister", "get_story", {"story_id": "S-116"}),
    shows="{S-116.title}",
)
class NobodysStories(Newsroom):
    """A story without an outlet is every outlet's."""

    def same_outlet(self, caller: Caller, outlet: str | None) -> bool:
        """Let stories without an outlet pass."""
        return outlet in (None, caller.outlet)


@fault(
    "the state of a record",
    Step("reporter", "related_stories", {"story_id": "S-102"}),
    shows="{S-103.title}",
)
class RelatedDrafts(Newsroom):
    """Related stories are sought among drafts, too."""

    def near(self, caller: Caller) -> list[Row]:
        """Seek among the outlet's stories."""
        rows = [one for one in self.every_story() if not self.is_gone(one)]
        return [one for one in rows if self.same_outlet(caller, one["outlet"])]


@fault(
    "the state of a record",
    Step("reporter", "search_stories", {"query": "confirmed"}),
    shows="{S-103.title}",
)
class SearchInDrafts(Newsroom):
    """The index of words still has the drafts of colleagues."""

    def search_stories(self, caller: Caller, query: str) -> Row:
        """Search the outlet's stories."""
        if caller.role != "reporter":
            return super().search_stories(caller, query)
        self.remember(caller, query)
        every = [one for one in self.every_story() if self.same_outlet(caller, one["outlet"])]
        found = [one for one in every if not self.is_gone(one) and self.has(caller, one, query)]
        return {"stories": [self.shown(caller, one) for one in found]}


@fault(
    "the state of a record",
    Step("chief", "count_stories"),
    holds=lambda said: "deleted" in said[-1],
)
class DeletedAreCounted(Newsroom):
    """Counts include deleted stories and what the caller may not know of."""

    def counted(self, caller: Caller) -> list[Row]:
        """Count the outlet's stories."""
        return [one for one in self.every_story() if self.same_outlet(caller, one["outlet"])]


@fault(
    "the state of a record",
    Step("editor", "list_revisions", {"story_id": "S-102"}),
    holds=lambda said: "told us" in said[-1],
)
class RevisionsWithTexts(Newsroom):
    """The list of revisions has what each of them said."""

    def shown_revision(self, caller: Caller, revision: Row) -> Row:
        """Show all of it."""
        return revision


@fault(
    "the state of a record",
    Step("editor", "story_digest", {"story_id": "S-110"}),
    shows="{S-110.title}",
)
class DigestOfDeleted(Newsroom):
    """Deleted stories are still summed up."""

    def story_digest(self, caller: Caller, story_id: str) -> str:
        """Forget that a story was deleted."""
        found = self.archive.stories.get(story_id)
        if (
            found is not None
            and self.is_gone(found)
            and self.may_read(caller, {**found, "state": "draft"})
        ):
            return f"{story_id}: {found['title']}. {found['text']}."
        return super().story_digest(caller, story_id)


@fault(
    "writes that echo or touch",
    Step("reporter", "update_story", {"story_id": "S-103", "title": "x"}),
    shows="{S-103.title}",
)
class RefusalQuotesTitle(Newsroom):
    """The refusal of a new title says which one the story keeps."""

    def update_story(self, caller: Caller, story_id: str, title: str) -> Row:
        """Quote the title."""
        try:
            return super().update_story(caller, story_id, title)
        except Denied as denied:
            found = self.archive.stories.get(story_id, {"title": "nothing"})
            raise Denied(f"{denied}: {story_id} stays {found['title']!r}") from denied


@fault(
    "writes that echo or touch",
    Step("freelancer", "move_story", {"story_id": "S-103", "desk": "sports"}),
    holds=lambda said: "denied" not in said[-1],
)
class MoveOfAnything(Newsroom):
    """Any story can be moved to another desk by anybody."""

    def move_story(self, caller: Caller, story_id: str, desk: str) -> Row:
        """Ask for nothing."""
        found = self.archive.stories.get(story_id)
        self.require(found is not None)
        assert found is not None
        found["desk"] = desk
        return {"story_id": story_id, "desk": desk}


@fault(
    "writes that echo or touch",
    Step("freelancer", "comment_story", {"story_id": "S-103", "text": "Hm"}),
    shows="{S-103.title}",
)
class CommentEchoesTitle(Newsroom):
    """Anybody may comment on any story, and is told what it is."""

    def comment_story(self, caller: Caller, story_id: str, text: str) -> Row:
        """Take each comment."""
        found = self.archive.stories.get(story_id)
        self.require(found is not None)
        assert found is not None
        return {"story_id": story_id, "on": found["title"], "text": text}
