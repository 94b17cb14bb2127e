"""Plan → trials → log: concurrency, deadlines, budgets, interrupts, resume."""
