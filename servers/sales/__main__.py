"""``python -m servers.sales``: serve MCP on stdin and stdout until stdin ends."""

from .server import make_server

if __name__ == "__main__":
    make_server().run("stdio")
