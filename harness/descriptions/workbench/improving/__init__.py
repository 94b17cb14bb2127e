"""Better descriptions for a server's tools: proposed from some cases, proven on others."""
