"""Authentication, keys, permissions and modes."""

from typing import Final

TEXT: Final = """
== Authentication | Authentication
@ unit/sandbox/api/test_auth.py::test_key_is_taken_by_basic_and_bearer
basic | says | The key is the user name, the password is empty.
basic password | chose | Any password is taken.
bearer | says | Authorization: Bearer with the same key.
@ unit/sandbox/api/test_auth.py::test_no_or_wrong_key_is_401
no key | says | 401 Unauthorized.
WWW-Authenticate | chose | Basic realm="svc" with every 401, but to no browser.
@ unit/sandbox/api/test_auth.py::test_no_web_page_is_answered
browsers | chose | 403 before the key is looked at, for an Origin or a Sec-Fetch-Site but none.
@ unit/sandbox/api/test_auth.py::test_strict_https_holds_whatever_the_setting
plain HTTP | says | 401 Unauthorized.
@ unit/sandbox/api/test_auth.py::test_plain_http_is_refused_where_the_setting_says_so
plain HTTP here | chose | Taken from this machine unless a setting says otherwise.
@ unit/sandbox/api/test_auth.py::test_modes_never_mix
modes | says | The key decides; a live key sees nothing of test mode, and the other way round.
same address | says | One address serves both modes.
@ unit/sandbox/api/test_cards.py::test_no_live_order_is_ever_paid
no money in test mode | says | No money moves in test mode.
live mode here | chose | The sandbox has no paid live orders: every attempt to pay fails.
@ unit/sandbox/api/test_auth.py::test_publishable_key_can_do_nothing
publishable keys | says | Neither read nor change data.
@ unit/sandbox/api/test_cards.py::test_checkout_takes_publishable_keys_only
checkout | says | The browser side is opened with a publishable key and the client secret.
@ unit/sandbox/api/test_auth.py::test_restricted_key_needs_just_this_permission
restricted keys | says | Read or write for each resource; else 403 permission_denied.
levels | chose | none, read, write; write includes read.
resources | chose | orders payments refunds payouts landed_cost disputes webhook_endpoints events
@ unit/sandbox/api/test_auth.py::test_a_403_does_not_reveal_whether_an_object_exists
403 before 404 | chose | The permission is checked before the object is looked up.
@ unit/sandbox/api/test_auth.py::test_rolled_key_works_for_its_grace_and_then_says_so
rolling a key | says | The old key works on, from not at all to seven days.
after the grace | chose | 401 api_key_expired.
@ unit/sandbox/webhooks/test_schedule.py::test_rotation_signs_with_both_secrets_for_the_grace_period
rolling a secret | says | Webhook secrets rotate separately from API keys.
two secrets | chose | The old secret signs along for up to 24 hours.
@ proof/sandbox/test_fidelity.py::test_prefix_of_a_key_tells_its_kind_and_mode
sk_test_ | says | Secret test key.
pk_test_ | says | Publishable test key.
rk_test_ | says | Restricted test key.
sk_live_ | says | Secret live key.
pk_live_ | says | Publishable live key.
rk_live_ | says | Restricted live key.
@ unit/sandbox/api/test_controls.py::test_default_fixture_has_keys_and_balances
fixed keys | chose | Five public keys that every sandbox knows; balances of 1,000,000.00.
"""
