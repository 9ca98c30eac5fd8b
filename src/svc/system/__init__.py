"""What a system has and another lacks or does otherwise: files, locks, signals, processes.

Begin with `files`. Any room may import it; it imports the errors alone. Linux is where this is
tested. macOS has all that is asked for; where Windows lacks something, the modules fall back on
what it has.

Elsewhere a few ask which system runs, for what is only theirs: `svc.paths` for its folders,
`keys.keyrings.choice` for the keyrings there are, `listen.tunnels` for names of programs, and
`listen.inbox.quick` for what a sync is worth.

Promises, such as "promise R1", stand by their numbers in tests/PROMISES.md.
"""

from typing import Final

PORT_MAX: Final = 65535
