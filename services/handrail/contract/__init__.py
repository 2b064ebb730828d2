"""Wire models, error catalogue, capability-token verification and settings: what every room may import."""
