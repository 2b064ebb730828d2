"""All SQL: named statements, repositories by domain, the tenant-bound session, migrations."""
