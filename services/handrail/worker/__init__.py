"""Celery tasks and the beat schedule."""
