"""The one spawn function and the jail around it. Mechanism only, no policy."""
