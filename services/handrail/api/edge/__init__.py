"""What stands before every route: host, origin, authentication, body caps, rate limits."""
