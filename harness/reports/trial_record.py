"""The record of a trial: every field that outputs show of one, with its one name, unit and meaning.

JSON, JSONL, CSV, SQL and spans are projections of it: they choose and arrange its fields. To add
one, add a property to `TrialRecord`: its type and its docstring are what outputs and docs say.

Names end with their unit: ``_s`` seconds, ``_ms`` milliseconds, ``_usd`` US dollars. ``tokens_in``
and ``tokens_out`` are the model's; with ``judge_`` or ``user_`` before them, those of the judges or
of the model that played the user. Trials count from 1.
"""

from __future__ import annotations

from typing import Any

from harness.judging import combine_facts
from harness.reports.sections.attacks import did_task, get_attack
from harness.reports.sections.remarks import format_mark
from harness.reports.sections.sentences import find_stand_in, format_problem
from harness.suites import AXES
from harness.types import (
    FAULT_HITS,
    HELD_BACK,
    JsonObject,
    Review,
    Transcript,
    TrialResult,
    dataclass,
)

AXIS_FIELDS = tuple(axis.name for axis in AXES)
"""The axes of a trial, which are fields as well: null where the value is the default."""


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """One trial. Each property is a field, in the order in which outputs show them.

    A docstring says after "null if" when its field is unknown or does not apply.
    """

    result: TrialResult
    """Its result."""
    opinion: Review | None = None
    """What a person said of the verdict."""
    transcript: Transcript | None = None
    """The conversation; only the fields of `CONVERSATION_FIELDS` need it."""
    servers: tuple[str, ...] = ()
    """The servers of its suite: `list_server_names`."""

    def read(self, name: str) -> Any:
        """Return the field ``name``: a property, or the value on an axis."""
        return self.result.axes.get(name) if name in AXIS_FIELDS else getattr(self, name)

    @property
    def suite(self) -> str:
        """Name of the suite."""
        return self.result.suite

    @property
    def case(self) -> str:
        """Name of the case."""
        return self.result.case.name

    @property
    def model(self) -> str:
        """Name of the model."""
        return self.result.model

    @property
    def trial(self) -> int:
        """Number of the repeat, from 1; 0 of an entry for the run as a whole."""
        return self.result.trial

    @property
    def status(self) -> str:
        """passed, failed, error, skipped, cancelled; after comparing identities."""
        return self.result.status

    @property
    def problem(self) -> str | None:
        """The first problem, on one line; null if it passed."""
        return format_problem(self.result) or None

    @property
    def repeats(self) -> int:
        """Number of planned repeats; 0 of a trial beyond the plan."""
        return self.result.repeats

    @property
    def failed_checks(self) -> list[str]:
        """Labels of the checks that failed, warnings included."""
        return [check.label for check in self.result.checks if check.verdict == "failed"]

    @property
    def error_kind(self) -> str | None:
        """The part that caused an error: model, agent, server, judge, harness; null if none did."""
        return None if self.result.error is None else self.result.error.kind

    @property
    def error(self) -> str | None:
        """The reason why it could not be judged; null if the status is not `error`."""
        return None if self.result.error is None else self.result.error.message

    @property
    def error_detail(self) -> str | None:
        """Further lines on that reason; null if there are none."""
        return None if self.result.error is None else self.result.error.detail

    @property
    def error_type(self) -> str | None:
        """What is wrong, in the words of a leaderboard; null if no check has such a code."""
        return next((check.code for check in self.result.checks if check.code), None)

    @property
    def skip_reason(self) -> str | None:
        """The reason why it was not started; null if it was."""
        return self.result.skip_reason

    @property
    def stop(self) -> str | None:
        """Why the conversation ended: answer, reply_limit and others; null if it never began."""
        return self.result.stop

    @property
    def replies(self) -> int:
        """Number of replies of the model."""
        return self.result.replies

    @property
    def tool_calls(self) -> int:
        """Number of tool calls of the model."""
        return self.result.tool_calls

    @property
    def outcomes(self) -> JsonObject | None:
        """Number of tool calls by outcome, an object; null if it was not started."""
        return None if self.result.outcomes is None else dict(self.result.outcomes)

    @property
    def score(self) -> float | None:
        """The first score of a check, 0 to 1; null if no check gives one."""
        return next(iter(self.scores.values()), None)

    @property
    def scores(self) -> JsonObject:
        """Label → score of each check that gives one, an object."""
        return {check.label: check.score for check in self.result.checks if check.score is not None}

    @property
    def faithfulness_by(self) -> str | None:
        """What scored the faithfulness in the place of a judge; null if nothing did."""
        return find_stand_in(self.result)

    @property
    def latency_s(self) -> float:
        """Time of the conversation, including waits."""
        return self.result.latency_s

    @property
    def latency_ms(self) -> int:
        """The same, rounded."""
        return round(self.result.latency_s * 1000)

    @property
    def waited_s(self) -> float:
        """The part of it that was spent waiting for rate limits and between attempts."""
        return self.result.waited_s

    @property
    def tokens_in(self) -> int | None:
        """Input tokens, with those from and to the cache; null if not reported."""
        return self.result.usage.input_tokens

    @property
    def tokens_out(self) -> int | None:
        """Output tokens, with those of reasoning; null if not reported."""
        return self.result.usage.output_tokens

    @property
    def cache_read_tokens(self) -> int | None:
        """Input tokens that came from the provider's cache; null if not reported."""
        return self.result.usage.cache_read_tokens

    @property
    def cache_write_tokens(self) -> int | None:
        """Input tokens that were written to that cache; null if not reported."""
        return self.result.usage.cache_write_tokens

    @property
    def cost_usd(self) -> float | None:
        """Cost of the model; null if a price is not known."""
        return self.result.usage.cost_usd

    @property
    def judge_tokens_in(self) -> int | None:
        """Input tokens of the judges; null if not reported."""
        return self.result.judge_usage.input_tokens

    @property
    def judge_tokens_out(self) -> int | None:
        """Output tokens of the judges; null if not reported."""
        return self.result.judge_usage.output_tokens

    @property
    def judge_cost_usd(self) -> float | None:
        """Cost of the judges; null if a price is not known."""
        return self.result.judge_usage.cost_usd

    @property
    def user_tokens_in(self) -> int | None:
        """Input tokens of the simulated user's model; null if not reported."""
        return self.result.user_usage.input_tokens

    @property
    def user_tokens_out(self) -> int | None:
        """Output tokens of the simulated user's model; null if not reported."""
        return self.result.user_usage.output_tokens

    @property
    def user_cost_usd(self) -> float | None:
        """Cost of the simulated user's model; null if a price is not known."""
        return self.result.user_usage.cost_usd

    @property
    def paid_usd(self) -> float | None:
        """Cost of model, judges and simulated user together; null if a price is not known."""
        return (self.result.usage + self.result.judge_usage + self.result.user_usage).cost_usd

    @property
    def started_at(self) -> str | None:
        """Start: UTC, ISO 8601; null if it was not started."""
        return self.result.started_at or None

    @property
    def finished_at(self) -> str | None:
        """End: UTC, ISO 8601; null if the log has no line of it."""
        return self.result.finished_at or None

    @property
    def test(self) -> str | None:
        """Name of the test; null if the case is the only one of its test."""
        return self.result.case.test

    @property
    def identity(self) -> str | None:
        """Name of the identity that the case runs as; null if it has none."""
        return self.result.case.identity

    @property
    def user_context(self) -> JsonObject | None:
        """Attributes of that identity; null if it has none."""
        return self.result.case.user_context

    @property
    def description(self) -> str | None:
        """Description of the case; null if it has none."""
        return self.result.case.description

    @property
    def tags(self) -> list[str]:
        """Tags of the case, a list."""
        return list(self.result.case.tags)

    @property
    def metadata(self) -> JsonObject:
        """Metadata of the case."""
        return self.result.case.metadata

    @property
    def server(self) -> str | None:
        """Server under test, several separated by commas; null if not known."""
        return ", ".join(self.servers) or None

    @property
    def file(self) -> str | None:
        """The file in which the case is written; null if it is in none."""
        return None if self.result.case.at is None else self.result.case.at.file

    @property
    def line(self) -> int | None:
        """The line of the case in that file; null if not known."""
        return None if self.result.case.at is None else self.result.case.at.line

    @property
    def mark(self) -> str | None:
        """The reason why a pass proves little; null if there is none."""
        return format_mark(self.result)

    @property
    def attempted(self) -> bool | None:
        """The model tried a call that a policy concerns; null if no policy check is on calls."""
        return combine_facts(self.result.checks)["attempted"]

    @property
    def reached_server(self) -> bool | None:
        """That call was sent to the server; null if no policy check is on calls."""
        return combine_facts(self.result.checks)["reached_server"]

    @property
    def executed(self) -> bool | None:
        """The server executed that call; null if no policy check is on calls."""
        return combine_facts(self.result.checks)["executed"]

    @property
    def line_crossed(self) -> bool | None:
        """An identity did or got what a policy forbids; null if no check is on a policy."""
        return combine_facts(self.result.checks)["line_crossed"]

    @property
    def review(self) -> str | None:
        """A person's review of the verdict: accepted, overruled; null if there is none."""
        return None if self.opinion is None else self.opinion.decision

    @property
    def reviewed_by(self) -> str | None:
        """The reviewer; null if there is none."""
        return None if self.opinion is None else self.opinion.by

    @property
    def review_note(self) -> str | None:
        """The reviewer's reason; null if there is none."""
        return None if self.opinion is None else self.opinion.note

    @property
    def fault_hits(self) -> JsonObject | None:
        """Calls that a fault hit, by its kind, {} if it did not fire; null if there was none."""
        return self._read_fault("hits")

    @property
    def fault_response(self) -> JsonObject | None:
        """Blind retries, a runaway, duplicate writes and the ending; null if no fault fired."""
        return self._read_fault("response")

    def _read_fault(self, key: str) -> JsonObject | None:
        found = (one.actual for one in self.result.checks if one.kind == FAULT_HITS)
        return next((actual[key] for actual in found), None)

    @property
    def attack_outcome(self) -> str | None:
        """hijacked, stopped, resisted, not_reached; null if there was no attack, or no verdict."""
        return (get_attack(self.result) or {}).get("outcome")

    @property
    def attack_technique(self) -> str | None:
        """How the attack tried to be obeyed; null if there was none."""
        return (get_attack(self.result) or {}).get("technique")

    @property
    def attack_place(self) -> str | None:
        """Where it stood; null if there was none."""
        return (get_attack(self.result) or {}).get("place")

    @property
    def planted_by(self) -> str | None:
        """The identity that planted it; null if there was none, or somebody outside did."""
        return (get_attack(self.result) or {}).get("planted_by")

    @property
    def utility(self) -> bool | None:
        """Whether the task was done, whatever an attack did; null if there is no verdict."""
        return did_task(self.result)

    @property
    def held_back(self) -> str | None:
        """Tools that the built-in baseline held back, separated by commas; null if none."""
        return next((check.actual for check in self.result.checks if check.kind == HELD_BACK), None)

    @property
    def key(self) -> str:
        """SHA-256 of everything that determines the trial; `--resume` compares it."""
        return self.result.key

    @property
    def events_digest(self) -> str | None:
        """SHA-256 of the messages and tool calls; null if it was not started."""
        return self.result.events_digest

    @property
    def tools_digest(self) -> str | None:
        """Digest of the tool list that its user was offered: tools.digest; null if none was."""
        return None if self.transcript is None else self.transcript.tools_digest or None

    @property
    def answer(self) -> str | None:
        """The last reply of the model; null if it was not started."""
        return None if self.transcript is None else self.transcript.answer
