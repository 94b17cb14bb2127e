"""Before a token is spent: is every tool that a plan names there, and can every caller be told to its server?"""
