"""The embedded form: every service, Postgres and Valkey as child processes of one supervisor."""
