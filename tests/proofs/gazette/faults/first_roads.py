"""The first half: the same data by another road."""

from __future__ import annotations

from typing import Any

from tests.proofs.gazette.data import Row
from tests.proofs.gazette.faults.base import Step, fault
from tests.proofs.gazette.newsroom import Newsroom
from tests.proofs.gazette.policy import STORY_FIELDS, Caller


@fault(
    "another road: exports",
    Step("freelancer", "export_stories", {"desk": "culture"}),
    shows="{S-105.title}",
)
class ExportByDesk(Newsroom):
    """An export of a desk has all of its stories."""

    def export_stories(self, caller: Caller, desk: str = "") -> str:
        """Ask for the outlet alone, if there is a desk."""
        if not desk:
            return super().export_stories(caller, desk)
        every = [one for one in self.every_story() if self.same_outlet(caller, one["outlet"])]
        rows = [one for one in every if one["desk"] == desk and not self.is_gone(one)]
        return self.as_csv([self.shown(caller, one) for one in rows])


@fault(
    "another road: field lists",
    Step("editor", "get_contributor", {"contributor_id": "P-13", "fields": "name,iban"}),
    shows="{P-13.iban}",
)
class ChosenOfContributor(Newsroom):
    """Of chosen fields of a contributor only the first is looked at."""

    def choose_person(
        self, caller: Caller, contributor_id: str, person: Row, chosen: list[str]
    ) -> Row:
        """Judge all by the first."""
        self.require(chosen[0] in person)
        whole = self.archive.people[contributor_id]
        self.require(set(chosen) <= whole.keys())
        return {name: whole[name] for name in chosen}


@fault(
    "another road: alias",
    Step("reporter", "find_contributor", {"alias": "{P-13.alias}"}),
    shows="{P-13.iban}",
)
class FoundByAlias(Newsroom):
    """Whoever is found by an alias comes as a whole record."""

    def find_contributor(self, caller: Caller, alias: str) -> Row:
        """Return the whole record."""
        found = super().find_contributor(caller, alias)
        return self.archive.people[found["contributor_id"]]


@fault(
    "another road: resources", Step("reporter", "resource contributors/P-13"), shows="{P-13.phone}"
)
class WholeContributorPage(Newsroom):
    """The resource of a contributor is the whole record."""

    def person_page(self, caller: Caller, contributor_id: str) -> Row:
        """Return all of it."""
        return self.person(caller, contributor_id)


@fault("another road: completions", Step("reporter", "complete "), shows="{S-111.title}")
class CompletesAllTitles(Newsroom):
    """The completion of a prompt's argument has the titles of all stories; the tool has not."""

    def completions(self, caller: Caller, start: str) -> list[str]:
        """Complete from all."""
        return [one["title"] for one in self.every_story() if one["title"].startswith(start)]

    def suggest_titles(self, caller: Caller, start: str) -> Row:
        """Suggest from the caller's."""
        return {"titles": super().completions(caller, start)}


@fault(
    "another road: field lists",
    Step("editor", "get_story", {"story_id": "S-102", "fields": "source"}),
    shows="{S-102.source}",
)
class ChosenFields(Newsroom):
    """Chosen fields are taken from the story itself."""

    def field(self, caller: Caller, story: Row, shown: Row, outer: str, inner: str) -> Any:
        """Take any field but the code."""
        if not inner and outer != "code" and outer in story:
            return story[outer]
        return super().field(caller, story, shown, outer, inner)


@fault("another road: links", Step("editor", "open_link", {"link": "L-82"}), shows="{S-107.title}")
class LinkForAnybody(Newsroom):
    """A link opens its story for whoever has it."""

    def link_holds(self, caller: Caller, share: Row) -> bool:
        """Look at the share alone, and not even whether it was revoked."""
        return bool(caller.role)


@fault("another road: exports", Step("reporter", "export_stories"), shows="{S-102.fee}")
class ExportWithFees(Newsroom):
    """The export has columns of its own, with fee and source."""

    def export_stories(self, caller: Caller, desk: str = "") -> str:
        """Export all columns."""
        rows = [one for one in self.exported(caller) if desk in ("", one["desk"])]
        return self.as_csv([{name: one[name] for name in STORY_FIELDS["chief"]} for one in rows])


@fault(
    "another road: summaries",
    Step("editor", "story_digest", {"story_id": "S-102"}),
    shows="{S-102.source}",
)
class DigestNamesSource(Newsroom):
    """The sentence that sums up a story says who told it."""

    def story_digest(self, caller: Caller, story_id: str) -> str:
        """Name the source."""
        said = super().story_digest(caller, story_id)
        return f"{said} As told by {self.story(caller, story_id)['source']}."


@fault(
    "another road: alias",
    Step("sister", "find_contributor", {"alias": "{P-13.alias}"}),
    shows="{P-13.email}",
)
class AliasOfBoth(Newsroom):
    """An alias is looked up among the contributors of both papers."""

    def find_contributor(self, caller: Caller, alias: str) -> Row:
        """Forget the outlet."""
        people = self.archive.people.values()
        found = next((one for one in people if one["alias"] == alias), None)
        self.require(found is not None and caller.role != "freelancer")
        assert found is not None
        return self.shown_person(caller, found)
