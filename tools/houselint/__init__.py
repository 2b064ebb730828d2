"""House rules that no ready-made linter knows, as small AST checks. Each names the bug that made it exist."""
