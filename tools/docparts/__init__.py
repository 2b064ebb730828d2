"""Generated parts of the documents, one module each."""
