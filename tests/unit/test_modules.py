"""What holds of every module: its data classes are values, and it loads no more than it runs by."""

import re
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import pytest

import svc

SOURCE = Path(svc.__file__).parent
ROOMS: dict[str, list[str]] = defaultdict(list)
for path in SOURCE.rglob("[a-z]*.py"):
    parts = path.relative_to(SOURCE).with_suffix("").parts
    ROOMS[parts[0]].append(".".join(("svc", *parts)))
# What these hold changes while they live.
STATES = set(
    "Advance Api ApiRule Batch BatchPlan EndpointLane Examiner HeldDelivery Ingest InspectorApp "
    "ListenerLoop ListenerProgress LoggedRequest Money PendingAck Printing Registrar ReplayJob "
    "RequestContext Rule Runner SandboxApp SharedState SignatureWatch Totals WebhookAttempts "
    "WebhookRule _Absence _Destination _Spelling".split()
)
KEEP_MORE = {"BatchName", "SandboxApp"}  # what they find out once, beside their fields
BLOCK = r"(?m)^if [^\n]*TYPE_CHECKING[^\n]*\n((?:    [^\n]*\n|\n(?= ))+)"


@pytest.mark.parametrize("room", ROOMS)
def test_a_data_class_is_a_value_unless_it_is_a_state(room: str) -> None:
    """A value can be a key and is shared without care; by slots a mistyped field is an error."""
    for module in map(import_module, ROOMS[room]):
        for name, kind in vars(module).items():
            is_own = isinstance(kind, type) and kind.__module__ == module.__name__
            how = vars(kind).get("__dataclass_params__") if is_own else None
            if how is not None:
                assert (how.frozen or how.unsafe_hash) is (name not in STATES), name
                assert ("__slots__" in vars(kind)) is (name not in KEEP_MORE), name


@pytest.mark.parametrize("room", ROOMS)
def test_what_the_type_checker_alone_needs_is_not_loaded(room: str) -> None:
    """A short command is to start at once, and what is loaded for nothing adds up."""
    for module in map(import_module, ROOMS[room]):
        text = Path(str(module.__file__)).read_text(encoding="utf-8")
        for block in re.findall(BLOCK, text):
            imported = re.findall(r"import \(?([\w,\s]+)", block)
            names = {name for words in imported for name in re.findall(r"\w+", words)}
            assert names
            assert not names & vars(module).keys(), module
