"""Changing the caller's own keys and strings on an object (assumptions: Conventions)."""

from svc.sandbox.checks import refuse_many_keys


def merged(present: dict[str, str], changes: dict[str, str] | None) -> dict[str, str]:
    """Merges key by key; an empty value deletes its key, None deletes them all.

    Raises:
        Problem: more than 50 keys would be left.
    """
    if changes is None:
        return {}
    result = {key: text for key, text in {**present, **changes}.items() if text}
    refuse_many_keys(result)
    return result
