"""Files to documents to batches."""
