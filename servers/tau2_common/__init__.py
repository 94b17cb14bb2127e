"""What the two servers of tau2-bench's domains share: the database, the calculator, the server around the tools."""
