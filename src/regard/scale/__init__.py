"""Training with many processes."""
