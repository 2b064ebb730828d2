"""The commands, one module an area. Each is thin: arguments in, one call, text or JSON out."""
