"""Better words for a server's tools: proposed from some cases, and proven on others."""
