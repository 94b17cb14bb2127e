"""Study: do assertive texts attract calls? A tool is listed among neutral copies of itself.

In the field, assertive wording won 7.5 times the calls without being any better (arXiv 2505.18135).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import lru_cache

from harness.base import make_one_line
from harness.descriptions.workbench.analysis.contests import (
    BRAG,
    RIVALS,
    Contest,
    ContestPick,
    Kind,
    Steering,
    analyze_steering,
    assertive_sentences,
    remove_bragging,
)
from harness.descriptions.workbench.arms import Arm
from harness.descriptions.workbench.measurements import FirstCall, ModelMeasurements
from harness.descriptions.workbench.study import (
    Finding,
    Study,
    StudyContext,
    StudyResult,
    tests_by_tool,
)
from harness.reports import format_percent
from harness.runner import VariantViews, split_sentences
from harness.types import COPY_LETTERS, Decoys, Tool, ToolEdit, ToolList, Variant, dataclass

_MOST_SEEDS = 500
"""Number of seeds that are tried; a position that none of them gives is skipped."""
_MOST_NAMED = 12
"""Number of left-out tools that are named; the facts have all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Race:
    """One list with a tool among its copies."""

    tool: str
    kind: Kind
    names: tuple[str, ...]
    own: str
    variant: Variant
    cases: frozenset[str]


def _build_arms(bench: StudyContext) -> Sequence[Arm]:
    return [Arm(variant=race.variant, cases=race.cases) for race in _build_races(bench)]


def _build_races(bench: StudyContext) -> Iterator[_Race]:
    listed, seed = tuple(tool.name for tool in bench.tools), bench.options.seed
    for tool, cases in _copyable_tools(bench)[: bench.options.steering_tools]:
        names = _free_names(tool.name, listed)[:RIVALS]
        plain = remove_bragging(tool.description)
        assertive = _is_assertive(tool)
        # What sets the tool apart: its description, and that of the copies.
        texts: dict[Kind, tuple[str | None, str | None]] = {
            "equal": (None, None),
            "brag": (f"{plain} {BRAG}".strip(), plain if assertive else None),
        }
        if assertive:
            texts["own"] = None, plain
        # Names and positions take turns together, so that each tool has every one of them once.
        for turn, name in enumerate(names):
            order = _find_seed(listed, tool.name, name, (turn + seed) % RIVALS, seed)
            for kind, (description, copied) in texts.items():
                variant = Variant(
                    name=f"{tool.name}: {kind} {turn + 1}",
                    tools={tool.name: ToolEdit(name=name, description=description)},
                    order=order,
                    add=(_build_copies(tool.name, copied),),
                )
                yield _Race(
                    tool=tool.name, kind=kind, names=names, own=name, cases=cases, variant=variant
                )


def _copyable_tools(bench: StudyContext) -> list[tuple[Tool, frozenset[str]]]:
    """Return the tools that can be copied, with the tests that want them.

    Tools that praise themselves come first, then those that most tests expect.
    """
    listed = tuple(tool.name for tool in bench.tools)
    found = [
        (tool, cases)
        for tool, cases in tests_by_tool(bench)
        if len(_free_names(tool.name, listed)) >= RIVALS
    ]
    return sorted(found, key=lambda one: (not _is_assertive(one[0]), -len(one[1])))


def _free_names(tool: str, listed: Sequence[str]) -> tuple[str, ...]:
    names = (f"{tool}_{letter}" for letter in COPY_LETTERS)
    return tuple(name for name in names if name not in listed)


def _is_assertive(tool: Tool) -> bool:
    return remove_bragging(tool.description) != tool.description.strip()


def _build_copies(tool: str, description: str | None = None) -> Decoys:
    return Decoys(source=f"copy:{tool}", count=RIVALS - 1, description=description)


# A search through hundreds of orders, which every text and every reading asks for again.
@lru_cache(maxsize=4096)
def _find_seed(listed: tuple[str, ...], tool: str, name: str, place: int, seed: int) -> int:
    """Return the seed of an order in which ``tool`` has the position ``place`` among its copies.

    If no seed gives it, return ``seed``: the log has the real position.
    """
    # Only the names decide the order.
    bare = ToolList(tools=tuple(Tool(name=each, input_schema={}) for each in listed))
    for candidate in range(seed * _MOST_SEEDS, (seed + 1) * _MOST_SEEDS):
        variant = Variant(
            name=name,
            tools={tool: ToolEdit(name=name)},
            order=candidate,
            add=(_build_copies(tool),),
        )
        view = VariantViews().get_view(variant, bare)
        rivals = [tool.name for tool in view.tools.tools if tool.name in {name, *view.decoys}]
        if rivals.index(name) == place:
            return candidate
    return seed


