"""Runs commands: verifies the token, checks policy again, jails. No database, no Redis, no secrets."""
