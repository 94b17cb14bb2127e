"""Makes cases of the tests in a YAML suite: defaults, parameters, turns, scripted calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from harness.base import (
    DocumentReader,
    InvalidValue,
    Problem,
    Steps,
    Values,
    describe_value,
    did_you_mean,
    find_dropped_keys,
    parse_single_line,
)
from harness.judging import checks_of_model, checks_with
from harness.suites.faults import read_own_faults
from harness.suites.format_tables import MXCP_CHECKS, SuiteLayouts
from harness.suites.identities import IdentityReader
from harness.suites.ingest import (
    BESIDE_PROMPT,
    INGEST_PROMPT,
    LIMIT_KEYS,
    apply_limits,
    build_ingest_turns,
    find_server_content,
    find_words,
    read_attachments,
    scale_limits,
)
from harness.suites.parameters import ParameterExpander
from harness.suites.questions import ReadTest, name_questions
from harness.suites.simulated_users import format_summary, read_elicit, read_user
from harness.suites.wordings import find_flaws
from harness.types import Caller, Case, Check, JsonObject, Limits, ScriptedCall, Turn

_OF_MODEL = (*BESIDE_PROMPT, "max_replies", "max_calls", "max_tokens", "max_cost")
"""Keys that mean nothing in a test without a model."""
_WORDS = (
    "Add 'prompt: …', 'turns:' for a conversation, 'user:' for a simulated user, 'use_prompt:' for "
    "a prompt of the server, or 'call:' for a call without a model."
)
_SAID_BY_USER = (
    "A simulated user writes its own messages; put the first one under 'first_message:' of 'user:'."
)


class CaseReader:
    """Reads the cases of one suite, whose own keys are already parsed."""

    def __init__(self, reading: DocumentReader, layout: SuiteLayouts, suite: Values) -> None:
        """Read the defaults of every test; ``suite`` has the parsed values of the suite's keys."""
        self._reading = reading
        self._layout = layout
        self._suite = suite
        # None: they were given and are broken, which is told once and not for each test.
        is_broken = reading.has_key("contexts") and "contexts" not in suite
        self._contexts: JsonObject | None = None if is_broken else suite.get("contexts", {})
        self._expander = ParameterExpander(reading, layout.test, layout.parameters)
        decision = layout.assertions.fields.get("decision")
        self._identities = IdentityReader(reading, suite, layout.expectation, decision)
        self._as: tuple[str, ...] = ()  # the identities of a test that names none
        self._lost = False  # whether a check has already caused a problem
        self._base = self._read_defaults(suite.get("defaults", {}))
        self._base_lost = self._lost  # each test begins with it, and adds its own

    def iterate_cases(self) -> Iterator[tuple[Steps, Case]]:
        """Yield ``(path of the test, case)`` in the order of the file.

        The reading collects problems.
        """
        tests: list[ReadTest] = []
        paths: list[Steps] = []
        for index, test in enumerate(self._suite.get("tests", ())):
            path = ("tests", index)
            if not isinstance(test, dict):
                message = (
                    f"test number {index + 1}: expected a mapping (lines of 'key: value'), "
                    f"found {describe_value(test)}."
                )
                self._reading.add_problem(path, message)
                continue
            name = test.get("name")
            noun = f"test {name!r}" if isinstance(name, str) else f"test number {index + 1}"
            rows = self._expander.expand_test(path, test, noun)
            found = [
                case for end, row in rows for case in self._expand_identities(path, row, noun, end)
            ]
            named = test.get("test")
            if found:
                # Without a name, which has been reported, it asks alone.
                title = name if isinstance(name, str) else noun
                tests.append((title, named if isinstance(named, str) else None, found))
                paths.append(path)
        # One question in many ways, however they came about, is one test.
        for place, (_, _, its), question in zip(paths, tests, name_questions(tests), strict=True):
            for case in its:
                yield place, replace(case, repeats=replace(case.repeats, test=question))
        # After all tests: only now is it known which tools are named.
        self._identities.defaults.refuse_unused()

    # ── Defaults of every test ────────────────────────────────────────────────────────────

    def _read_defaults(self, given: JsonObject) -> Case:
        """Return the case from which all other cases are derived."""
        path: Steps = ("defaults",)
        values = self._reading.read_mapping(path, given, self._layout.defaults, "defaults")
        # Neither place is the more exact one: both hold for all tests.
        for key in LIMIT_KEYS.keys() & values.keys() & self._suite.keys():
            message = f"{key!r} is also written at the top of the suite."
            self._reading.add_key_problem((*path, key), message, "Keep one of them.")
        self._given = {*values, *self._suite}  # keys that hold for every test
        top = Case(
            name="",
            prompt="",
            checks=(),
            limits=apply_limits(self._suite, Limits()),
            tags=self._suite.get("tags", ()),
            metadata=self._suite.get("metadata", {}),
            caller=self._read_caller((), self._suite, Caller()),
        )
        checks = self._read_checks(path, given, values, "defaults")
        self._as = self._identities.read_names(path, values)
        self._identities.defaults.store_expectations(values.get("expect", {}))
        return self._apply_shared_keys(path, values, replace(top, checks=checks), "defaults")

    def _apply_shared_keys(self, path: Steps, values: Values, base: Case, noun: str) -> Case:
        """Return ``base`` with the keys that tests and defaults share.

        Lists and mappings are added.
        """
        setup, teardown = (
            self.read_calls((*path, key), values.get(key, ()), noun)
            for key in ("setup", "teardown")
        )
        return replace(
            base,
            caller=self._read_caller(path, values, base.caller),
            setup=(*base.setup, *setup),
            # In reverse: what was set up last is taken down first.
            teardown=(*teardown, *base.teardown),
            repeats=replace(base.repeats, **_select_given(values, "trials", "pass_threshold")),
            limits=apply_limits(values, base.limits),
            tags=tuple(dict.fromkeys((*base.tags, *values.get("tags", ())))),
            metadata={**base.metadata, **values.get("metadata", {})},
        )

    # ── A test ───────────────────────────────────────────────────────────────────────────────

    def _expand_identities(
        self, path: Steps, test: JsonObject, noun: str, end: str
    ) -> Iterator[Case]:
        """Yield the cases of a test: one, or one for each identity."""
        values = self._reading.read_mapping(path, test, self._layout.test, noun)
        case = self._read_case(path, test, values, noun, end)
        names = self._identities.read_names(path, values)
        # A test that names its caller in either way replaces the identities of the defaults.
        if not {"as", "user_context"} & values.keys():
            names = self._as
        lost = (
            self._lost
            or self._identities.is_lost
            or bool(find_dropped_keys(test, values) & {"as", "expect", "tool"})
        )
        # To say that a test checks nothing would be wrong where its checks are only broken.
        before = len(self._reading.problems)
        cases = list(self._identities.expand_case(path, values, case, names, noun))
        lost = lost or len(self._reading.problems) > before
        compared = len(names) > 1 and case.caller.leaks == "fail"  # which is a check in itself
        if not compared and not lost and not all(each.every_check for each in cases):
            known = ", ".join(self._layout.assertions.fields)
            meant = f"Add 'assertions:' with at least one of: {known}."
            self._reading.add_problem((*path, "assertions"), f"{noun} checks nothing.", meant)
        self._refuse_checks_of_model(path, cases, noun)
        for one in cases:
            for flaw in find_flaws(one):
                at = (*path, "wordings", flaw.place)
                self._reading.add_problem(at, f"{flaw.message}.", flaw.meant)
        yield from cases

    def _read_case(
        self, path: Steps, test: JsonObject, values: Values, noun: str, end: str
    ) -> Case:
        self._lost = self._base_lost or "turns" in find_dropped_keys(test, values)
        # By the keys as written: an invalid prompt is a prompt that has its own problem.
        self._require_words(path, test, noun)
        prompt = values.get("ingest_prompt", INGEST_PROMPT)
        told = build_ingest_turns(values.get("ingest", ()), prompt)
        given = values.get("turns", ())
        asked = self._read_turns((*path, "turns"), given, noun, fresh="ingest" in test)
        calls = self._read_direct_calls((*path, "call"), values.get("call"), noun)
        turns = (Turn(prompt="", calls=calls),) if calls else (*told, *asked)
        if files := tuple(read_attachments(self._reading, path, values)):
            turns = (Turn(prompt=values.get("prompt", ""), attach=files),)
        given_user, at = values.get("user"), (*path, "user")
        user = None if given_user is None else read_user(self._reading, at, given_user, noun)
        shared = self._apply_shared_keys(path, values, self._base, noun)
        # What the defaults ask of a model is meant for the tests that ask one.
        usual = tuple(
            check for check in self._base.checks if not (calls and checks_of_model([check]))
        )
        # Only for ingested texts: many conversations need more replies than one.
        if told:
            limits = scale_limits(shared.limits, turns, {*values, *self._given})
            shared = replace(shared, limits=limits)
        words = format_summary(user) if user else find_words(values)
        return replace(
            shared,
            name=values["name"] + end if "name" in values else "",
            prompt=asked[0].prompt if asked else words,
            checks=(*self._read_checks(path, test, values, noun), *usual),
            caller=replace(shared.caller, **_select_given(values, "context", "use_prompt")),
            wordings=values.get("wordings", ()),
            turns=turns,
            user=user,
            repeats=replace(shared.repeats, faults=read_own_faults(self._reading, path, values)),
            description=values.get("description"),
            at=self._reading.document.locate(path),
        )

    def _require_words(self, path: Steps, test: JsonObject, noun: str) -> None:
        """Require a prompt, turns or a user, and only one of them."""
        words = [key for key in ("prompt", "turns", "user", "call") if test.get(key) is not None]
        if words == ["call"]:
            for key in _OF_MODEL:
                if test.get(key) is not None:
                    message = f"{noun} has {key!r}, but its calls are made without a model."
                    self._reading.add_key_problem((*path, key), message, "Remove it.")
            return
        if test.get("ingest") is not None and words != ["turns"]:
            meant = "Write the questions under 'turns:', each as '- prompt: …'."
            message = (
                f"{noun} has 'ingest' and no 'turns'."
                if not words
                else f"{noun} has 'ingest' and {words[0]!r}."
            )
            self._reading.add_key_problem((*path, "ingest"), message, meant)
        elif test.get("ingest") and (given := find_server_content(test)):
            message = f"{noun} has both {given!r} and 'ingest'."
            self._reading.add_key_problem((*path, given), message, "Remove one of them.")
        elif not words and not test.get("use_prompt"):
            self._reading.add_problem((*path, "prompt"), f"{noun} has no 'prompt'.", _WORDS)
        elif len(words) > 1:
            message = f"{noun} has both {words[0]!r} and {words[1]!r}."
            meant = (
                "Calls beside a conversation belong under 'setup:' or 'teardown:'."
                if words[-1] == "call"
                else "Make the prompt the first of the turns."
                if words[1] == "turns"
                else _SAID_BY_USER
            )
            self._reading.add_key_problem((*path, words[0]), message, meant)

    def _refuse_checks_of_model(self, path: Steps, cases: Sequence[Case], noun: str) -> None:
        own = self._reading.document.locate(path)
        # A check that holds for many identities is one mistake.
        found = {
            (check.kind, check.at or own): None
            for case in cases
            if case.calls
            for check in checks_of_model(case.every_check)
        }
        for kind, at in found:
            message = f"{noun}: {kind!r} judges a model, and 'call:' asks none."
            meant = "Check the result of the call, or ask with 'prompt:'."
            self._reading.problems.append(Problem(at=at, message=message, meant=meant))

    def _read_turns(self, path: Steps, turns: Any, noun: str, *, fresh: bool) -> tuple[Turn, ...]:
        """Return the written turns; ``fresh``: whether each begins a conversation by default."""
        read = []
        for index, given in enumerate(turns):
            place, each = (*path, index), f"turn {index + 1} of {noun}"
            if not isinstance(given, dict):
                found = describe_value(given)
                message = f"{each}: expected a mapping (lines of 'key: value'), found {found}."
                self._reading.add_problem(place, message, "Write '- prompt: …'.")
                self._lost = True
                continue
            values = self._reading.read_mapping(place, given, self._layout.turn, each)
            checks = self._read_checks(place, given, values, each)
            # The state is read once, when the last turn is over.
            if index < len(turns) - 1:
                self._refuse_end_state(checks, each)
            prompt, afresh = values.get("prompt", ""), values.get("fresh", fresh)
            read.append(Turn(prompt=prompt, checks=checks, fresh=afresh))
        return tuple(read)

    def _refuse_end_state(self, checks: Sequence[Check], noun: str) -> None:
        meant = "Put it into the last turn, or under 'assertions:' of the test."
        for check in checks:
            if early := checks_with("reads_end_state", [check]):
                message = (
                    f"{noun}: {early[0].kind!r} is read when the conversation is over, but it "
                    "goes on after this turn."
                )
                at = check.at or self._reading.document.locate(())
                self._reading.problems.append(Problem(at=at, message=message, meant=meant))

    def _read_checks(
        self, path: Steps, given: JsonObject, values: Values, noun: str
    ) -> tuple[Check, ...]:
        """Return the checks of a test, of a turn or of the defaults, in the order of the file."""
        assertions = values.get("assertions", {})
        asked = self._reading.read_mapping(
            (*path, "assertions"), assertions, self._layout.assertions, f"assertions of {noun}"
        )
        sources = [((*path, "assertions", kind), parsed) for kind, parsed in asked.items()]
        if "expected_answer" in values:
            sources.append(((*path, "expected_answer"), values["expected_answer"]))
        self._note_blanks((*path, "assertions"), assertions, noun)
        self._note_blanks(path, _select_given(given, "expected_answer"), noun)
        lost = {
            kind
            for kind in assertions.keys() - asked.keys()
            # Of MXCP's checks an empty one counts as absent, with a note.
            if assertions[kind] is not None or kind not in MXCP_CHECKS
        }
        if lost or find_dropped_keys(given, values) & {"assertions", "expected_answer"}:
            self._lost = True
        return tuple(
            check.with_location(self._reading.document.locate((*place, *part)))
            for place, parsed in sources
            for part, check in parsed
        )

    def _note_blanks(self, path: Steps, given: JsonObject, noun: str) -> None:
        for kind in MXCP_CHECKS:
            if kind in given and given[kind] is None:
                at = self._reading.document.locate_key((*path, kind))
                note = f"{at}: {kind!r} of {noun} has no value, so it checks nothing."
                self._reading.notes.append(note)

    def read_calls(self, path: Steps, calls: Any, noun: str) -> tuple[ScriptedCall, ...]:
        """Return the calls written at ``path``; ``noun`` names their owner in messages."""
        read = (
            self._read_call((*path, index), given, f"number {index + 1} of {path[-1]} of {noun}")
            for index, given in enumerate(calls)
        )
        return tuple(call for call in read if call is not None)

    def _read_direct_calls(self, path: Steps, given: Any, noun: str) -> tuple[ScriptedCall, ...]:
        """Return the calls of a test without a model: a list, or a single one."""
        if given is None or isinstance(given, list):
            return self.read_calls(path, given or (), noun)
        call = self._read_call(path, given, f"call of {noun}")
        return () if call is None else (call,)

    def _read_call(self, path: Steps, given: Any, noun: str) -> ScriptedCall | None:
        """Return a call written as ``{tool, args}`` or as the tool's name."""
        at = self._reading.document.locate(path)
        if isinstance(given, dict):
            values = self._reading.read_mapping(path, given, self._layout.call, noun)
            return ScriptedCall(
                tool=values.get("tool", ""),
                arguments=values.get("args", {}),
                at=at,
                allow_absent=values.get("allow_absent", False),
            )
        try:
            return ScriptedCall(tool=parse_single_line(given), at=at)
        except InvalidValue:
            message = (
                f"{noun}: expected a tool's name, or a mapping with 'tool' and 'args'; found "
                f"{describe_value(given)}."
            )
            self._reading.add_problem(path, message)
            return None

    def _read_caller(self, path: Steps, values: Values, base: Caller) -> Caller:
        """Return ``base`` with the caller that ``values`` describe."""
        given = _select_given(values, "leaks", "credential", "allow_no_tools")
        if "user_context" in values:
            given["user_context"] = self._read_user(path, values["user_context"])
        given |= read_elicit(self._reading, path, values, base.elicit)
        return replace(base, **given)

    def _read_user(self, path: Steps, given: str | JsonObject) -> JsonObject | None:
        """Return a ``user_context``, which may be given by name."""
        if not isinstance(given, str):
            return given
        if self._contexts is None:  # which was already reported
            return None
        if given not in self._contexts:
            meant = did_you_mean(given, self._contexts) or (
                f"Known: {', '.join(self._contexts)}."
                if self._contexts
                else "Write a mapping, or name this one under 'contexts:' of the suite."
            )
            at = (*path, "user_context")
            self._reading.add_problem(at, f"there is no context {given!r}.", meant)
        context: JsonObject | None = self._contexts.get(given)
        return context


def _select_given(values: Values, *keys: str) -> dict[str, Any]:
    return {key: values[key] for key in keys if key in values}
