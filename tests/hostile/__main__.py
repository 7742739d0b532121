"""``python -m tests.hostile [FAMILY | FAMILY/CASE ...]``: run cases by name, say which give way."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hostile.running import main

main(sys.argv[1:])
