"""What Read shows: a window of a text, or what is in a document."""
