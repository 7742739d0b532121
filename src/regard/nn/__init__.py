"""Tensors to tensors: parts that know nothing of texts, files or labels."""
