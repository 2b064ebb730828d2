"""Helpers that more than one test directory uses. The fixtures themselves are in tests/conftest.py."""
