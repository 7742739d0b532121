"""Hostile cases by the thousand: the command gives success or one line, and loses nothing."""
