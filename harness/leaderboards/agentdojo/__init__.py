"""AgentDojo: agents that are attacked by what their tools return, judged by its official code.

| module       | job                                                                    |
|--------------|------------------------------------------------------------------------|
| `source`     | ``harness fetch agentdojo``: the package in a private environment       |
| `official`   | runs there alone: the judge, and the MCP server of a suite              |
| `process`    | asks the judge                                                         |
| `recordings` | the runs that the benchmark logs                                       |
| `checks`     | both official verdicts as checks of a case                             |
| `suite`      | tasks and attacks as cases: ``harness evals agentdojo:banking``          |
"""
