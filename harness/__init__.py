"""Can an LLM actually use your MCP server, correctly and safely?"""
