"""What Windows is asked for, on a stand-in for it: this system has no job objects."""

import ctypes
from typing import Any

from svc.system.jobs import JobLimits, JobObject
from svc.system.processes import job_of

CALLS = (
    "CreateJobObjectW",
    "SetInformationJobObject",
    "OpenProcess",
    "AssignProcessToJobObject",
    "CloseHandle",
    "TerminateJobObject",
)


class FakeKernel:
    """Writes down what it is called with; a handle is 7 for a job and 9 for a process."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []
        self.flags = b""
        for name in CALLS:
            setattr(self, name, self._function(name))

    def _function(self, name: str) -> Any:
        def call(*args: Any) -> int:
            if name == "SetInformationJobObject":
                self.flags = ctypes.string_at(args[2], 20)[16:]
            shown = (getattr(each, "value", each) for each in args if not hasattr(each, "_obj"))
            self.calls.append((name, *map(str, shown)))
            return {"CreateJobObjectW": 7, "OpenProcess": 9}.get(name, 1)

        return call


def test_a_fake_windows_ends_what_was_started_when_we_end() -> None:
    """The handle is closed by us once what is in it was ended; the structure is laid out as Windows has it."""
    kernel = FakeKernel()
    job = JobObject(4321, kernel)
    size = str(ctypes.sizeof(JobLimits))
    assert kernel.calls == [
        ("CreateJobObjectW", "None", "None"),
        ("SetInformationJobObject", "7", "9", size),
        ("OpenProcess", str(0x0101), "False", "4321"),
        ("AssignProcessToJobObject", "7", "9"),
        ("CloseHandle", "9"),
    ]
    assert kernel.flags == (0x2000).to_bytes(4, "little")
    if ctypes.sizeof(ctypes.c_void_p) == 8:
        assert size == "144"
    job.kill()
    job.kill()  # it is gone, and its number may be another's
    assert kernel.calls[5:] == [("TerminateJobObject", "7", "1"), ("CloseHandle", "7")]


def test_other_systems_have_none() -> None:
    """There process groups do it."""
    assert job_of(4321) is None
