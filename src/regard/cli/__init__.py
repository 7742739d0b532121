"""The command ``regard``; one file a command."""
