"""From plan to log: trials, concurrency, deadlines, budgets, interrupts, resume."""