def _analyze_results(bench: StudyContext, measured: ModelMeasurements) -> StudyResult:
    races = list(_build_races(bench))
    if not races:
        return StudyResult(headline="No test wants exactly one tool called first.")
    picks = [
        _classify_call(race, call) for race in races for call in measured.first_calls(race.variant)
    ]
    found = analyze_steering(picks, measured.tests)
    brag = next((contest for contest in found.contests if contest.kind == "brag"), None)
    if brag is None:
        return StudyResult(headline="No copy has been called yet.")
    if brag.is_winning:
        verdict = "The model is steered by praise"
    elif brag.is_losing:
        verdict = "Praise loses calls with this model"
    else:
        verdict = "That the model is steered by praise is not shown"
    left_out = [tool.name for tool, _ in _copyable_tools(bench)[bench.options.steering_tools :]]
    return StudyResult(
        headline=f"{verdict}: of {RIVALS} equal tools the one that brags is called first "
        f"{_format_contest(brag)}.",
        lines=tuple(_format_lines(bench, found)),
        findings=tuple(_build_findings(bench, found)),
        facts={
            "rivals": RIVALS,
            "tools_left_out": left_out,
            "brag": BRAG,
            "contests": [
                {**asdict(contest), "times": contest.call_ratio, "steered": contest.is_winning}
                for contest in found.contests
            ],
            "equal_texts": {"by_place": _position_shares(found), "by_name": dict(found.names)},
        },
        notes=tuple(_build_notes(bench, races)),
    )


def _classify_call(race: _Race, call: FirstCall) -> ContestPick:
    # The server's own tool is logged by the server's name, a copy by the name that was shown.
    shown = race.own if call.tool == race.tool else call.tool
    # A copy is a decoy; another tool under such a name is none.
    rival = shown in race.names and (call.decoy or shown == race.own)
    order = [name for name in call.shown if name in race.names]
    return ContestPick(
        case=call.case,
        tool=race.tool,
        kind=race.kind,
        chosen=shown == race.own if rival else None,
        place=order.index(shown) if rival and shown in order else None,
        name=shown if rival else None,
    )


def _format_contest(contest: Contest) -> str:
    share, (low, high) = contest.share, contest.share.interval
    return (
        f"in {format_percent(share.share)} ({format_percent(low)} to {format_percent(high)} over "
        f"{share.cases} tests; {format_percent(share.even)} would be even)"
    )


_WORDS: dict[Kind, str] = {"equal": "equal texts", "brag": "with the brag", "own": "own text"}


def _format_lines(bench: StudyContext, found: Steering) -> Iterator[str]:
    for contest in found.contests:
        whose = "" if contest.tool is None else f" of {contest.tool}"
        times = contest.call_ratio
        often = "" if times is None else f", {times:.1f} times as often as each copy"
        yield f"{_WORDS[contest.kind]}{whose}: called first {_format_contest(contest)}{often}"
        if contest.elsewhere:
            yield f"  in {contest.elsewhere} trials neither it nor a copy was called first"
        if contest.tool is not None:
            yield f"  it says: {_assertive_text(bench, contest.tool)}"
    if shares := [
        f"{format_percent(share)} the {_ORDINALS[place]}"
        for place, share in _position_shares(found)
    ]:
        yield f"with equal texts the calls fall on places in the list: {', '.join(shares)}"


_ORDINALS = ("first", "second", "third", "fourth")


def _position_shares(found: Steering) -> list[tuple[int, float]]:
    total = sum(found.places.values())
    return [(place, found.places.get(place, 0) / total) for place in range(RIVALS) if total]


def _assertive_text(bench: StudyContext, tool: str) -> str:
    listed = bench.find_tool(tool)
    assert listed is not None, "its race was run"
    parts = split_sentences(listed.description)
    return " ".join(parts[n - 1] for n in assertive_sentences(listed.description))


def _build_findings(bench: StudyContext, found: Steering) -> Iterator[Finding]:
    for contest in found.contests:
        if contest.kind == "equal" or contest.share.advantage <= 0:
            continue
        won = f"called first {_format_contest(contest)}"
        yield Finding(
            text=f"Praise wins calls: of {RIVALS} equal tools the one that brags is {won}."
            if contest.tool is None
            else f"{contest.tool} wins calls by praise and not by what it does: it is {won} for "
            f"saying: {_assertive_text(bench, contest.tool)}",
            weight=100 * contest.share.advantage,
            certain=contest.is_winning,
            tool=contest.tool,
        )


def _build_notes(bench: StudyContext, races: Sequence[_Race]) -> Iterator[str]:
    cases = {name for race in races for name in race.cases}
    beyond = _copyable_tools(bench)[bench.options.steering_tools :]
    left = len(bench.suite.cases) - len(cases) - sum(len(one) for _, one in beyond)
    if beyond:
        most, tools = bench.options.steering_tools, [make_one_line(tool.name) for tool, _ in beyond]
        more = f" and {len(tools) - _MOST_NAMED} more" if len(tools) > _MOST_NAMED else ""
        yield (
            f"{most} of {most + len(tools)} tools were tried, first those that praise themselves, "
            f"then those that most tests want. Left out: {', '.join(tools[:_MOST_NAMED])}{more}; "
            f"--steering-tools {most + len(tools)} tries all."
        )
    if left:
        yield f"{left} tests want no tool or several first, and are left out."
    yield (
        "Copies are never sent and satisfy no check, so tests fail in this study: only the first "
        "call is counted. Each tool has every name and every place among its copies once."
    )


STUDY = Study(
    name="steering",
    place=80,
    question="Does a text win by bragging?",
    arms=_build_arms,
    read=_analyze_results,
)
