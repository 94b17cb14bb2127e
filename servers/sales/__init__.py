"""A fictional wholesaler's products, orders, customers, projects: questions of several steps.

Everything is invented and the same at every start; changes last as long as the process. There are
no policies here: whether a project is deleted when somebody only wants to see it depends on the
model alone.
"""
