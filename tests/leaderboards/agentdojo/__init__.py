"""Tests of AgentDojo."""
