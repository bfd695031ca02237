"""Every bound of the system, in one place; the last word of each name is its unit."""

from __future__ import annotations

from typing import Final

EVENT_TEXT_BYTES: Final = 1 << 20
"""Longest text of one event, UTF-8 encoded."""
MESSAGES_PER_CALL: Final = 1_000
"""Most messages of one `remember`."""
NAME_CHARACTERS: Final = 256
"""Longest topic, session, agent, speaker, tag or idempotency key."""
TAGS: Final = 32
METADATA_BYTES: Final = 16_384
MEMORY_TEXT_CHARACTERS: Final = 2_000
"""Longest text of one memory; extraction stores sentences, so this is generous."""
VERBATIM_CHARACTERS: Final = 500
"""Longest provisional memory when extraction failed (R-050)."""
PASSAGE_TOKENS: Final = 200
"""Longest passage that is indexed as one document."""
PASSAGES_PER_EVENT: Final = 4_095
QUERY_CHARACTERS: Final = 8_192
QUERY_TERMS: Final = 64
TOKENIZER_BYTES: Final = 128 << 20
"""Largest tokenizer file that is read; those of the largest vocabularies have 34 MB."""
SEARCH_LIMIT: Final = 50
"""Most hits of one search (R-112)."""
LIST_LIMIT: Final = 50
LATEST_CHANGES: Final = 200
LIST_OFFSET: Final = 1_000_000
"""Memories that a list may skip; later pages need the cursor."""
CANDIDATES: Final = 200
"""Best documents of each engine that are fused and scored."""
VECTOR_NOMINEES: Final = 1_500
"""Candidate documents by sign bits alone."""
VECTOR_CANDIDATES: Final = 500
"""Documents of these rescored from stored vectors: recall@10 .995 measured."""
TOKEN_TEXT_CHARACTERS: Final = 500
"""Longest text, about 100 tokens, that gets a vector for each token."""
SPELLING_EVENTS: Final = 500
"""Newest events among whose words the near misses of a misspelt question are looked for."""
LATE_CANDIDATES: Final = 100
"""Best candidates whose token vectors are compared: 200 found no more (docs/decisions/0076)."""
QUESTION_VECTORS: Final = 512
"""Query vectors that an open memory caches: 0.8 MiB at 384 dimensions."""
EMBED_REQUEST_TEXTS: Final = 64
"""Most texts sent to an embedding endpoint at once."""
EMBED_REQUEST_CHARACTERS: Final = 100_000
EMBED_TEXT_CHARACTERS: Final = 8_192
"""Most characters of one text that are embedded; passages and memories are shorter."""
EMBED_REQUEST_SECONDS: Final = 10
EMBED_RESPONSE_BYTES: Final = 32 << 20
EMBED_ATTEMPTS: Final = 3
"""Attempts at an endpoint before the job fails and is retried later."""
EMBED_WAIT_SECONDS: Final = 0.5
"""First wait before another attempt, unless the endpoint specifies one; doubles."""
EMBED_WAIT_SECONDS_MAX: Final = 8.0
"""An endpoint that specifies a longer wait fails the job, whose own delay then applies."""
CLAIMS_PER_CALL: Final = 200
"""Most claims that an agent may pass with its messages."""
SLOT_ROWS: Final = 96
"""Most current, and most past, memories of one entity and attribute that reconciliation reads."""
PROFILE_ROWS: Final = 200
"""Newest memories about the user among which a question about the user as a whole is answered."""
SLOT_PAST_ROWS: Final = 12
"""Past memories that suffice for a claim about the present: the latest show alternation."""
EVENTS_LISTED_TOGETHER: Final = 32
"""Events that the full-text index on disk adds at once; fewer pending events are matched one by one."""
GROUP_COMMIT_UNITS: Final = 64
"""Most units that share one commit."""
JOB_LEASE_SECONDS: Final = 60
JOB_BACKOFF_SECONDS: Final = 2
"""First delay before a failed job runs again; doubles each time."""
QUIET_SECONDS: Final = 0.005
"""Time without calls before background work continues, so that a series of writes is not disturbed."""
QUEUED_JOBS: Final = 100_000
"""Most pending jobs of a tenant; more are refused before anything is journaled (D-011)."""
HOT_VECTORS: Final = 32_768
"""Vectors of one index cached after a comparison, at 2 bytes a dimension: 24 MiB at 384 dimensions.

10,000 messages and the memories from them are some 18,000 vectors.
"""
RESIDENT_TENANTS: Final = 32
RESIDENT_BYTES: Final = 256 << 20
"""Memory that all in-memory indexes together may take before the least recently used is dropped."""
RESIDENT_DOCUMENTS: Final = 1_000_000
"""A tenant with more documents is searched in the full-text index on disk."""
SNAPSHOT_BLOB_BYTES: Final = 1 << 20
CONTEST_SUPERSESSIONS: Final = 3
"""Supersessions of one slot within CONTEST_DAYS that open a contest (R-085)."""
CONTEST_DAYS: Final = 30
CONTEST_MEMBERS: Final = 6
"""Most values of one contest; of a slot that changes constantly only the newest are included."""
ALTERNATION_DAYS: Final = 180
"""A preference that returns within this time opens a contest (R-012)."""
RELAYED_EVENTS: Final = 100
"""Earlier events in which the origin of a statement by a model is looked for."""
BURST_CALLS: Final = 60
"""Calls of a model to one session within BURST_SECONDS after which its statements are held back."""
BURST_SECONDS: Final = 60
BURST_SESSIONS: Final = 256
"""Sessions whose calls are counted; of the others the journal tells."""
CORE_RECALL_DAYS: Final = 30
"""The window of the recall log from which the core is chosen (S-056)."""
CORE_RECALLED: Final = 100
"""Most memories of the recall log that are considered; the cap of the core ends their list much earlier."""
CORE_REWRITES: Final = 20
"""Rewrites of the core that are stored, by the ids of their memories."""
BUSY_TIMEOUT_SECONDS: Final = 30
POLICY_COUNT: Final = 100_000
"""Most expiring memories that a dry run counts."""
POLICY_EVERY_SECONDS: Final = 60
"""How often a worker checks for expired rows."""
POLICY_BATCHES: Final = 4
"""Batches of fifty that it deletes at a time, so that callers do not wait."""
POLICY_DAYS: Final = 36_525
ERASE_PATIENCE_SECONDS: Final = 10
"""How long an erasure waits for readers that prevent the truncation of the write-ahead log."""
MCP_LINE_BYTES: Final = 16 << 20
"""Longest message that the MCP server reads: an event of the longest text, escaped, with a margin."""
IMPORT_ITEM_BYTES: Final = 64 << 20
"""Longest line, or list item, that an import reads: a conversation is one, and ten million tokens are 45 MB."""
IMPORT_FILES: Final = 100_000
"""Most files of a folder or zip that one import reads."""
FILES_PAGE_BYTES: Final = 256 << 20
"""Largest page of a synchronised folder that is read."""
FILES_GONE_TOGETHER: Final = 10
"""Entries that may be missing from a synchronised folder at once without a confirmation."""
UNPACKED_RATIO: Final = 200
"""Conversations compress 3 to 20 times; gzip and zip can reach a thousand."""
UNPACKED_FREE_BYTES: Final = 64 << 20
"""Unpacked size of a small file up to which the ratio is not checked."""
UNPACKED_BYTES: Final = 64 << 30
"""Most bytes that one file may unpack to, whatever its size."""
MCP_LAST_ANSWERS_SECONDS: Final = 10
"""How long the MCP server still answers after its input has ended."""
MCP_SESSIONS: Final = 1_000
"""Most sessions of MCP clients that a server has open at a time."""
MCP_SESSION_IDLE_SECONDS: Final = 1_800
"""After how long without a request such a session ends."""
MCP_ANSWER_SECONDS: Final = 600
"""How long a call waits for its user's answer to a question."""
LLM_TEXT_CHARACTERS: Final = 24_000
"""Longest text that is sent to a model; a longer text is a document, which the reader alone reads."""
LLM_CONTEXT_TURNS: Final = 4
"""Earlier messages that a model gets."""
LLM_CONTEXT_CHARACTERS: Final = 600
"""Most characters of a memory that a model consolidates."""
LLM_BEFORE_CHARACTERS: Final = 300
"""Most characters of an earlier message, or of a known memory, that a model gets beside a passage."""
LLM_PASSAGE_TURNS: Final = 12
"""Most messages that one question to a model is about."""
LLM_PASSAGE_CHARACTERS: Final = 3_000
"""Length from which a passage takes no further message."""
LLM_CONTINUATIONS: Final = 3
"""How often a model is asked for further claims of one passage."""
LLM_KNOWN_MEMORIES: Final = 12
"""Most known memories that a model gets beside a short message."""
LLM_KNOWN_MEMORIES_MAX: Final = 40
"""Most known memories that a model gets beside a long passage."""
LLM_OWN_MEMORIES: Final = 80
"""A model gets every current slot of the speakers while they are fewer."""
LLM_PROBED_MEMORIES: Final = 12
"""Most memories that a model compares with an older one."""
LLM_ANSWER_TOKENS: Final = 1_024
"""Bound of one answer (R-048)."""
LLM_ANSWER_CHARACTERS: Final = 32_768
LLM_JUDGEMENT_TOKENS: Final = 2_048
"""Bound of one answer about a group of memories: at most 25 of them."""
LLM_JUDGEMENT_OPERATIONS: Final = 50
LLM_WAIT_SECONDS: Final = 2
"""Pause after a failure of a model, unless it specifies one; doubles each time."""
LLM_WAIT_SECONDS_MAX: Final = 3_600
LLM_ASKED_WAIT_SECONDS_MAX: Final = 86_400
"""Longest pause that a model may specify."""
LLM_DENIED_WAIT_SECONDS: Final = 600
"""Pause for a model whose key or name must be corrected first."""
SPENDS_SHOWN: Final = 100
"""Rows of model costs that are reported: one per day, operation and model."""
ITEM_BYTES: Final = 1 << 20
"""Longest value that a program keeps beside the beliefs, as JSON."""
PAGE_BYTES: Final = 1 << 20
"""Longest page of the Anthropic memory tool."""
PAGE_STATEMENTS: Final = 1_000
"""Most lines of a page that are stored as memories."""
PAGES: Final = 10_000
"""Most pages of programs in the directory of a memory."""
PAGE_PATH_CHARACTERS: Final = 1_024
PAGE_NAME_BYTES: Final = 200
PAGE_DEPTH: Final = 8
PAGE_MATCHES_NAMED: Final = 100
"""Lines that an answer lists if a text to be replaced occurs in many."""
POOL_WAIT_SECONDS: Final = 30.0
"""How long a call waits while a pool has no room."""
HTTP_BODY_BYTES: Final = 4 << 20
"""Longest JSON body of a request."""
HTTP_UPLOAD_BYTES: Final = 256 << 20
"""Largest file that is uploaded for an import."""
HTTP_REQUESTS_A_SECOND: Final = 200.0
"""Requests of a caller with a token, on average; twice as many may come at once."""
HTTP_TENANT_RATE: Final = 2.0
"""How many times as many all callers of one user may send together."""
AUDIT_WAITING: Final = 10_000
"""Calls that wait for their audit record; beyond them a server refuses calls."""
AUDIT_STRANGERS: Final = 120
"""Records of refused calls without a known caller that are written one by one at once; then one a second."""
AUDIT_IDS: Final = 100
"""Ids that a record names; further ones are counted."""
AUDIT_LAST_ATTEMPTS: Final = 5
"""Attempts of a server that stops to write its last audit records."""
AGENT_TASKS: Final = 10_000
"""Tasks of other agents that are kept for a user."""
AGENT_WAIT_SECONDS: Final = 20.0
"""How long an answer to another agent waits for its task, and how long a stream of its events lasts."""
AGENT_ID_CHARACTERS: Final = 120
"""Longest id that another agent may give a message or a context."""
HTTP_CALL_SECONDS: Final = 30.0
"""Longest call to a server (R-196)."""
HTTP_MAINTENANCE_SECONDS: Final = 600.0
"""Longest call that needs the scope memory:admin or memory:erase, or that carries a file."""
HTTP_HEAD_SECONDS: Final = 10.0
"""Time in which the head of a request must arrive."""
HTTP_SEND_SECONDS: Final = 30.0
"""How long a client may leave an answer unread."""
HTTP_READ_SECONDS: Final = 30
"""Time in which a body must arrive."""
HTTP_CALLS: Final = 16
"""Calls that a server carries out at a time, each in a thread."""
HTTP_WAITING: Final = 256
"""Calls that may wait for one of these threads; more are refused with 503."""
HTTP_MEMORY_WAIT_SECONDS: Final = 5.0
"""How long a call waits for room among the open memories."""
HTTP_DRAIN_SECONDS: Final = 30
"""How long a server that stops waits for its last answers."""
HTTP_CONNECTIONS: Final = 1_024
HTTP_REPLAYS: Final = 4_096
"""Answers that are kept for repeated requests."""
HTTP_REPLAY_SECONDS: Final = 86_400
HTTP_REPLAY_CHARACTERS: Final = 65_536
"""Longest answer that is kept for them."""
OAUTH_BODY_BYTES: Final = 32 << 10
"""Longest body of a registration, a form, or a request for tokens."""
OAUTH_REQUESTS: Final = 120
"""Requests to the pages of OAuth and the login that an address may send at once."""
OAUTH_REQUESTS_RATE: Final = 2.0
"""Requests a second to these pages that an address may send on average."""
HTTP_FAILED_TOKENS: Final = 20
"""Wrong tokens that an address may send at once."""
HTTP_FAILED_TOKENS_RATE: Final = 0.2
"""And on average, a second; while an address has sent more, only known tokens are looked at."""
HTTP_DEPTH: Final = 32
"""Most levels of lists and objects in a JSON body."""
HTTP_BATCH: Final = 1_000
"""Most items of one list, or fields of one object, in a JSON body."""
HTTP_STREAM_SECONDS: Final = 25.0
"""How long the events of a job are sent over one connection; then the client connects again."""
HTTP_STREAMS: Final = 32
"""Connections of one user over which events of jobs are sent at a time."""
HTTP_EVENT_SECONDS: Final = 0.5
"""How often the state of a job is read for them."""
CALLS_WAITING: Final = 100
"""Most calls of operations that wait in the background for one user."""
CALL_RESULT_CHARACTERS: Final = 1 << 20
"""Longest result of such a call that is kept, as JSON."""
CALL_KEPT_DAYS: Final = 30
"""How long that result is kept."""
SCORED_CHARACTERS: Final = 100_000
"""Longest response, or context, that is scored."""
SCORED_CLAIMS: Final = 500
COMPLIANCE_PAGE: Final = 1_000
"""Rows of a compliance report that are read at a time."""
WAITING_MESSAGES_COUNTED: Final = 100
"""Waiting jobs that a search looks at: it must not become slower by what waits."""
MIGRATION_SEARCHES: Final = 5
"""Searches of each user that a migration runs in both databases."""

DELETION_NAMES: Final = 50
"""Memories of each kind that a plan or report of a deletion names; the totals count them all."""
