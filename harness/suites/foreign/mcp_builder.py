"""Evaluations of the skill mcp-builder: ``<evaluation>`` with pairs of a question and its answer.

Source: anthropics/skills, ``skills/mcp-builder/reference/evaluation.md`` and
``scripts/evaluation.py``. Its script takes what the model wrote last between ``<response>`` tags,
without spaces around it, and compares it with the answer letter by letter; it asks for these tags
in a system prompt, and so does this translation, in words of its own.
"""

from __future__ import annotations

import hashlib
from dataclasses import field
from pathlib import Path
from xml.parsers import expat

from harness.base import InvalidInput, Problem, format_path, read_bytes
from harness.suites.foreign.translation import StatedChecks, SuiteTranslator, TranslatedSuite
from harness.types import Location, dataclass

MAX_BYTES = 5_000_000
MAX_DEPTH = 100
TAG = "response"
"""The tag in which the model writes what is compared."""
SYSTEM_PROMPT = (
    "Answer the question with the help of the tools. End with the result alone, without any other "
    "words, between <response> and </response>: for a number only the number, for a name or an id "
    "exactly its text. If there is no result, end with <response>NOT_FOUND</response>."
)
"""What a translated suite tells the model."""
_KNOWN = frozenset({"question", "answer"})
_MEANT = "Only <evaluation>, <qa_pair>, <question> and <answer> are read, without attributes."


@dataclass(slots=True)
class _Element:
    name: str
    at: Location
    text: str = ""
    parts: list[_Element] = field(default_factory=list)


def translate_evaluation(path: Path, *, lenient: bool) -> TranslatedSuite:
    """Return the evaluation in ``path`` as a suite of ours.

    Raises:
        InvalidInput: with every problem of the file.
    """
    raw = read_bytes(path, max_bytes=MAX_BYTES, split_into="evaluations")
    file = format_path(path)
    translator = SuiteTranslator(
        file, hashlib.sha256(raw).hexdigest(), Path(file).stem or "evaluation", lenient=lenient
    )
    translator.content["system_prompt"] = SYSTEM_PROMPT
    root = _Parser(file, translator).parse(raw)
    if root.name == "qa_pair":
        translator.add_fault(root.at, "<qa_pair> stands alone.", "Put it into <evaluation>.")
    _read_group(translator, root)
    return translator.finish()


def _read_group(translator: SuiteTranslator, group: _Element) -> None:
    """Read the pairs in an element, at any depth, as the original does."""
    if group.text.strip():
        translator.lose(group.at, f"<{group.name}>: the text in it is no question.", _MEANT)
    for part in group.parts:
        if part.name == "qa_pair":
            _read_pair(translator, part)
        elif part.parts:
            _read_group(translator, part)
        else:
            translator.lose(part.at, f"<{part.name}> has no form here.", _MEANT)


def _read_pair(translator: SuiteTranslator, pair: _Element) -> None:
    before = len(translator.problems)
    # What was lost above the pair is not this pair's.
    translator.forget_losses()
    if pair.text.strip():
        translator.lose(pair.at, "<qa_pair>: the text in it is no part of the pair.", _MEANT)
    texts: dict[str, str] = {}
    for part in pair.parts:
        if part.name not in _KNOWN:
            translator.lose(part.at, f"<{part.name}> in <qa_pair> has no form here.", _MEANT)
        elif part.name in texts:
            translator.add_fault(part.at, f"<qa_pair> has a second <{part.name}>.", "Keep one.")
        else:
            if part.parts:
                inner = part.parts[0]
                message = f"<{part.name}>: an element <{inner.name}> stands in the text."
                meant = f"Write the text in <![CDATA[…]]>, or its < as &lt;. {_MEANT}"
                translator.add_fault(inner.at, message, meant)
            texts[part.name] = part.text.strip()
    for name in ("question", "answer"):
        if not texts.get(name):
            problem = f"<qa_pair> has no <{name}>, or an empty one."
            translator.add_fault(pair.at, problem, "The original never passes such a pair.")
    if len(translator.problems) == before:
        check = {"answer_verbatim": {"equals": texts["answer"], "tag": TAG}}
        number = len(translator.content["tests"]) + 1
        translator.add_test(
            pair.at, f"pair_{number}", texts["question"], [StatedChecks(pair.at, check)]
        )


class _Parser:
    """Builds the elements of a file; refuses what could define entities."""

    def __init__(self, file: str, translator: SuiteTranslator) -> None:
        self._file, self._translator = file, translator
        self._root: _Element | None = None
        self._open: list[_Element] = []
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = lambda _name: self._open.pop()
        self._parser.CharacterDataHandler = self._add_text
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype

    def parse(self, raw: bytes) -> _Element:
        try:
            self._parser.Parse(raw, True)  # noqa: FBT003 - the only way to say that it ends
        except (expat.ExpatError, ValueError, LookupError) as error:
            reason = str(error).partition(": line ")[0]
            message = f"the file is not valid XML: {reason}."
            raise InvalidInput([Problem(at=self._locate_parser(), message=message)]) from error
        assert self._root is not None  # XML without an element is an error of the parser
        return self._root

    def _locate_parser(self) -> Location:
        line = max(self._parser.CurrentLineNumber, 1)
        return Location(file=self._file, line=line, column=self._parser.CurrentColumnNumber + 1)

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        element = _Element(name, self._locate_parser())
        if len(self._open) >= MAX_DEPTH:
            message = f"nested deeper than {MAX_DEPTH} levels."
            raise InvalidInput([Problem(at=element.at, message=message)])
        for attribute in attributes:
            message = f"<{name}>: the attribute {attribute!r} has no form here."
            self._translator.lose(element.at, message, _MEANT)
        if self._open:
            self._open[-1].parts.append(element)
        else:
            self._root = element
        self._open.append(element)

    def _add_text(self, text: str) -> None:
        # Joined for each element: expat hands a text over in a few pieces only.
        self._open[-1].text += text

    def _refuse_doctype(self, *_parts: object) -> None:
        message = "the file has a <!DOCTYPE …>, which may define entities."
        problem = Problem(at=self._locate_parser(), message=message, meant="Remove it.")
        raise InvalidInput([problem])
