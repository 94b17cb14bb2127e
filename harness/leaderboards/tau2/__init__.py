"""tau2-bench: a customer of an airline or a shop, an agent with tools and a policy, and a database.

| module     | job                                                                  |
|------------|----------------------------------------------------------------------|
| `data`     | where the fetched data lie                                           |
| `tasks`    | the leaderboard's tasks as they stand in its files                     |
| `reward`   | the rules: what was said, what was called, what became of the data   |
| `recorded` | result files of tau2-bench                                           |
| `checks`   | the rules as checks of a case                                        |
| `suite`    | tasks as cases: ``harness evals tau2:airline``                       |
| `source`   | ``harness fetch tau2``                                               |

The database is compared by the check ``end_state``: the servers of the two domains
(`servers.airline`, `servers.retail`) have a resource that is its digest, and a tool, listed for
nobody, that sets it back.
"""
