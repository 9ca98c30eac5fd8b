"""The kinds of values, as the shells read them, and the scripts that do."""

from pathlib import Path

import pytest

from support.running import build_script
from svc import completion
from svc.completion.tree import Values
from svc.errors import LocalError


def test_an_installation_without_its_scripts_is_to_be_made_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The script of the package is read, else that of the checkout."""
    root = Path(completion.__file__).parents[3]
    packaged = completion._PACKAGED.relative_to(root / "src").as_posix()
    assert f'completions = "{packaged}"' in (root / "pyproject.toml").read_text()
    for name in ("_CHECKOUT", "_PACKAGED"):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.setattr(completion, name, folder)
    with pytest.raises(LocalError, match=r"This installation of svc lacks _svc\.") as lacking:
        completion.read_script("zsh")
    assert lacking.value.hint == "Install svc again"
    for name in ("_CHECKOUT", "_PACKAGED"):
        (tmp_path / name / "_svc").write_text(name)
        assert completion.read_script("zsh") == name


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (Values(), "t"),
        (Values(files=True), "f"),
        (Values(profiles=True), "p"),
        (Values(ids=("ord_", "pay_")), "i.ord_|pay_"),
        (Values("format", (("json", ""),), ids=("ord_",)), "w.format,i.ord_"),
    ],
)
def test_a_kind_says_in_a_few_letters_what_fits(values: Values, kind: str) -> None:
    """The shells split it at its commas."""
    assert build_script("completions").kind_of(values) == kind
