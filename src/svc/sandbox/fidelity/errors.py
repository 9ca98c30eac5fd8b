"""Error answers: their shape, and every code."""

from typing import Final

TEXT: Final = """
== Error shape | Errors
@ unit/sandbox/api/test_violations.py::test_violation_is_named
type, code, message | says | The fields of an error body.
param | chose | The parameter in question, in bracket form.
@ unit/sandbox/api/test_auth.py::test_no_or_wrong_key_is_401
request_id | chose | The same id as in the header Request-Id.
@ unit/sandbox/api/test_auth.py::test_errors_can_be_nested
flat | chose | The body is the error; a setting wraps it as {"error": ...}.
@ unit/sandbox/api/test_states.py::test_order_action_in_each_state
state errors | chose | 400, so that 409 always means: try again.
@ proof/sandbox/test_schemathesis.py::test_schemathesis_finds_nothing
every answer | chose | Fits the OpenAPI document at /_sandbox/openapi.json, errors too.

== Error codes | Errors
@ unit/sandbox/api/test_auth.py::test_restricted_key_needs_just_this_permission
permission_denied | says | 403, outside a restricted key's permissions.
@ unit/sandbox/api/test_auth.py::test_publishable_key_can_do_nothing
secret_key_required | chose | 403, a publishable key.
@ unit/sandbox/api/test_auth.py::test_no_or_wrong_key_is_401
api_key_missing | chose | 401, no key.
api_key_invalid | chose | 401, an unknown key.
@ unit/sandbox/api/test_auth.py::test_plain_http_is_refused_where_the_setting_says_so
https_required | chose | 401, plain HTTP.
@ unit/sandbox/api/test_auth.py::test_rolled_key_works_for_its_grace_and_then_says_so
api_key_expired | chose | 401, a rolled key whose grace is over.
@ unit/sandbox/api/test_violations.py::test_absent_object_is_404
resource_missing | chose | 404, no such object in this mode; 400 for a cursor.
@ unit/sandbox/api/test_auth.py::test_unknown_path_is_404
endpoint_unknown | chose | 404, no such path.
@ unit/sandbox/api/test_auth.py::test_wrong_method_is_405_with_allow
method_not_allowed | chose | 405, with Allow.
@ unit/sandbox/api/test_encodings.py::test_body_over_one_mebibyte_is_413
request_too_large | chose | 413, a body over 1 MiB.
@ process/sandbox/test_http_edges.py::test_what_is_no_request_is_answered_like_one
http_invalid | chose | 400, what came is no valid HTTP/1.1.
@ process/sandbox/test_deadlines.py::test_body_that_stalls_is_refused
request_timeout | chose | 408, a body or head that does not come in 10 seconds.
@ unit/sandbox/api/test_encodings.py::test_content_types
unsupported_media_type | chose | 415, neither JSON nor a form.
@ unit/sandbox/api/test_auth.py::test_unknown_version_is_400
version_invalid | chose | 400, not one of the known versions.
@ unit/sandbox/api/test_idempotency.py::test_a_malformed_key_is_refused
idempotency_key_invalid | chose | 400, not 1 to 255 printable characters.
@ unit/sandbox/api/test_idempotency.py::test_a_key_used_for_another_request_is_refused
idempotency_key_reused | chose | 400, the key belongs to another request.
@ unit/sandbox/api/test_idempotency.py::test_a_request_that_is_running_holds_its_key
idempotency_key_in_use | chose | 409, its request is running: try again.
@ unit/sandbox/api/test_auth.py::test_rate_limit_is_a_bucket_on_the_real_clock
rate_limit | chose | 429 with Retry-After; that 429 exists is stated.
@ unit/sandbox/api/test_auth.py::test_an_unexpected_exception_is_500_without_a_trace
internal_error | chose | 500; that 5xx exist is stated.
@ unit/sandbox/api/test_faults.py::test_before_means_that_nothing_happened
bad_gateway | chose | 502, on demand only.
service_unavailable | chose | 503, on demand only.
gateway_timeout | chose | 504, on demand only.
@ unit/sandbox/api/test_encodings.py::test_broken_json_is_refused
body_invalid | chose | 400, cannot be read, or names a member twice.
@ unit/sandbox/api/test_violations.py::test_violation_is_named
parameter_missing | chose | 400, a required field is absent.
parameter_unknown | chose | 400, a field that is in no table.
parameter_invalid_empty | chose | 400, empty where a value is needed.
parameter_invalid_integer | chose | 400, no integer, or out of its range.
parameter_invalid_type | chose | 400, the wrong JSON type.
parameter_too_long | chose | 400, too long or too many.
parameter_invalid_value | chose | 400, not one of the allowed values.
currency_invalid | chose | 400, no ISO 4217 code in upper case.
currency_unsupported | chose | 400, no rate in the sandbox.
country_code_invalid | chose | 400, no ISO 3166-1 code.
hs_code_invalid | chose | 400, no tariff code.
amount_too_small | chose | 400, below 1, or below 0 for a price.
amount_too_large | chose | 400, above the maximum or what is left.
parameters_exclusive | chose | 400, both or neither of two ways to say it.
iban_invalid | chose | 400, wrong check digits, length or country.
url_invalid | chose | 400, no receiver's address.
event_type_unknown | chose | 400, no event type, * neither.
@ unit/sandbox/api/test_encodings.py::test_booleans_in_json_are_native
parameter_invalid_boolean | chose | 400, neither true nor false.
@ unit/sandbox/api/test_lists.py::test_created_takes_timestamps_only
parameter_invalid_timestamp | chose | 400, no timestamp.
@ unit/sandbox/api/test_states.py::test_order_action_in_each_state
order_unexpected_state | chose | 400, with current_status.
capture_not_allowed | chose | 400, the order is not captured by hand.
@ unit/sandbox/api/test_states.py::test_dispute_action_in_each_state
dispute_unexpected_state | chose | 400, with current_status.
payment_disputed | chose | 400, no refund while a dispute holds the money.
@ unit/sandbox/api/test_states.py::test_only_captured_payments_are_refunded
payment_not_refundable | chose | 400, it was not captured.
@ unit/sandbox/api/test_states.py::test_refunds_together_are_bounded_by_the_capture
payment_already_refunded | chose | 400, nothing is left.
@ unit/sandbox/api/test_states.py::test_payout_needs_balance
balance_insufficient | chose | 400, the balance is short.
@ unit/sandbox/api/test_states.py::test_submitting_needs_evidence
evidence_missing | chose | 400, nothing to submit.
@ unit/sandbox/api/test_violations.py::test_at_most_16_endpoints_are_enabled_in_a_mode
webhook_endpoint_limit | chose | 400, 16 are enabled already.
"""
