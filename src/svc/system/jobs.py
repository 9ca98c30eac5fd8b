"""Windows's job objects: what a program has started ends with it, however it ends.

Elsewhere process groups do it, and on Linux `pdeathsig`.
"""

import ctypes
from ctypes import wintypes
from typing import Any, Final

_KILL_ON_CLOSE: Final = 0x2000  # JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
_EXTENDED_LIMITS: Final = 9  # JobObjectExtendedLimitInformation
_RIGHTS: Final = 0x0101  # PROCESS_SET_QUOTA and PROCESS_TERMINATE
_HANDLES: Final = ("CreateJobObjectW", "OpenProcess")


class JobLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION; only `flags` is set."""

    _fields_ = (
        ("times", ctypes.c_int64 * 2),
        ("flags", ctypes.c_uint32),
        ("working_set", ctypes.c_size_t * 2),
        ("processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("classes", ctypes.c_uint32 * 2),
        ("transfers", ctypes.c_uint64 * 6),
        ("memory", ctypes.c_size_t * 4),
    )


class JobObject:
    """A job with one process in it, and all that this one starts from then on.

    `kernel32` is the system's library. A handle that is left to Windows is closed when we end, by
    force too, which ends what is in the job.
    """

    def __init__(self, pid: int, kernel32: Any) -> None:
        for name in _HANDLES:
            getattr(kernel32, name).restype = wintypes.HANDLE
        self._kernel32 = kernel32
        self._handle: wintypes.HANDLE | None = wintypes.HANDLE(
            kernel32.CreateJobObjectW(None, None)
        )
        limits = JobLimits(flags=_KILL_ON_CLOSE)
        size = ctypes.sizeof(limits)
        kernel32.SetInformationJobObject(self._handle, _EXTENDED_LIMITS, ctypes.byref(limits), size)
        process = wintypes.HANDLE(kernel32.OpenProcess(_RIGHTS, False, pid))
        kernel32.AssignProcessToJobObject(self._handle, process)
        kernel32.CloseHandle(process)

    def kill(self) -> None:
        """Ends all that is in it, and the job: there may be one for each event of a listener."""
        if self._handle is not None:
            self._kernel32.TerminateJobObject(self._handle, 1)
            self._kernel32.CloseHandle(self._handle)
            self._handle = None
