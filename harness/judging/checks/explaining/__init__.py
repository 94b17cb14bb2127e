"""Explanations of failed checks: what happened instead, and what usually helps."""
