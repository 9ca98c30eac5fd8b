"""Conventions, lists, limits, versions and idempotency."""

from typing import Final

TEXT: Final = """
== Conventions | Conventions
@ unit/sandbox/api/test_violations.py::test_violation_is_named
amounts | says | Integers in the minor unit; whole units where a currency has none.
amount range | chose | From 1 to 999999999999; 0 is taken for prices and freight.
currencies | says | ISO 4217 in upper case.
supported currencies | chose | The 33 that have a rate in the sandbox.
countries | says | ISO 3166-1, two letters.
unknown origin | chose | XX and ZZ stand for it, as well as nothing.
@ unit/sandbox/store/test_transaction.py::test_timestamps_are_strict_and_exact
timestamps | says | ISO 8601 in UTC.
timestamp precision | chose | Whole seconds: 2026-10-01T09:00:00Z and no other spelling.
@ unit/sandbox/api/test_objects.py::test_order_create_answers_the_worked_example
object marker | says | Objects carry their type in object.
created and livemode | chose | On every object; shown on the event only.
null | chose | A field without a value is null; it is never left out.
@ unit/sandbox/api/test_violations.py::test_metadata_has_at_most_50_keys_after_a_merge
metadata | chose | Up to 50 own keys on orders, refunds and payouts; updates merge.
@ unit/sandbox/api/test_objects.py::test_clearing_an_optional_field_restores_its_default
clearing | chose | null, "" and [] unset an optional field.
@ unit/sandbox/api/test_objects.py::test_ids_have_their_prefix_and_24_characters
ord_ | says | Prefix of orders.
pay_ | says | Prefix of payments.
rf_ | says | Prefix of refunds.
po_ | says | Prefix of payouts.
lcq_ | says | Prefix of landed-cost quotes.
evt_ | says | Prefix of events.
dp_ | says | Prefix of disputes.
we_ | chose | Prefix of webhook endpoints.
req_ | chose | Prefix of requests.
length of ids | chose | The prefix and 24 letters or digits.
@ unit/sandbox/api/test_cards.py::test_approved_card
pm_ | says | Prefix of saved payment methods.

== Lists | Endpoints, List object, Limits
@ unit/sandbox/api/test_lists.py::test_limit_is_1_to_100
limit | says | From 1 to 100.
@ unit/sandbox/api/test_lists.py::test_default_page_has_25_objects
default page | says | 25 objects.
has_more | says | True when another page exists.
@ unit/sandbox/api/test_lists.py::test_lists_are_newest_first_and_page_without_gaps
starting_after | says | The last id received; the page after it.
list object | says | object is list, with data and has_more.
order of lists | chose | Newest first; equal times by creation, newest first.
@ unit/sandbox/api/test_lists.py::test_starting_after_must_exist
unknown cursor | chose | 400 resource_missing; it must exist, but need not match the filters.
@ unit/sandbox/api/test_lists.py::test_status_filter
status filter | chose | On every list.
@ unit/sandbox/api/test_lists.py::test_filter_by_parent
parent filters | chose | Payments by order; refunds and disputes by payment.
@ unit/sandbox/api/test_lists.py::test_created_filters
created filters | chose | created[gte], [gt], [lte] and [lt] on every list.

== Versions | Versioning
@ unit/sandbox/api/test_auth.py::test_unknown_path_is_404
/v1 | says | The major version is a part of every path.
@ unit/sandbox/api/test_auth.py::test_version_is_pinned_at_the_first_authenticated_request
pinning | says | An account is pinned to a version at its first request.
pinned to | chose | The newest version.
@ unit/sandbox/api/test_auth.py::test_version_header_tries_another_version
Svc-Version | says | Tries another version for one request.
known versions | chose | 2026-03-01 and 2026-09-01, which behave alike.

== Idempotency | Limits, Idempotency
@ unit/sandbox/api/test_idempotency.py::test_the_same_request_is_replayed_byte_for_byte
Idempotency-Key | says | A retry with the same key returns the original result, not a duplicate.
Idempotent-Replayed | chose | true in the header of a replay; status and body byte for byte.
@ unit/sandbox/api/test_idempotency.py::test_a_key_is_held_for_exactly_24_hours
retention | says | 24 hours.
end of retention | chose | At exactly 24 hours after the first use the key is free.
@ unit/sandbox/api/test_idempotency.py::test_an_error_releases_the_key
what is kept | chose | Successes only; an error releases the key.
@ unit/sandbox/api/test_idempotency.py::test_keys_are_shared_by_all_keys_of_the_account
scope | chose | The account and the mode; a rolled API key replays as well.
@ unit/sandbox/api/test_idempotency.py::test_form_and_json_with_one_content_match
same request | chose | Method, path and parameters after reading them, in either encoding.
@ unit/sandbox/api/test_idempotency.py::test_a_malformed_key_is_refused
form of a key | chose | 1 to 255 printable ASCII characters without spaces.
@ unit/sandbox/api/test_idempotency.py::test_a_get_ignores_the_key
on GET | chose | Ignored.
@ proof/sandbox/test_kill.py::test_ten_kills_lose_nothing_and_double_nothing
after a crash | chose | What was acknowledged is kept and replayed, also after a kill -9.

== Order of checks | Errors
@ unit/sandbox/api/test_auth.py::test_checks_come_in_the_chosen_order
order of checks | chose | Transport, key, route, permission, limit, version, body, key reuse, ...
@ unit/sandbox/api/test_violations.py::test_only_the_first_violation_is_reported_unknown_ones_first
first violation | chose | One error at a time: unknown names first, then the order of the table.
"""
