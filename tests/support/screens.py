"""A terminal to write to, for tests of what is shown on one."""

import io
import re


class Screen(io.StringIO):
    """A terminal that remembers everything."""

    def isatty(self):
        return True

    def plain(self):
        """What was shown, without colours and movements."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.getvalue())
