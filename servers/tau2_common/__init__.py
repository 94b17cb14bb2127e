"""The common parts of tau2-bench's two servers: database, calculator, server around the tools."""
