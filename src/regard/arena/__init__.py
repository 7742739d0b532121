"""Models of many kinds trained on the same documents, and compared."""
