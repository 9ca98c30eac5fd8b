"""The sandbox itself: its settings and controls, which the service does not have."""

from typing import Final

TEXT: Final = """
== Settings | Dashboard settings
@ unit/sandbox/api/test_cards.py::test_smart_retries_are_off_by_default
smart_retries | chose | Smart retries; the specification has them in the dashboard.
@ unit/sandbox/api/test_objects.py::test_account_settings_are_the_defaults_of_new_objects
settlement_currency | chose | Default of new orders and payouts.
country | chose | Where goods are sent from.
@ unit/sandbox/api/test_objects.py::test_landed_cost_is_not_collected_where_the_setting_says_so
collect_landed_cost | chose | Whether the shopper pays the landed cost.
@ unit/sandbox/api/test_auth.py::test_version_is_pinned_at_the_first_authenticated_request
pinned_version | chose | The account's version.
@ unit/sandbox/api/test_violations.py::test_unknown_parameters_can_be_ignored
unknown_parameters | chose | reject or ignore.
@ unit/sandbox/api/test_auth.py::test_errors_can_be_nested
error_envelope | chose | flat or nested.
@ unit/sandbox/api/test_auth.py::test_plain_http_is_refused_where_the_setting_says_so
insecure_http | chose | allow or reject plain HTTP.
@ unit/sandbox/api/test_violations.py::test_loopback_http_webhooks_depend_on_the_setting
allow_http_webhooks | chose | Whether endpoints on this machine may use plain HTTP.
@ unit/sandbox/webhooks/test_schedule.py::test_receiver_elsewhere_gets_nothing_unless_told
allow_remote_webhooks | chose | Whether webhooks leave this machine.
@ unit/sandbox/api/test_auth.py::test_rate_limit_is_a_bucket_on_the_real_clock
rate_limit | chose | 25 a second in test, 100 in live; off by default.
@ unit/sandbox/webhooks/test_schedule.py::test_setting_signs_with_the_sandboxs_time
signature_time | chose | wall or virtual.
@ unit/sandbox/webhooks/test_schedule.py::test_manual_delivery_holds_attempts_until_an_advance
webhook_delivery | chose | auto or manual.

== Sandbox | What the service does
@ unit/sandbox/api/test_controls.py::test_every_control_needs_its_header
controls | chose | Everything under /_sandbox/, with the header Svc-Sandbox: 1.
@ proof/sandbox/test_openapi_document.py::test_document_is_served_without_a_key
OpenAPI document | chose | At /_sandbox/openapi.json, made from the tables it checks with.
@ unit/sandbox/test_clock.py::test_jobs_run_in_order_and_see_their_own_time
virtual clock | chose | Time that can be advanced: expiry, retries, deadlines follow it.
@ proof/sandbox/test_determinism.py::test_same_seed_and_calls_give_the_same_bytes
seed | chose | Equal seeds and calls give equal ids and bytes.
@ proof/sandbox/test_determinism.py::test_demo_fixture_is_the_same_every_time
demo fixture | chose | One object in each state worth a look.
@ unit/sandbox/api/test_controls.py::test_every_event_type_can_be_triggered
trigger | chose | Each of the 18 events can be made to happen.
@ unit/sandbox/api/test_faults.py::test_after_means_that_it_is_done
API faults | chose | Errors, delays and broken connections, before or after the commit.
@ unit/sandbox/control/test_webhook_faults.py::test_drop_counts_as_failed_without_sending
webhook faults | chose | Duplicates, drops, bad signatures, wrong order, delays.
@ unit/sandbox/api/test_auth.py::test_only_loopback_hosts_are_served
loopback only | chose | Answers nobody but this machine.
@ unit/sandbox/checkout/test_pages.py::test_total_is_broken_down
checkout page | says | Shows methods, language and the duty-inclusive total.
@ unit/sandbox/checkout/test_pages.py::test_paid_order_shows_its_last_page
fulfilment | says | Follows order.paid and not the browser's redirect.
"""
