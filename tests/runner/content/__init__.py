"""Tests of content beside the prompt."""
