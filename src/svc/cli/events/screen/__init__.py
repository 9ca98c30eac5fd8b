"""What a listener prints: records as lines for people or JSON, written without ever waiting.

Begin with `printer`; `lines` and `ndjson` make text of records. `streams` replaces the standard
streams while a listener runs. `run` and `loop` print with it, and `svc events replay`.
"""
