"""Mutants: tool lists with one planted defect each, to test whether a suite detects it.

::

    mutant.py             what a mutant is
    tool_mutants.py       defects in the descriptions and the names of tools
    parameter_mutants.py  defects in parameters: text, unit, enum, example, default
    planting.py           the operators, and a fair choice of their mutants
    kill_score.py         which mutants a suite notices, and the test that it lacks for another
"""
