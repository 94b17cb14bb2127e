"""The library's desk with better words, and one tool under another name.

docs/workbench.md compares it with library.py.
"""

from __future__ import annotations

from library import HOURS, READS, WRITES, fetch, info, process, update
from mcp.server.mcpserver import MCPServer

server = MCPServer("library")
SAID = {
    fetch: "Search the catalogue for books, novels and other titles, by title or by author.",
    info: "List what a member has borrowed and still has on loan.",
    process: "Reserve a book for a member, that is put it on hold. To keep a borrowed book longer, "
    "use update.",
    update: "Renew a loan, so that its due date is extended by three weeks. To reserve a book, use "
    "process.",
}
for tool, words in SAID.items():
    marks = READS if tool in (fetch, info) else WRITES
    server.tool(description=words, annotations=marks)(tool)


@server.tool(annotations=READS)
def opening_hours(branch: str) -> str:
    """Tell at what hours a branch of the library is open, when it opens and closes."""
    return HOURS[branch]


if __name__ == "__main__":
    server.run()
