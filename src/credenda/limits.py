"""Every bound of the system, in one place; a unit is the last word of each name."""

from __future__ import annotations

from typing import Final

EVENT_TEXT_BYTES: Final = 1 << 20
"""Longest text of one event, UTF-8 encoded."""
MESSAGES_PER_CALL: Final = 1_000
"""Most messages one `remember` takes."""
NAME_CHARACTERS: Final = 256
"""Longest topic, session, agent, speaker, tag or idempotency key."""
TAGS: Final = 32
METADATA_BYTES: Final = 16_384
MEMORY_TEXT_CHARACTERS: Final = 2_000
"""Longest text of one memory; extraction keeps sentences, so this is generous."""
VERBATIM_CHARACTERS: Final = 500
"""Longest provisional memory when extraction failed (R-050)."""
PASSAGE_TOKENS: Final = 200
"""Longest passage that is searched as one document."""
PASSAGES_PER_EVENT: Final = 4_095
QUERY_CHARACTERS: Final = 8_192
QUERY_TERMS: Final = 64
TOKENIZER_BYTES: Final = 128 << 20
"""Largest file of a tokenizer that is read; those of the largest vocabularies have 34 MB."""
SEARCH_LIMIT: Final = 50
"""Most hits one search returns (R-112)."""
LIST_LIMIT: Final = 50
LIST_OFFSET: Final = 1_000_000
"""Memories that a list may pass over; whoever pages further does so by the cursor."""
CANDIDATES: Final = 200
"""Best documents of each engine that are fused and scored."""
VECTOR_NOMINEES: Final = 1_500
"""Documents nominated by sign bits alone."""
VECTOR_CANDIDATES: Final = 500
"""Documents of these rescored from stored vectors: recall@10 .995 measured."""
QUESTION_VECTORS: Final = 512
"""Vectors of questions that an open memory remembers: 0.8 MiB at 384 dimensions."""
EMBED_REQUEST_TEXTS: Final = 64
"""Most texts sent to an embedding endpoint at once."""
EMBED_REQUEST_CHARACTERS: Final = 100_000
EMBED_TEXT_CHARACTERS: Final = 8_192
"""What is embedded of one text at most; passages and memories are shorter."""
EMBED_REQUEST_SECONDS: Final = 10
EMBED_RESPONSE_BYTES: Final = 32 << 20
EMBED_ATTEMPTS: Final = 3
"""How often an endpoint is asked before the job fails, to be tried again later."""
EMBED_WAIT_SECONDS: Final = 0.5
"""First wait before asking again, unless the endpoint says; doubles."""
EMBED_WAIT_SECONDS_MAX: Final = 8.0
"""An endpoint that asks for longer fails the job, whose own delay is then what it waits."""
CLAIMS_PER_TURN: Final = 5
"""Most claims kept from one turn (R-046)."""
AGAIN_NOMINATED: Final = 12
"""Memories that share the rarest words of a claim and are compared with it: it may say one of them again."""
SLOT_ROWS: Final = 96
"""Most current, and most past, memories of one entity and attribute that reconciliation reads."""
SLOT_PAST_ROWS: Final = 12
"""Past memories that suffice where a claim is about the present: alternation shows in the latest."""
EVENTS_LISTED_TOGETHER: Final = 32
"""Events whose words the full-text index on disk takes at once; fewer than these are matched one by one."""
GROUP_COMMIT_UNITS: Final = 64
"""Most units that share one commit."""
JOB_ATTEMPTS: Final = 5
"""A job that failed this often is dead-lettered with its reason."""
JOB_LEASE_SECONDS: Final = 60
JOB_BACKOFF_SECONDS: Final = 2
"""First delay before a failed job runs again; doubles each time."""
JOBS_PER_UNIT: Final = 4
"""Jobs a worker takes in one transaction; a unit must stay near a millisecond or two."""
QUIET_SECONDS: Final = 0.005
"""How long nobody must have called before background work goes on: a program that writes in a row is not disturbed."""
QUEUED_JOBS: Final = 100_000
"""Most waiting jobs a tenant; more is refused before anything is journaled (D-011)."""
HOT_VECTORS: Final = 32_768
"""Vectors of one index kept in memory once they were compared, at 2 bytes a dimension: 24 MiB at 384 dimensions.

10,000 messages and what is read from them are some 18,000 vectors."""
RESIDENT_TENANTS: Final = 32
RESIDENT_BYTES: Final = 256 << 20
"""Memory that all resident indexes together may take before the least used is dropped."""
RESIDENT_DOCUMENTS: Final = 1_000_000
"""A tenant with more documents is served from the full-text index on disk."""
SNAPSHOT_BLOB_BYTES: Final = 1 << 20
CONTEST_SUPERSESSIONS: Final = 3
"""Supersessions of one slot within CONTEST_DAYS that open a contest (R-085)."""
CONTEST_DAYS: Final = 30
CONTEST_MEMBERS: Final = 6
"""Most values that one question is about; of a slot that changes with every word the newest are asked about."""
ALTERNATION_DAYS: Final = 180
"""A preference that returns within this time opens a contest (R-012)."""
CORE_RECALL_DAYS: Final = 30
"""The window of the recall log that the core is chosen by (S-056)."""
CORE_RECALLED: Final = 100
"""Most memories of the recall log that are looked at; the cap of the core ends their list much earlier."""
CORE_REWRITES: Final = 20
"""Rewrites of the core that are remembered, by the ids of their memories."""
BUSY_TIMEOUT_SECONDS: Final = 30
POLICY_COUNT: Final = 100_000
"""Most expiring memories that a dry run counts."""
POLICY_EVERY_SECONDS: Final = 60
"""How often a worker looks for what has expired."""
POLICY_BATCHES: Final = 4
"""Batches of fifty that it deletes at a time, so that callers do not wait."""
POLICY_DAYS: Final = 36_525
ERASE_PATIENCE_SECONDS: Final = 10
"""How long an erasure waits for readers that keep the write-ahead log from being cut off."""
MCP_LINE_BYTES: Final = 16 << 20
"""Longest message that the MCP server reads: an event of the longest text, escaped, and room to spare."""
IMPORT_ITEM_BYTES: Final = 64 << 20
"""Longest line, or item of a list, that an import reads: a conversation is one, and ten million tokens are 45 MB."""
IMPORT_FILES: Final = 100_000
"""Most files of a folder or zip that one import reads."""
FILES_PAGE_BYTES: Final = 256 << 20
"""Largest page of a synchronised folder that is read."""
FILES_GONE_TOGETHER: Final = 10
"""Entries that may go from a synchronised folder at once without being confirmed."""
UNPACKED_RATIO: Final = 200
"""Talk packs 3 to 20 times smaller; gzip and zip can reach a thousand."""
UNPACKED_FREE_BYTES: Final = 64 << 20
"""What a small file may unpack to before the ratio is looked at."""
UNPACKED_BYTES: Final = 64 << 30
"""Most bytes that one file may unpack to, whatever its size."""
MCP_LAST_ANSWERS_SECONDS: Final = 10
"""How long the MCP server still answers after its input has ended."""
LLM_TEXT_CHARACTERS: Final = 8_000
"""Longest text that a model is asked about; what is longer is a document, and read by rules alone."""
LLM_CONTEXT_TURNS: Final = 4
"""Earlier turns that a model is shown."""
LLM_CONTEXT_CHARACTERS: Final = 600
"""How much of an earlier turn, of a known memory or of a reading it is shown."""
LLM_KNOWN_MEMORIES: Final = 12
"""Most known memories that it is shown."""
LLM_ANSWER_TOKENS: Final = 1_024
"""Bound of one answer (R-048)."""
LLM_ANSWER_CHARACTERS: Final = 32_768
LLM_JUDGEMENT_TOKENS: Final = 2_048
"""Bound of one answer about a group of memories: at most 25 of them."""
LLM_JUDGEMENT_OPERATIONS: Final = 50
LLM_WAIT_SECONDS: Final = 2
"""How long a model that fails is left alone, unless it says; doubles each time."""
LLM_WAIT_SECONDS_MAX: Final = 3_600
LLM_ASKED_WAIT_SECONDS_MAX: Final = 86_400
"""Most of what a model may ask for."""
LLM_DENIED_WAIT_SECONDS: Final = 600
"""How long one is left alone whose key or name must be mended first."""
SPENDS_SHOWN: Final = 100
"""Rows of the ledger of models that are shown: one a day, operation and model."""
PAGE_BYTES: Final = 1 << 20
"""Longest page of the Anthropic memory tool."""
PAGE_STATE_BYTES: Final = 16 << 20
PAGE_STATEMENTS: Final = 1_000
"""Most lines of a page that are taken in as memories."""
PAGES_IN_FOLDER: Final = 1_000
PAGE_PATH_CHARACTERS: Final = 1_024
PAGE_NAME_BYTES: Final = 200
PAGE_DEPTH: Final = 8
PAGE_MATCHES_NAMED: Final = 100
"""Lines that an answer names where a text to be replaced stands in many."""
POOL_SESSIONS: Final = 64
"""Most memories that a pool keeps open for a server or a shim of many users."""
POOL_WAIT_SECONDS: Final = 30.0
"""How long a call waits while a pool has no room."""
