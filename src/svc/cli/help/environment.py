"""`svc help environment`."""

from typing import Final

from svc.cli.help.page import Page, Rows

VARIABLES: Final = {
    "SVC_API_KEY": "The API key, where no keyring is: in CI and in containers.",
    "SVC_PUBLISHABLE_KEY": "The pk_ key of sandbox pay and checkout, where it was rolled.",
    "SVC_PROFILE": "The profile to use, as --profile.",
    "SVC_MODE": "test or live, as --test and --live.",
    "SVC_BASE_URL": "The address of the API without /v1, as --base-url.",
    "SVC_API_VERSION": "The version of the API, as --api-version.",
    "SVC_OUTPUT": "The output format, as --output.",
    "SVC_MAX_TIME": "How long all of it may take, in seconds, as --max-time.",
    "SVC_PROXY": "A proxy for https addresses, as --proxy.",
    "SVC_CA_BUNDLE": "Further certificate authorities to trust, as --ca-bundle.",
    "SVC_WEBHOOK_SECRET": "The signing secret of an endpoint, for events listen and verify.",
    "SVC_LOG_CREDENTIALS": "Credentials of a team's log, for events receive and listen --from.",
    "SVC_CONFIG_DIR": "Folder of the config file.",
    "SVC_STATE_DIR": "Folder of the journal, the inbox and the sandboxes.",
    "SVC_CACHE_DIR": "Folder of what can be lost.",
}
OTHERS: Final = {
    "NO_COLOR": "Any value: no colours. TERM=dumb does the same.",
    "CLICOLOR_FORCE": "Not 0: colours in a pipe, too; FORCE_COLOR does the same.",
    "CLICOLOR": "0: no colours.",
    "COLUMNS": "Width of the terminal, if it is wrong; LINES is its height.",
    "PAGER": "Shows a help topic that is longer than the screen, else less; empty: none does.",
    "NOTIFY_SOCKET": "Set by systemd: told when a listener or a sandbox is ready.",
    "HTTPS_PROXY": "Used for https origins unless NO_PROXY names them.",
    "XDG_CONFIG_HOME": "Where the folders above are by default; XDG_STATE_HOME, XDG_CACHE_HOME.",
}

PAGE: Final = Page(
    "Environment",
    (
        """
        An option wins over its variable, a variable over the profile, a profile over the
        default. svc whoami shows what is in use, and where the key came from.
        """,
        Rows(tuple(VARIABLES.items())),
        """
        No option takes a key: command lines are seen by every process of the machine. Programs
        that svc starts do not inherit the key. A .env file in the folder is never read.
        """,
        Rows(tuple(OTHERS.items())),
        "HTTP_PROXY, ALL_PROXY, .netrc and cookies have no effect.",
    ),
)
