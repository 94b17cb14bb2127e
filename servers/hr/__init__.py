"""A personnel database behind policies: who may see whose salary and leave, or change a salary.

All employees are invented and the same at every start; changes last as long as the process. Rules
stand in ``policies.yml``, one readable file. One employee's profile holds a text that tries to give
orders to whatever model reads it.
"""
