"""Why a conversation has no call: a question back, no suitable tool, a limit, or memory.

All except the limit is recognised by its English wording.
"""

from __future__ import annotations

import re

from harness.judging.checks.explaining.transcript_lines import describe_ending
from harness.judging.matching.texts import FoldedText, fold_as_read
from harness.types import AssistantMessage, Reply, Transcript

_ASKS = re.compile(
    r"\b(?:(?:could|can|would|will) you(?: please| kindly)?|please)"
    r" (?:tell|give|provide|share|specify|clarify|confirm|let me know)\b"
    r"|\b(?:i|we)(?:'ll| will| would|'d)? (?:still |also |first )?(?:need|require) "
    r"(?:to know|more|some|the following|your|you to|a few|the [\w -]{1,60} (?:to|before|in "
    r"order))\b"
    r"|\blet me know (?:which|what|where|when|who|the|your)\b"
    r"|\b(?:do|did) you mean\b"
    # A question at the very end counts, unless it only offers help.
    r"|\b(?:which|what|whose|where|when|who|how (?:many|much|long|often))\b"
    r"(?![^.?!]{0,160}\b(?:else|help|assist)\b)[^.?!]{1,160}\?\W*\Z"
)
_READ = 2_000  # characters of the answer, from its end
_NO_TOOL = re.compile(
    r"\b(?:could not|couldn't|cannot|can't|unable to|(?:do|did) not have|don't have|have no|there "
    r"(?:is|are) no)\b"
    r"[^.?!]{0,60}\b(?:tools?|functions?)\b"
)

PARSER_IS_OFF = (
    "The endpoint's parser of tool calls seems to be off: for vLLM, start it with "
    "--enable-auto-tool-choice and the --tool-call-parser of the model; for llama.cpp, with "
    "--jinja; elsewhere, with the model's own template for tools."
)
"""What to do where calls arrive as text: said once for a run."""


def find_stated_limit(transcript: Transcript) -> str | None:
    """Return what the model says it cannot do at all, in its last reply (`Reply.beyond`)."""
    last = _last_reply(transcript)
    return None if last is None else last.beyond


def _last_reply(transcript: Transcript) -> Reply | None:
    said = (
        message.reply
        for message in reversed(transcript.messages)
        if isinstance(message, AssistantMessage)
    )
    return next(said, None)


def explain_no_calls(transcript: Transcript) -> str:
    """Return the sentence for a conversation in which no tool was called."""
    if transcript.stop != "answer":
        return f"No tool was called; the conversation ended {describe_ending(transcript)}."
    # What is known comes before what the wording suggests.
    if (why := _known_reason(transcript)) is not None:
        return f"No tool was called: {why}."
    answer = _fold_answer(transcript)
    if _NO_TOOL.search(answer.folded):
        return "No tool was called: the model says that it has none for this."
    asked = _ASKS.search(answer.folded)
    if asked is not None:
        return (
            f"No tool was called: the model asked back: "
            f"“{answer.get_passage(*asked.span()).context}”"
        )
    return "No tool was called: the model answered from memory."


def _known_reason(transcript: Transcript) -> str | None:
    """Return the reason that harness knows, other than by the wording of the answer."""
    if held := transcript.held_back_tools:
        return (
            f"{' and '.join(held)} may change something, and this case neither expects nor orders "
            "that"
        )
    if transcript.written_call is not None:
        return (
            f"the model wrote a call of {transcript.written_call} as text, which the endpoint did "
            "not turn into a call"
        )
    beyond = find_stated_limit(transcript)
    return None if beyond is None else f"it is beyond this model, which cannot {beyond}"


def hint_without_calls(transcript: Transcript, otherwise: str) -> str:
    """Return the hint if no tool was called; ``otherwise`` is for an answer from memory."""
    if transcript.written_call is not None:
        return "The endpoint's parser of tool calls seems to be off: the summary says what to do."
    answer = _fold_answer(transcript)
    if transcript.held_back_tools:
        return (
            "If the case is about this change, order it in the prompt or expect the call in a "
            "check. If harness may make it anywhere in the suite, name the tool under "
            "'allow_writes:'."
        )
    beyond = find_stated_limit(transcript)
    if beyond is not None:
        return (
            f"The model cannot {beyond}: this is its own limit, which no description changes. Use "
            "another model, with --model."
        )
    if transcript.stop == "answer" and _NO_TOOL.search(answer.folded):
        return "Say in the description of the tool what it is for, in the words that people use."
    if transcript.stop == "answer" and _ASKS.search(answer.folded):
        return (
            "Say in the prompt what the model asks for. If it is there, or another tool knows it, "
            "say in the description of that parameter what it takes and where its value comes from."
        )
    return otherwise


def _fold_answer(transcript: Transcript) -> FoldedText:
    # From the end, where a question stands.
    return fold_as_read(transcript.answer[-_READ:])
