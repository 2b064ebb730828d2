"""Safe primitives without policy: files beneath a root, strict JSON, bounded readers, ring log."""
