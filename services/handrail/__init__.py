"""Handrail: safe hands on a machine for AI assistants."""

__version__ = "0.1.0"
