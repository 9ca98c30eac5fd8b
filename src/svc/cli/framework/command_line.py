"""Command lines that reach the account and the place that they are about."""

from collections.abc import Mapping

from svc.cli.framework.options import GlobalOptions
from svc.client.journal.commands import in_full
from svc.client.journal.stored import Scope
from svc.config import Config, Settings
from svc.config.settings import resolve
from svc.errors import SvcError


def scoped(scope: Scope, words: str, env: Mapping[str, str], config: Config) -> str:
    """`svc WORDS` with the options without which it would go to somebody else or elsewhere."""
    try:
        bare = _settings(env, config)
        profile = None if bare.profile == scope.profile else scope.profile
        there = bare if profile is None else _settings(env, config, profile)
    except SvcError:  # a profile that is gone, or a setting that is wrong
        return in_full(scope, words)
    options = "" if profile is None else f" --profile {profile}"
    if str(there.address or "") != scope.base_url:
        options += f" --base-url {scope.base_url}"
    if scope.mode != there.mode or scope.mode == "live":
        options += f" --{scope.mode}"
    return f"svc {words}{options}"


def _settings(env: Mapping[str, str], config: Config, profile: str | None = None) -> Settings:
    asked = GlobalOptions()
    asked.profile = profile
    return resolve(asked, env, config)
