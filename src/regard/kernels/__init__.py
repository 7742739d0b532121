"""Faster versions of functions that ``nn`` and ``text`` define; same results, never needed."""
