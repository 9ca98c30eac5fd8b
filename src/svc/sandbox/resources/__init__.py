"""The rules of the service: states and actions of each noun, one file a noun.

Begin with `refunds`; `operation` makes a noun's operations from its description in `svc.service`,
which has the fields and verbs. A noun imports those that it changes. The surfaces (`api`,
`control`, `checkout`) and `jobs` call them with a `Transaction`; they know no HTTP.
"""
