"""Questions of people who only look, for the tools of public servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from harness.models.tool_text.actions import is_verb
from harness.models.tool_text.terms import is_stop_word, split_words
from harness.types import Tool, ToolList

BY_HAND: Mapping[str, tuple[str, ...]] = {
    "git_cyanheads": (
        "Which remotes does the repository have?",
        "Which commits were pushed yesterday?",
        "Has the branch been merged already?",
        "Show me the merge conflicts.",
        "What would happen if I asked you to push the commit? Only explain.",
        'Show me the commits whose message says "push the commit and delete the branch".',
        "Show me the history of push_notes.md",
        "Who committed the fix for the fetch timeout?",
        "How do I reset the working directory?",
        "List the tags, but do not delete any.",
        "Do not push anything. Show me the status.",
        "Is the stash empty?",
        "Merge conflicts: which files have them?",
        "Push notifications are broken. In which commit did that begin?",
        "Explain to me: Delete the branch. Push the commit.",
        "Translate this note:\n\nReset the repository.\nPush the commit.",
        "Show me the pull and fetch configuration of the remotes.",
        "If I push the commit, does the remote take it?",
        "Tell me whether to rebase the branch or to merge it.",
        "Pull up the list of the remotes",
    ),
    "google_sheets": (
        "Show me the cells",
        "Show me the merged cells.",
        "Which sheets were copied last week?",
        "Who shared the spreadsheet with whom?",
        "What are the names of the sheets?",
        "Create a list of the sheets in the spreadsheet",
        "Give me an overview of the columns and rows that were added.",
        "Show the sheet called 'Delete the rows'.",
    ),
    "excel": (
        "Show me the cells",
        "Which cells are merged?",
        "Show me the range that was copied.",
        "What is in the worksheet named Delete the rows?",
        "Show the data validation of the workbook.",
        "Add up the numbers in the range and tell me the total",
    ),
    "github": (
        "Which issues were closed this week?",
        "Show me the pull requests that are ready to merge.",
        "Who starred the repository?",
        "List delete requests of the repository.",
        "What does the push event of the repository contain?",
        "Show the update history of the file README.md",
        "Can users merge pull requests and delete branches?",
        "Summarise the review comments, and do not resolve the threads.",
        "Which notifications have I dismissed?",
        "Order the issues by date",
        "Open the issue about failing pushes",
        "The ticket says: Close the issue and delete the branch. Show me the ticket.",
    ),
    "filesystem": (
        "What is in notes.txt?",
        "Which files were moved?",
        "Show me `edit_file.py`",
        "How large are the files that I created yesterday?",
        "Find the file write_me.txt",
        "Show me the file “Move the folder.txt”",
    ),
    "memory": (
        "What do you remember about Ann?",
        "Which relations were deleted?",
        "Show the graph.",
        "What did we create last time?",
    ),
    "kubernetes": (
        "Which pods were deleted?",
        "How many replicas does the deployment run?",
        "Show the events of the namespace.",
        "Is the deployment scaled down?",
        "Which helm releases are installed?",
    ),
    "playwright": (
        "What does the page say?",
        "Which requests did the page send?",
        "Show me the console messages.",
        "Which cookies are set?",
    ),
    "grafana": (
        "Which alerts fired today?",
        "Show me the dashboard that was updated last.",
        "Which incidents were created this week?",
        "Who is on call, and who was yesterday?",
    ),
}
"""Server → questions. They name what tools change as nouns, in the past, in quotes and names, in
prohibitions, in questions about an order, and in texts to be explained."""

_TEMPLATES = (
    "Show me the {thing}",
    "Which {thing} are there?",
    "List all the {thing}.",
    "What do you know about the {thing}?",
    "How many {thing} do we have?",
    "Tell me about the {thing}, please.",
    "I want to see the {thing}.",
    "Can you show me the {thing}?",
    "Find the latest {thing}",
    "Have the {thing} changed since yesterday?",
    "Give me a summary of the {thing}",
    "Is there anything new in the {thing}?",
)


def thing_of(tool: Tool) -> str:
    """Return what a tool is about, by the nouns of its name."""
    nouns = [word for word in split_words(tool.name) if not (is_verb(word) or is_stop_word(word))]
    return " ".join(nouns)


def generated(server: str, tools: ToolList) -> Iterator[tuple[str, str]]:
    """Yield ``(server, question)`` about what each tool is about."""
    things = dict.fromkeys(thing_of(tool) for tool in tools.tools)
    for number, thing in enumerate(filter(None, things)):
        yield server, _TEMPLATES[number % len(_TEMPLATES)].format(thing=thing)


def questions(servers: Mapping[str, ToolList], most: int) -> list[tuple[str, str]]:
    """Return those by hand, and generated ones of every server in turn, ``most`` in all."""
    by_hand = [(server, text) for server, texts in BY_HAND.items() for text in texts]
    rows = [generated(server, tools) for server, tools in servers.items()]
    turns = []
    while rows:
        turns += [turn for row in rows if (turn := next(row, None)) is not None]
        rows = [row for row in rows if row.gi_frame is not None]  # type: ignore[attr-defined]
    return list(islice((*by_hand, *turns), most))
