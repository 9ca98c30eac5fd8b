"""The differences between operating systems: files, locks, signals, processes.

Begin with `files`. Any room may import this one; it imports only the errors. It is tested on Linux.
macOS has all functions that are used; on Windows the modules use substitutes where it lacks one.

A few other modules depend on the system: `svc.paths` for folders, `keys.keyrings.choice` for
keyrings, `listen.tunnels` for names of programs, and `listen.inbox.sqlite` for the strength of a
sync.

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""

from typing import Final

PORT_MAX: Final = 65535
