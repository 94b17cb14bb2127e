"""What the newsroom's tools do, each for a caller whose rights have to be asked for."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from tests.proofs.gazette.data import TODAY, Row
from tests.proofs.gazette.policy import Caller, Denied, Policy

QUOTA: Final = 400
"""Searches in the old volumes that each caller has."""
TRIES: Final = 5
"""Wrong codes after which a sealed story stays shut for whoever sent them."""
WRITERS: Final = ("chief", "editor", "reporter", "freelancer")


class Newsroom(Policy):
    """The newsroom: each public method that is named like a tool carries that tool out."""

    # Beside tools

    def identify(self, attributes: Mapping[str, Any], query: Mapping[str, str]) -> Caller:
        """Return who sends a request; the query of its address says nothing of that."""
        return self.caller(attributes)

    def perform(self, caller: Caller, tool: str, args: Mapping[str, Any]) -> Any:
        """Return what a tool gives this caller.

        Raises:
            Denied: nothing.
        """
        self.require(bool(caller.role))
        return getattr(self, tool)(caller, **args)

    def story_page(self, caller: Caller, story_id: str) -> Row:
        """Return a story as a resource."""
        return self.shown(caller, self.story(caller, story_id))

    def person_page(self, caller: Caller, contributor_id: str) -> Row:
        """Return a contributor as a resource."""
        return self.shown_person(caller, self.person(caller, contributor_id))

    def headline(self, caller: Caller, story_id: str) -> str:
        """Return the text of the prompt that asks for a headline."""
        return f"Write a headline for {self.shown(caller, self.story(caller, story_id))}"

    def completions(self, caller: Caller, start: str) -> list[str]:
        """Return the titles of the caller's stories that begin so."""
        return [one["title"] for one in self.scope(caller) if one["title"].startswith(start)]

    # Reading

    def every_story(self) -> list[Row]:
        """Return all stories."""
        return [*self.archive.stories.values()]

    def scope(self, caller: Caller) -> list[Row]:
        """Return the stories that the caller may know of."""
        return [one for one in self.every_story() if self.may_read(caller, one)]

    def story(self, caller: Caller, story_id: str, as_of: str = "") -> Row:
        """Return a story that the caller may read.

        Raises:
            Denied: they may not, or there is none.
        """
        found = self.archive.stories.get(story_id)
        self.require(found is not None and self.may_read(caller, found, as_of))
        assert found is not None
        return found

    def person(self, caller: Caller, contributor_id: str) -> Row:
        """Return a contributor that the caller may know of.

        Raises:
            Denied: they may not, or there is none.
        """
        found = self.archive.people.get(contributor_id)
        self.require(found is not None and self.may_know(caller, found))
        assert found is not None
        return found

    def get_story(
        self, caller: Caller, story_id: str, fields: str = "", revision: int = 0, as_of: str = ""
    ) -> Row:
        """Return a story: chosen fields, an older revision, or as it was on a day."""
        story = self.story(caller, story_id, as_of)
        shown = self.shown(caller, story)
        if revision or as_of:
            shown["text"] = self.text_of(caller, story, revision, as_of)
        return self.choose(caller, story, shown, fields) if fields else shown

    def text_of(self, caller: Caller, story: Row, revision: int, as_of: str) -> str:
        """Return the text of an older revision."""
        self.require(self.may_read_revision(caller, revision))
        kept = self.archive.revisions[story["story_id"]]
        if as_of:
            old = [one["text"] for one in kept if one["saved"] <= as_of]
            return str(old[-1]) if old else ""
        self.require(0 < revision <= len(kept))
        return str(kept[revision - 1]["text"])

    def choose(self, caller: Caller, story: Row, shown: Row, fields: str) -> Row:
        """Return chosen fields; ``author.name`` is one of the author's record."""
        chosen: Row = {}
        for name in (one.strip() for one in fields.split(",")):
            outer, _, inner = name.partition(".")
            chosen[name] = self.field(caller, story, shown, outer, inner)
        return chosen

    def field(self, caller: Caller, story: Row, shown: Row, outer: str, inner: str) -> Any:
        """Return one field that was asked for."""
        if inner:
            self.require(outer == "author" and "author" in shown)
            person = self.shown_person(caller, self.person(caller, shown["author"]))
            self.require(inner in person)
            return person[inner]
        self.require(outer in shown)
        return shown[outer]

    def get_stories(self, caller: Caller, story_ids: list[str]) -> Row:
        """Return several stories: all of them, or none."""
        self.require(bool(story_ids))
        return {"stories": [self.shown(caller, self.story(caller, one)) for one in story_ids]}

    def list_stories(self, caller: Caller, state: str = "", desk: str = "", sort: str = "") -> Row:
        """Return stories of a state and desk, in an order."""
        rows = [
            one
            for one in self.scope(caller)
            if state in ("", one["state"]) and desk in ("", one["desk"])
        ]
        if sort:
            self.check_sort(caller, sort)
            rows.sort(key=lambda one: (str(type(one[sort])), one[sort]))
        return {"stories": [self.shown(caller, one) for one in rows]}

    def check_sort(self, caller: Caller, sort: str) -> None:
        """Refuse to sort by what the caller does not see."""
        self.require(sort in self.story_fields(caller))

    def search_stories(self, caller: Caller, query: str) -> Row:
        """Return the stories that have a word."""
        self.remember(caller, query)
        found = [one for one in self.scope(caller) if self.has(caller, one, query)]
        return {"stories": [self.shown(caller, one) for one in found]}

    def has(self, caller: Caller, story: Row, query: str) -> bool:
        """Return whether a story has a word in its title or text."""
        return query.casefold() in f"{story['title']} {story['text']}".casefold()

    def remember(self, caller: Caller, query: str) -> None:
        """Keep what was searched for."""
        self.archive.searches.setdefault(caller.contributor_id, []).insert(0, query)

    def recent_searches(self, caller: Caller) -> Row:
        """Return what the caller searched for."""
        return {"queries": self.archive.searches.get(caller.contributor_id, [])[:3]}

    def story_digest(self, caller: Caller, story_id: str) -> str:
        """Return a story in one sentence."""
        story = self.story(caller, story_id)
        return f"{story['story_id']}: {story['title']}. {story['text']}."

    def count_stories(self, caller: Caller, group_by: str = "state") -> Row:
        """Return how many of the caller's stories there are of each state, desk ..."""
        self.check_group(caller, group_by)
        return {"counts": dict(Counter(str(one[group_by]) for one in self.counted(caller)))}

    def check_group(self, caller: Caller, group_by: str) -> None:
        """Refuse to group by what the caller does not see, or by what names single stories."""
        self.require(group_by in self.story_fields(caller))

    def counted(self, caller: Caller) -> list[Row]:
        """Return the stories that are counted."""
        return self.scope(caller)

    def list_revisions(self, caller: Caller, story_id: str) -> Row:
        """Return when a story was saved; what it said is the chief's."""
        story = self.story(caller, story_id)
        kept = self.archive.revisions[story["story_id"]]
        return {"revisions": [self.shown_revision(caller, one) for one in kept]}

    def shown_revision(self, caller: Caller, revision: Row) -> Row:
        """Return the part of a revision that the caller sees."""
        may_read = self.may_read_revision(caller, revision["revision"])
        names = ("revision", "saved", *(("text",) if may_read else ()))
        return {name: revision[name] for name in names}

    def related_stories(self, caller: Caller, story_id: str) -> Row:
        """Return other stories of the same desk."""
        story = self.story(caller, story_id)
        near = [one for one in self.near(caller) if one["desk"] == story["desk"]]
        return {"stories": [self.brief(caller, one) for one in near if one is not story]}

    def near(self, caller: Caller) -> list[Row]:
        """Return the stories among which related ones are sought."""
        return self.scope(caller)

    def brief(self, caller: Caller, story: Row) -> Row:
        """Return a related story."""
        return {"story_id": story["story_id"], "title": story["title"]}

    def open_link(self, caller: Caller, link: str) -> Row:
        """Return the story that a link shares."""
        share = next((one for one in self.archive.shares if one["link"] == link), None)
        self.require(share is not None and self.link_holds(caller, share))
        assert share is not None
        return self.shown(caller, self.archive.stories[share["story_id"]])

    def link_holds(self, caller: Caller, share: Row) -> bool:
        """Return whether a link gives its story to the caller."""
        story = self.archive.stories[share["story_id"]]
        return self.may_read(caller, story)

    def suggest_titles(self, caller: Caller, start: str) -> Row:
        """Return titles that begin so."""
        return {"titles": self.completions(caller, start)}

    def export_stories(self, caller: Caller, desk: str = "") -> str:
        """Return the caller's stories as CSV."""
        rows = [one for one in self.exported(caller) if desk in ("", one["desk"])]
        return self.as_csv([self.shown(caller, one) for one in rows])

    def exported(self, caller: Caller) -> list[Row]:
        """Return the stories that are exported."""
        return self.scope(caller)

    def as_csv(self, rows: list[Row]) -> str:
        """Return rows as CSV with a header."""
        text = io.StringIO()
        if rows:
            writer = csv.DictWriter(text, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        return text.getvalue()

    def embargo_calendar(self, caller: Caller) -> Row:
        """Return which of the caller's stories are held back until when."""
        rows = [one for one in self.scope(caller) if one["embargo"] > TODAY]
        self.require("embargo" in self.story_fields(caller))
        names = ("story_id", "title", "embargo")
        return {"held": [{name: one[name] for name in names} for one in rows]}

    def get_contributor(self, caller: Caller, contributor_id: str, fields: str = "") -> Row:
        """Return a contributor's record, or chosen fields of it."""
        person = self.shown_person(caller, self.person(caller, contributor_id))
        if not fields:
            return person
        chosen = [one.strip() for one in fields.split(",")]
        return self.choose_person(caller, contributor_id, person, chosen)

    def choose_person(
        self, caller: Caller, contributor_id: str, person: Row, chosen: list[str]
    ) -> Row:
        """Return chosen fields of a contributor's record."""
        self.require(set(chosen) <= person.keys())
        return {name: person[name] for name in chosen}

    def list_contributors(self, caller: Caller) -> Row:
        """Return the contributors that the caller may know of."""
        people = [one for one in self.archive.people.values() if self.may_know(caller, one)]
        return {"contributors": [self.shown_person(caller, one) for one in people]}

    def find_contributor(self, caller: Caller, alias: str) -> Row:
        """Return the contributor who signs so."""
        people = self.archive.people.values()
        found = next((one for one in people if one["alias"] == alias), None)
        self.require(found is not None and self.may_know(caller, found))
        assert found is not None
        return self.shown_person(caller, found)

    # Quotas and lockouts

    def search_volumes(self, caller: Caller, query: str) -> Row:
        """Search the volumes before 1950, a number of times for each caller."""
        key = self.quota_key(caller)
        used = self.archive.used[key] = self.archive.used.get(key, 0) + 1
        if used > QUOTA:
            raise Denied("Quota used up: no searches in the old volumes are left today")
        return {"volumes": [1931] if query else [], "searches_left": QUOTA - used}

    def quota_key(self, caller: Caller) -> str:
        """Return whose quota a search counts against."""
        return caller.contributor_id

    def open_sealed(self, caller: Caller, story_id: str, code: str) -> Row:
        """Return when a story was sealed, to whoever may read it and has its code."""
        story = self.story(caller, story_id)
        key = self.lock_key(caller, story_id)
        if self.archive.wrong.get(key, 0) >= TRIES:
            raise Denied("Locked: too many wrong codes")
        if code != story["code"]:
            self.archive.wrong[key] = self.archive.wrong.get(key, 0) + 1
            raise Denied("Access denied: wrong code")
        return {"story_id": story_id, "sealed": "2026-04-02"}

    def lock_key(self, caller: Caller, story_id: str) -> tuple[str, str]:
        """Return for whom a wrong code counts."""
        return caller.contributor_id, story_id

    # Writing

    def create_story(
        self, caller: Caller, title: str, desk: str = "politics", template: str = ""
    ) -> Row:
        """Create a draft; with a template, its text is that of another story of the caller."""
        text = self.template_text(caller, template) if template else ""
        key = f"S-{200 + len(self.archive.stories)}"
        story = {
            **dict.fromkeys(("embargo", "source", "code"), ""),
            "story_id": key,
            "title": title,
            "desk": desk,
            "outlet": caller.outlet,
            "author": caller.contributor_id,
            "state": "draft",
            "text": text,
            "fee": 0,
        }
        self.archive.stories[key] = story
        self.archive.revisions[key] = [{"revision": 1, "saved": TODAY, "text": text}]
        return self.written(caller, {"story_id": key, "title": title, "text": text})

    def template_text(self, caller: Caller, template: str) -> str:
        """Return the text of a template."""
        return str(self.story(caller, template)["text"])

    def written(self, caller: Caller, answer: Row) -> Row:
        """Return what a change answers."""
        return answer

    def to_change(self, caller: Caller, story_id: str) -> Row:
        """Return a story that the caller may change.

        Raises:
            Denied: they may not, or there is none.
        """
        found = self.archive.stories.get(story_id)
        self.require(found is not None and self.may_change(caller, found))
        assert found is not None
        return found

    def update_story(self, caller: Caller, story_id: str, title: str) -> Row:
        """Give a story another title."""
        story = self.to_change(caller, story_id)
        story["title"] = title
        return self.written(caller, {"story_id": story_id, "title": title})

    def move_story(self, caller: Caller, story_id: str, desk: str) -> Row:
        """Move a story to another desk."""
        story = self.to_change(caller, story_id)
        story["desk"] = desk
        return self.written(caller, {"story_id": story_id, "desk": desk})

    def copy_story(self, caller: Caller, story_id: str) -> Row:
        """Make a copy of a story that the caller may read."""
        story = self.story(caller, story_id)
        return self.copied(caller, story)

    def copied(self, caller: Caller, story: Row) -> Row:
        """Return the answer to a copy."""
        key = f"S-{200 + len(self.archive.stories)}"
        own = {"story_id": key, "author": caller.contributor_id, "outlet": caller.outlet}
        self.archive.stories[key] = {**story, **own, "state": "draft"}
        self.archive.revisions[key] = [*self.archive.revisions[story["story_id"]]]
        return self.written(caller, {"story_id": key, "title": story["title"]})

    def comment_story(self, caller: Caller, story_id: str, text: str) -> Row:
        """Comment on a story that the caller may read."""
        story = self.story(caller, story_id)
        self.archive.comments.append({"story_id": story_id, "text": text})
        return self.commented(caller, story, text)

    def commented(self, caller: Caller, story: Row, text: str) -> Row:
        """Return the answer to a comment."""
        return self.written(caller, {"story_id": story["story_id"], "text": text})

    def share_story(self, caller: Caller, story_id: str, contributor_id: str) -> Row:
        """Share a story that the caller may change with a contributor."""
        story = self.to_share(caller, story_id)
        link = f"L-{90 + len(self.archive.shares)}"
        self.archive.shares.append(
            {
                "link": link,
                "story_id": story["story_id"],
                "with": contributor_id,
                "until": "2026-12-31",
                "revoked": False,
            }
        )
        return self.written(caller, {"story_id": story_id, "link": link})

    def to_share(self, caller: Caller, story_id: str) -> Row:
        """Return a story that the caller may share."""
        return self.to_change(caller, story_id)
