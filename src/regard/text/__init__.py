"""Strings to spans and ids; nothing here imports torch."""
