"""What the project says of itself: its changes, its releases, the machines that it is tried on."""

import re
import tomllib
from importlib import import_module
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import svc
from support.running import build_script

ROOT = Path(svc.__file__).parents[2]
CHANGES = ROOT / ".changes"

pytestmark = pytest.mark.skipif(
    not CHANGES.exists(), reason="an installed package is not a checkout"
)


def test_the_page_and_the_readme_are_made_of_the_fragments() -> None:
    """`python3 .build/changes.py` makes them anew."""
    made = build_script("changes")
    changes = made.versions(CHANGES)
    assert made.PAGE.read_text() == made.page(changes)
    assert made.README.read_text().endswith(f"\n## Changes\n\n{made.section(changes)}")
    assert svc.RELEASE in [name for name, _ in changes]


def test_versions_go_from_the_newest_and_what_scripts_notice_goes_first(tmp_path: Path) -> None:
    """By number, not by text; what is to come is on top."""
    for name, text in (
        ("0.9.0/a", "fixed: One."),
        ("0.10.0/a", "added: Two."),
        ("next/a", "fixed: Three."),
        ("next/b", "changed: Four."),
    ):
        file = tmp_path / f"{name}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{text}\n")
    found = build_script("changes").versions(tmp_path)
    assert [name for name, _ in found] == ["next", "0.10.0", "0.9.0"]
    assert found[0][1] == [("changed", "Four."), ("fixed", "Three.")]
    (tmp_path / "next" / "c.md").write_text("Some news\n")
    with pytest.raises(ValueError, match="one line is wanted"):
        build_script("changes").versions(tmp_path)


def test_the_workflow_runs_every_python_that_is_promised_with_no_more_rights_than_it_needs() -> (
    None
):
    """And steps of the gate alone, so that both are one."""
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    yaml: Any = import_module("yaml")  # schemathesis brings it
    flow, project = yaml.safe_load(text), tomllib.loads((ROOT / "pyproject.toml").read_text())
    promised = [
        found[1]
        for each in project["project"]["classifiers"]
        if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", each))
    ]
    assert flow["jobs"]["linux"]["strategy"]["matrix"]["python"] == promised
    assert flow["permissions"] == {"contents": "read"}
    assert "secrets." not in text
    # What a tag stands for can be changed; a commit cannot.
    assert all(
        re.search(r"@[0-9a-f]{40} # v", line) for line in text.splitlines() if "uses:" in line
    )
    gate = (ROOT / ".ci" / "run").read_text()
    steps = set(re.findall(r"^step_(\w+)\(\) {$", gate, re.MULTILINE))
    [in_turn, beside] = re.findall(r"^(?:steps|lanes)=\((.*)\)$", gate, re.MULTILINE)
    assert {*in_turn.split(), *re.findall(r"\w+", beside)} == steps  # which all are run
    asked = re.findall(r"- run: \.ci/run (.*)", text)
    named = {word for each in asked for word in each.split() if word.isalpha()}
    assert len(named) > 4
    assert named <= steps
    assert flow["jobs"]["elsewhere"]["continue-on-error"] is True


def licence_of(package: Distribution) -> str:
    told: Any = package.metadata
    named = told.get("License-Expression") or told.get("License")
    classified = [
        each.rpartition(":: ")[2]
        for each in told.get_all("Classifier") or ()
        if each.startswith("License ::")
    ]
    return str(named or "; ".join(classified)).splitlines()[0]


def brought(name: str, extras: frozenset[str], found: dict[str, Distribution]) -> None:
    """Adds what a package needs here, and what that needs."""
    package = distribution(name)
    found[canonicalize_name(name)] = package
    for text in package.requires or ():
        need = Requirement(text)
        asked = need.marker is None or any(
            need.marker.evaluate({"extra": each}) for each in (extras or {""})
        )
        if asked and canonicalize_name(need.name) not in found:
            brought(need.name, frozenset(need.extras), found)


def test_every_package_that_is_brought_has_been_looked_at() -> None:
    """With its licence and who makes it: one that nobody knows is a way in for strangers."""
    lines = (ROOT / ".ci" / "packages").read_text(encoding="utf-8").splitlines()
    rows = [line.split(" | ") for line in lines if not line.startswith("#")]
    known = {name: licence for name, licence, _ in rows}
    found: dict[str, Distribution] = {}
    brought("svc-cli", frozenset({"", "nats"}), found)
    del found["svc-cli"]
    assert len(found) > 20
    assert {name: licence_of(each)[:40] for name, each in found.items()}.items() <= known.items()
