"""Signals that end a command."""

import signal

import pytest

from svc.cli.framework.signals import Stopped, stopping


def test_a_signal_while_a_class_is_made_ends_the_program_as_any_other() -> None:
    """R78: Python 3.11 has another error stand for what comes then, as in the midst of an import."""

    class Named:
        def __set_name__(self, owner: type, name: str) -> None:
            signal.raise_signal(signal.SIGTERM)

    def make() -> None:
        with stopping():
            type("Made", (), {"one": Named()})

    with pytest.raises(Stopped) as stopped:
        make()
    assert stopped.value.exit_code == 143
