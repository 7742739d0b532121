"""``python -m regard`` is the command ``regard``."""

from .cli.main import main

main()
