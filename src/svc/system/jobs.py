"""Windows's job objects, by which child processes end when svc ends in any way.

Other systems have process groups, and Linux has `pdeathsig`.

Only `processes` creates one, for a child on Windows.
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
    """A job object with one process and all processes which that one starts afterwards.

    `kernel32` is the system's library. Windows closes the handle when svc ends, even by force, and
    then ends the processes of the job.
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
        """Ends all processes of the job and closes it: a listener may create one for each event."""
        if self._handle is not None:
            self._kernel32.TerminateJobObject(self._handle, 1)
            self._kernel32.CloseHandle(self._handle)
            self._handle = None
