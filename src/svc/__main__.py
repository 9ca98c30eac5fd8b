"""Entry of `python -m svc` and of the console script `svc`.

There is nothing else here: until `main` runs, Ctrl-C would show a traceback. `main` calls
`start.run_program`, which runs `cli.main` and ends the process.
"""


def main() -> None:
    """Runs the command line and ends the process."""
    # Before and after a command, Ctrl-C ends the process without a traceback (promise R79). The
    # built-in half of `signal` is there at once; the other is read from files, and Ctrl-C meanwhile
    # would show one.
    import _signal  # type: ignore[import-not-found]  # as it is built in

    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    from svc.start import run_program

    run_program()


if __name__ == "__main__":
    main()
