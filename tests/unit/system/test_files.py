"""Private files: made for the user alone, put in their place whole."""

from pathlib import Path

from svc.system.files import make_private


def test_private_folder_and_what_is_made_above_it_are_the_users_alone(tmp_path: Path) -> None:
    """R67: whichever command runs first, the state folder can be used by the next."""
    make_private(tmp_path / "state" / "reports")
    for folder in (tmp_path / "state", tmp_path / "state" / "reports"):
        assert folder.stat().st_mode & 0o777 == 0o700
