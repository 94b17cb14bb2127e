"""Sections that reports of every format share, one file each."""
