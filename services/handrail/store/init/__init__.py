"""One-shot set-up of both forms: keys, passwords, roles, database, migrations, first user and workspace. Idempotent."""
