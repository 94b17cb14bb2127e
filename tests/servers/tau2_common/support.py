"""What the tools of a domain say, without a server around them."""

from typing import Any

from servers.tau2_common.serving import Tools, answer


class Asked:
    """The tools, and what they say."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    def ask(self, tool: str, **arguments: Any) -> tuple[str, bool]:
        return answer(self.tools, tool, arguments)

    def good(self, tool: str, **arguments: Any) -> str:
        text, is_error = self.ask(tool, **arguments)
        assert not is_error, text
        return text

    def refusal(self, tool: str, **arguments: Any) -> str:
        """Return why a call fails; it has to leave everything as it was."""
        before = self.tools.store.digest()
        text, is_error = self.ask(tool, **arguments)
        assert is_error, text
        assert text.startswith("Error: ")
        assert self.tools.store.digest() == before
        return text.removeprefix("Error: ")
