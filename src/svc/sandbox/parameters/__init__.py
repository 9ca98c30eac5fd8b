"""What a request may say: decoded, read against a table, checked value by value, or refused.

Begin with `tables`, how an operation declares what it takes; `kinds` are the values, `bodies` the
bytes, `problems` every refusal, `schema` the same as JSON Schema. `described` makes the tables of a
noun from its description in `svc.service`. `api`, `control`, `checkout`, `resources` and
`store.settings` use the room, which knows no noun by name.
"""
