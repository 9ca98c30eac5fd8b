"""What a stream has to be for the program to take it for a terminal's."""

import io


class TtyStream(io.StringIO):
    """A stream that a person sees."""

    def fileno(self) -> int:
        return 1

    def isatty(self) -> bool:
        return True
