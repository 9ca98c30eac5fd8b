"""What a listener prints: records as lines for people or JSON, written without ever waiting.

`printer` is where to begin; `lines` and `ndjson` make text of records, `answer` words of a target's
answer. `streams` stands for the standard streams while a listener runs, `unwritten` is what they
have not taken yet.
"""
