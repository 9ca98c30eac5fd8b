"""Commands within a text, as this program is called."""

from pathlib import Path

import pytest

from svc.render.program_name import ProgramName


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Add one: svc keys add", "Add one: a/svc keys add"),
        ("See svc sandbox logs.", "See a/svc sandbox logs."),
        ("Did you mean 'svc keys'?", "Did you mean 'a/svc keys'?"),
        ('eval "$(svc sandbox env)"', 'eval "$(a/svc sandbox env)"'),
        ("svc get ID; then svc requests forget x", "a/svc get ID; then a/svc requests forget x"),
        (
            "See its arguments and options: svc --help",
            "See its arguments and options: a/svc --help",
        ),
        # Sentences about the program, and words of others.
        ("in a keyring that svc may not use now", None),
        ("Another svc command sends it", None),
        ("svc batch.csv", None),
        ("/usr/bin/svc keys add", None),
    ],
)
def test_commands_within_a_text(text: str, said: str | None) -> None:
    """Only a command gets the name: a known word follows it, and no path stands before it."""
    words = ("keys", "sandbox", "get", "requests", "batch")
    assert ProgramName("a/svc", "", words).within(text) == (said or text)


def test_a_path_with_spaces_is_quoted(tmp_path: Path) -> None:
    """What is copied is one word for the shell."""
    assert ProgramName(f"{tmp_path}/my shop/svc", "", ("keys",)).name == f"'{tmp_path}/my shop/svc'"
