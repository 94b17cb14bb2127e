"""The visible answer: whatever marks the thinking, only what a reader sees is left."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.types.thinking import divide_thinking, extract_thinking, is_visible
from tests.often import often


class Marking(NamedTuple):
    before: str
    after: str
    end: str = ""


TAGS = (
    "think", "thinking", "Thought", "REASONING", "reflection", "seed:think", "antml:thinking",
    "scratchpad", "inner_monologue", "scratch_pad",
    "internal_reasoning", "thinking-process", "reason", "longcat_think", "chain_of_thought",
    "SCRATCHPAD_REASONING", "self_reflection",
)  # fmt: skip
PROMPTED = (
    *(Marking("", f"</{tag}>") for tag in TAGS),
    Marking("", "[/THINK]"),
    Marking("", "◁/think▷"),
    Marking("", "<|end_of_thought|>"),
    Marking("", "<|END_THINKING|>"),
)
"""The mark that opens the thinking stands in the prompt, as in the templates of many models."""
OPENED = (
    *(Marking(f"<{tag}>", f"</{tag}>") for tag in TAGS),
    Marking('<Think effort="high">', "</tHINK>"),
    Marking("[THINK]", "[/THINK]"),
    Marking("◁think▷", "◁/think▷"),
    Marking("<|begin_of_thought|>", "<|end_of_thought|>"),
    Marking("<|START_THINKING|>", "<|END_THINKING|>"),
    Marking("<|inner_prefix|>", "<|inner_suffix|>"),
    Marking("<unused94>thought\n", "<unused95>"),
    Marking("<|channel>thought\n", "<channel|>"),
    Marking("<|channel|>analysis<|message|>", "<|end|>"),
    Marking("<|think|>", "<|end|>"),
    Marking("<|im_start|>think\n", "<|im_start|>answer\n"),
)
WRAPPED = (
    Marking("<think>", "</think>\n<answer>\n", "\n</answer>"),
    Marking(
        "<|begin_of_thought|>",
        "<|end_of_thought|><|begin_of_solution|>",
        "<|end_of_solution|>",
    ),
    Marking("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>", "<|END_RESPONSE|>"),
    Marking(
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
        "<|return|>",
    ),
    Marking(
        "<|channel|>analysis<|message|>",
        "<|end|><|channel|>final <|constrain|>json<|message|>",
        "<|return|>",
    ),
    Marking("<|begin|>assistant<|think|>", "<|end|><|begin|>assistant<|content|>", "<|end|>"),
    Marking("<think>", "</think><|begin_of_box|>", "<|end_of_box|><｜end▁of▁sentence｜>"),
    Marking("<think>", "</think>\n<answer>\n"),  # cut at the token limit
    Marking("<think>", "\n<answer>", "</answer>"),
    Marking("<think>", "</think><solution>", "</solution>"),
    Marking("[thinking]", "[/thinking]"),
    Marking("<details>\n<summary>💭 Thought for 5 s</summary>", "</details>"),
    Marking("analysis", "assistantfinal"),
    Marking("Here is my thought process:", "Here is my response:"),
    Marking("Here's my thought process: ", " Here's my response: "),
    Marking("Thinking...\n", "\n...done thinking.\n\n"),
    Marking("```thinking\n", "\n```\n"),
    Marking('<details type="reasoning" done="true">', "</details>"),
)
MARKINGS = (*OPENED, *PROMPTED, *WRAPPED)

WORDS = st.text(st.sampled_from("abcXYZ 0123456789.,!?\n*_()’é中"), min_size=1, max_size=40).filter(
    str.strip
)
TALK = st.sampled_from(
    [
        "Use the <think> tag to think first.",
        "It ends with the </think> tag.",
        "Write `<think>Oslo</think>` before the answer.",
        'The mark "<think>" comes first.',
        "Between <think> and </think> stands what it thought.",
        "See [THINK] tokens in the guide.",
        "```xml\n<thinking>\nOslo\n</thinking>\n```",
        "I think the reasoning is sound.",
        "Here is my thought process: I looked it up.",
        "Analysis of the assistant: final.",
        "a < b and c > d, <thing>x</thing>",
        "In `</think>` it ends.",
        "What does </think> mean? It ends the thinking.",
        "Ticket 81: remove stray </think> from replies. Status: open.",
        "It looks for </think>.",
        "Its token <|START_THINKING|> begins it, and <|END_THINKING|> ends it.",
        "- <think>: opens it\n- </think>: closes it",
        "| tag | use |\n|---|---|\n| <think> | opens |\n| </think> | closes |",
        "Did you mean <think>?\n\nIt is closed with </think>.",
        "~~~\n<think>\nOslo\n</think>\n~~~",
        "Write so:\n\n    <think>\n    Oslo\n    </think>\n\nThen answer.",
        "<think> is no element of HTML.",
        "[THINK] is a token.",
        "Between <|im_start|> and <|im_end|> stands a turn.",
    ]
)
ANNOUNCED = "The file has:\n<reasoning>\n  <step>1</step>\n</reasoning>"


@given(
    marking=st.sampled_from(MARKINGS),
    thought=WORDS,
    answer=WORDS,
    space=st.sampled_from(["", "\n", " \n\n"]),
)
def test_of_a_marked_reply_the_answer_is_left(
    marking: Marking, thought: str, answer: str, space: str
) -> None:
    thought = thought.rstrip(" ") or "."  # `in </think> it ends` is a sentence about the mark
    divided = divide_thinking(
        f"{space}{marking.before}{thought}{marking.after}{space}{answer}{marking.end}"
    )
    assert divided.visible == answer.strip()
    assert divided.thinking == thought.strip()


@given(marking=st.sampled_from(PROMPTED), thought=WORDS, answer=WORDS)
def test_a_block_of_code_that_thinking_leaves_open_hides_no_end(
    marking: Marking, thought: str, answer: str
) -> None:
    text = f"\ufeff{thought.rstrip()} ```py\nx{marking.after}\n{answer}\n```py\ny\n```"
    assert divide_thinking(text).visible == f"{answer}\n```py\ny\n```".strip()


@given(marking=st.sampled_from(OPENED), thought=WORDS)
def test_what_is_never_closed_is_all_thinking(marking: Marking, thought: str) -> None:
    assert divide_thinking(marking.before + thought) == ("", thought.strip())


@given(tag=st.sampled_from(TAGS), first=WORDS, thought=WORDS)
def test_a_mark_alone_on_its_line_that_is_never_closed_begins_thinking(
    tag: str, first: str, thought: str
) -> None:
    text = f"{first}.\n\n<{tag}>\n{thought}"
    assert divide_thinking(text) == (f"{first}.".strip(), thought.strip())


@given(marking=st.sampled_from(OPENED), thoughts=st.lists(WORDS, min_size=2, max_size=4))
def test_blocks_between_texts_and_blocks_in_blocks_are_thinking(
    marking: Marking, thoughts: list[str]
) -> None:
    def block(text: str) -> str:
        return f"{marking.before}{text}{marking.after}"

    text = "".join(f"{block(thought)}seen {number}" for number, thought in enumerate(thoughts))
    assert (
        divide_thinking(text).visible.split()
        == " ".join(f"seen {n}" for n in range(len(thoughts))).split()
    )
    if "analysis" not in marking.before:  # a channel holds no other
        assert divide_thinking(f"{block(block(thoughts[0]) + thoughts[1])}seen").visible == "seen"


@given(marking=st.sampled_from(OPENED), first=WORDS, thought=WORDS, last=WORDS)
def test_a_block_after_a_sentence_is_thinking(
    marking: Marking, first: str, thought: str, last: str
) -> None:
    text = f"{first}. {marking.before}{thought}{marking.after}{last}"
    assert divide_thinking(text).thinking == thought.strip()


@given(text=st.one_of(WORDS, TALK, st.lists(TALK).map("\n".join), st.just(ANNOUNCED)))
def test_text_about_thinking_is_unchanged(text: str) -> None:
    assert divide_thinking(text) == (text, "")


CLOSED = [one for one in (*OPENED, *WRAPPED) if one.after != "\n<answer>"]
"""Those that close the thinking: where nothing does, the next closing mark ends it, in a text about
thinking, too."""


@given(marking=st.sampled_from(CLOSED), thought=WORDS, talk=TALK)
def test_text_about_thinking_after_thinking_stays(
    marking: Marking, thought: str, talk: str
) -> None:
    assert (
        divide_thinking(f"{marking.before}{thought}{marking.after}\n{talk}{marking.end}").visible
        == talk
    )


@pytest.mark.parametrize(
    "many",
    often(
        [
            "<think>",
            "<|im_end|>\n",
            "\n<think>",
            "</think>",
            "`",
            "◁think▷",
            "<|channel|>",
            "\n```",
        ],
        2,
    ),
)
def test_many_marks_take_no_more_than_their_length(many: str) -> None:
    divide_thinking("x" + many * 20_000)


PARTS = (
    {"type": "thinking", "thinking": "Oslo"},
    {"type": "thinking", "thinking": [{"type": "text", "text": "Oslo"}]},
    {"type": "reasoning", "text": "Oslo"},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Oslo"}], "content": []},
    {"type": "text", "text": "Oslo", "thought": True},
    {"type": "unheard_of", "text": "Oslo"},
)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_another_type_than_text_is_not_visible(part: dict[str, object]) -> None:
    assert not is_visible(part)
    assert extract_thinking({}, [part]) == "Oslo"


@pytest.mark.parametrize(
    "field", ["reasoning_content", "reasoning", "thinking", "reasoning_details", "thinking_blocks"]
)
@pytest.mark.parametrize("value", ["Oslo", [{"type": "reasoning.text", "text": "Oslo"}]])
def test_a_field_for_thinking_is_read(field: str, value: object) -> None:
    assert extract_thinking({field: value, "content": "text"}) == "Oslo"
