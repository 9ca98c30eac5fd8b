"""What a request may say: decoded, read against a table, checked value by value, or refused.

Begin with `tables`, how an operation declares what it takes; `kinds` are the values, `bodies` the
bytes, `problems` every refusal, `schema` the same as JSON Schema. All of the sandbox above it uses
it, and it knows no noun: `described` makes the tables of one of its description.
"""
