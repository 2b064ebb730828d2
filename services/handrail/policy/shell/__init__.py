"""The shell's grammar: one text -> the commands that it would start, with their words, redirects and pipes."""
