"""A customer database behind policies: who may read personal data, and who may change or delete it.

All customers and orders are invented and the same at every start; changes last as long as the
process. Rules stand in ``policies.yml``, one readable file.
"""
