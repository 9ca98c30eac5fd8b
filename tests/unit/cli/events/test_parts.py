"""What the parts of a listener take, and what they keep to themselves."""

from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path

from svc.cli import events


def test_what_a_part_keeps_to_itself_is_nobodys_to_pass() -> None:
    """A name with an underscore is no parameter."""
    folder = Path(events.__file__).parent
    names = (each.relative_to(folder).with_suffix("").parts for each in folder.rglob("*.py"))
    modules = [import_module(".".join((events.__name__, *each))) for each in names]
    parts = {one for each in modules for one in vars(each).values() if is_dataclass(one)}
    kept = {(one, each.init) for one in parts for each in fields(one) if each.name[0] == "_"}
    assert len(kept) > 2
    assert {init for _, init in kept} == {False}
