"""The `handrail` command: embedded supervisor and thin HTTP client."""
