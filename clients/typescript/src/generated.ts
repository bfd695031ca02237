// Generated from the OpenAPI document by scripts/generate_typescript.py; do not edit.
// Field names and times are those of the HTTP interface: snake_case, and RFC 3339 in UTC.

/** A value of JSON. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** An error (RFC 9457): what happened, why, and what to do. */
export interface Problem {
  type?: string;
  /** What happened. */
  title: string;
  /** The HTTP status. */
  status: number;
  /** Why it happened. */
  detail?: string;
  /** The kind of error, for programs. */
  code: string;
  /** Whether the same request may succeed later. */
  retryable: boolean;
  /** What to do. */
  fix?: string;
  ids?: Record<string, string>;
}

/** The acknowledgement of `remember`: the events are on disk. `queued` means that extraction will follow, `cached` that an earlier call with the same idempotency key stored the events. `refused` lists the messages that were not stored, and the reasons; `unread` the parts of stored messages from which no claims are extracted because they are too long, and which search finds all the same, and what keeps all messages from being read. `claims` has the results of the claims that were passed. */
export interface Receipt {
  job_id: string | null;
  event_ids: string[];
  queued: boolean;
  cached: boolean;
  refused: string[];
  unread: string[];
  claims: ClaimReceipt[];
}

/** The result of one claim of a calling agent. `outcome` is kept, confirmed (a memory has it already) or refused; `understood` is the claim as it is believed, such as "user residence: Graz"; `replaced` are the ids of the memories whose place it took. `reason` says why it was refused or changed, or why it does not stand alone (it is challenged, contested or quarantined). */
export interface ClaimReceipt {
  /** The place of the claim in the call, from 1. */
  number: number;
  outcome: string;
  understood: string;
  memory_id: string | null;
  replaced: string[];
  reason: string;
}

/** Hits, best first; `abstained` means that nothing of the question is known, and then there are none. `probability`, in [0, 1], estimates whether the memory holds an answer. `nearest` are up to five near misses of a search that abstained. `trace` describes how the search ran. `waiting` counts messages that are not read yet, at most 100: search finds their words, but no memories exist for them. */
export interface SearchResult {
  hits: Hit[];
  abstained: boolean;
  took_ms: number;
  trace: Record<string, Json>;
  waiting: number;
  probability: number;
  nearest: Hit[];
}

/** One result. Exactly one of `memory` and `event` is set, according to `kind`. The text of a memory is its statement, see `Memory.statement`, with days in the zone of the query; `quote` has the words that it was read from. `score` is in [0, 1] and comparable across queries; `terms` lists every summand if `explain` was set. `evidence` are the source events of a memory, oldest first; `flags` are warnings about its status. `newer` is the id of a hit of the same result that may state a newer value of the same thing; it stands before this one. */
export interface Hit {
  id: string;
  kind: "memory" | "event";
  text: string;
  score: number;
  memory: Memory | null;
  event: Event | null;
  evidence: Event[];
  flags: Array<"contested" | "challenged" | "stale" | "low_confidence" | "superseded">;
  terms: Record<string, number>;
  newer: string | null;
}

/** One version of a belief. A memory keeps its id through all its versions; `version` counts them. A version was believed from `recorded_at` until `expired_at` (None: still believed). `valid_from` and `valid_until` delimit when it was true. */
export interface Memory {
  id: string;
  text: string;
  type: MemoryType;
  topic: string | null;
  entity: string | null;
  attribute: string | null;
  value: string | null;
  scope: string | null;
  cardinality: Cardinality;
  stance: Stance;
  speaker: string;
  confidence: number;
  importance: number;
  layer: Layer;
  status: Status;
  /** The time from which it was true; None if it never was. */
  valid_from: string | null;
  /** The time at which it stopped being true; None while it is true, and if it never was. */
  valid_until: string | null;
  trust: number;
  pinned: boolean;
  provisional: boolean;
  source_session: string;
  tags: string[];
  metadata: Record<string, Json>;
  /** The time at which it expires and is deleted. */
  expires_at: string | null;
  version: number;
  /** The recording time of the first version. */
  created_at: string;
  /** The recording time of this version. */
  recorded_at: string;
  /** The time at which the next version replaced this one; None for the current version. */
  expired_at: string | null;
  relation: Relation | null;
  superseded_by: string | null;
  contested: boolean;
  confirmations: number;
  base_importance: number;
  surprise: number | null;
  emotional_valence: number | null;
  /** The time at which a search last returned it. */
  last_accessed: string | null;
  access_count: number;
  decay_score: number | null;
  /** Whether its own words have ended it by now, as those of a past appointment; known where it is read by time. */
  over: boolean;
  /** Whether the day of a planned move, job or marriage has passed and nothing tells what came of it; known likewise. */
  due: boolean;
  /** The memory as one line that stands alone, with days in UTC; "" if its words were deleted. */
  statement: string;
  /** The words of the message that it was read from. */
  quote: string;
  /** The engram type: fact, procedure (standing instructions too) or narrative. */
  memory_type: string;
}

/** The kind of belief; a narrative comes only from an import or `store`. */
export type MemoryType = "preference" | "fact" | "decision" | "procedure" | "narrative";

/** How many values a slot can have at a time. */
export type Cardinality = "single" | "set";

/** The stance of the speaker to the statement. */
export type Stance = "asserted" | "negated" | "reported" | "planned" | "considered" | "hypothetical" | "role_play" | "sarcastic";

/** The expected lifetime of a memory (E-001…E-005). */
export type Layer = "working" | "episodic" | "semantic" | "procedural" | "codebase";

/** The status of a memory (E-015…E-019); `deleted` keeps the row, never the text. */
export type Status = "active" | "challenged" | "candidate" | "superseded" | "merged" | "invalidated" | "archived" | "forgotten" | "deleted";

/** The reason of a replacement: `changed` (both true in their time), `corrected` (the old one was wrong) etc. */
export type Relation = "corrected" | "changed" | "refined" | "merged" | "duplicate";

/** One verbatim input in the journal, immutable except for redaction. */
export interface Event {
  id: string;
  text: string;
  role: Role;
  speaker: string;
  source: Source;
  trust: number;
  topic: string | null;
  session: string;
  agent: string;
  external_id: string | null;
  /** The time of the statement. */
  occurred_at: string;
  flags: string[];
  tags: string[];
  metadata: Record<string, Json>;
  expires_at: string | null;
  /** The time of its recording. */
  recorded_at: string;
  redacted_at: string | null;
}

/** The role of the speaker: the tenant, the assistant, another person, or a document. */
export type Role = "user" | "assistant" | "person" | "document";

/** The input channel of an event. */
export type Source = "human" | "ai" | "interaction" | "ingest" | "code_scan" | "dream" | "file";

/** A block for a prompt, fenced as data, never above its budget of `tokens`. `counted_by` is the token counter: "estimate", or the name of the tokenizer. `probability` is that of the search; hits take a part of the budget that grows with it. `waiting` counts messages that are not read yet, at most 100. */
export interface Context {
  text: string;
  hits: Hit[];
  tokens: number;
  abstained: boolean;
  counted_by: string;
  waiting: number;
  probability: number;
}

/** One page of a list, and the cursor of the next page (None at the end). */
export interface MemoryPage {
  items: Memory[];
  next_cursor: string | null;
}

/** An event, and the memories that rest on it. */
export interface EventDetails {
  event: Event;
  memories: Memory[];
}

/** The reasons for a memory: its evidence as (event, start, end), and every change to it, oldest first. Changes by which others ended for it are among them, so that it can be undone from here. `authors` are the members who wrote these events and made these changes, by id; in a shared memory alone. */
export interface Explanation {
  memory: Memory;
  evidence: QuotedEvidence[];
  changes: ChangeRecord[];
  authors?: Record<string, string>;
  earned?: EarnedImportance;
}

/** A span of an event, with its words. */
export interface QuotedEvidence {
  event: Event;
  start: number;
  end: number;
  quote: string;
}

/** An applied change in the log. `before` and `after` hold only the changed fields; `cause` is the event or job behind the change, or the reverted change for an `undo`. `support` is the evidence added with it, None in logs older than that field. Journal and log together suffice to rebuild every memory. */
export interface ChangeRecord {
  id: string;
  kind: ChangeKind;
  actor: Actor;
  reason: string;
  /** The time of its application. */
  at: string;
  memory_id: string | null;
  cause: string | null;
  before: Record<string, Json>;
  after: Record<string, Json>;
}

/** The kind of a change in the log. */
export type ChangeKind = "add" | "confirm" | "supersede" | "contest" | "resolve" | "set_status" | "set_layer" | "pin" | "forget" | "restore" | "delete" | "rebuild" | "revise" | "link" | "retag" | "undo";

/** The author of a change. */
export type Actor = "rule" | "model" | "user" | "schedule" | "dream" | "file";

/** The importance that a memory has earned: nine factors in [0, 1], what each adds, and their sum. Computed whenever it is shown, and stored nowhere (docs/explanation/lifecycle.md). */
export interface EarnedImportance {
  score: number;
  factors: Record<string, number>;
  terms: Record<string, number>;
}

/** One value that a slot has had. */
export interface SlotVersion {
  memory_id: string;
  text: string;
  value: string | null;
  scope: string | null;
  status: Status;
  relation: Relation | null;
  superseded_by: string | null;
  reason: string;
  /** The time from which it was true; None if it never was. */
  valid_from: string | null;
  /** The time at which it stopped being true; None if it never was true. */
  valid_until: string | null;
  /** The time of its recording. */
  recorded_at: string;
}

/** The differences in belief between two times, in chronological order. The axis `known` compares the beliefs held at the two times, `valid` the values true at them as known now. `counts` has the number of each kind. */
export interface Diff {
  axis: "known" | "valid";
  /** The earlier time. */
  since: string;
  /** The later time. */
  until: string;
  differences: Difference[];
  counts: Record<string, number>;
}

/** One belief that differs: `memory` at the later time, `previous` its predecessor. A deleted memory has no words. `confirmations` counts repeated statements between the two times, `reason` and `at` belong to the deciding change, and `changes` are the ids of all changes to it. */
export interface Difference {
  kind: DifferenceKind;
  memory: Memory;
  previous: Memory | null;
  confirmations: number;
  reason: string;
  /** The time of the difference: of its recording, or on the axis `valid` the start of its validity. */
  at: string;
  changes: string[];
}

/** The kind of a difference: `changed` and `corrected` beliefs have a successor, `ended` ones have none. */
export type DifferenceKind = "changed" | "corrected" | "merged" | "added" | "restored" | "ended" | "deleted" | "contested" | "resolved" | "doubted" | "confirmed";

/** Memories that match conditions, newest first, and how many of them have each value of a facet. `facets` maps the name of a facet to its values and their counts, the most frequent first. `counted` memories match in all; `has_more` says that some follow these. `said` is the time of the message that has the words of a memory, by its id; a memory without a message has none. */
export interface Browse {
  items: Memory[];
  counted: number;
  has_more: boolean;
  facets: Record<string, Record<string, number>>;
  /** How many of them are believed and were never returned by a search, though they are older than a week. */
  never_used: number;
  said: Record<string, string>;
}

/** The sessions that got a memory, the latest first, and all feedback on it. */
export interface MemoryUses {
  id: string;
  uses: MemoryUse[];
  feedback: FeedbackCounts;
}

/** A session that got a memory on a day: how often, and 1 or −1 with feedback. */
export interface MemoryUse {
  session: string;
  at: string;
  shown: number;
  useful: number;
}

/** Feedback on a memory: useful, useless, and impressions without feedback, as sessions and days. */
export type FeedbackCounts = Json[];

/** One page of a list, and the cursor of the next page (None at the end). */
export interface SessionSummaryPage {
  items: SessionSummary[];
  next_cursor: string | null;
}

/** A session: when it was, how many messages it has, and how many memories rest on them. */
export interface SessionSummary {
  session: string;
  first_at: string;
  last_at: string;
  messages: number;
  memories: number;
}

/** The messages of a session, oldest first, and the memories that rest on them. `has_more` says that the session has more messages than are shown. */
export interface SessionDetails {
  session: string;
  events: Event[];
  learned: LearnedMemory[];
  has_more: boolean;
}

/** A memory, and the events of a session on which it rests. */
export interface LearnedMemory {
  memory: Memory;
  event_ids: string[];
}

/** What a deletion removed: memories, and words in events. It holds no deleted words. */
export interface DeletionReceipt {
  id: string;
  events: number;
  memories: number;
  /** The ids of memories that held the words, or were written from them, and stayed without them. */
  kept: string[];
  /** The ids of memories that were deleted too; the plan gives the reason of each. */
  taken: string[];
  /** The ids of memories that name a deleted value in their text or in a reason, and stayed as they are. */
  mentions: string[];
  /** Whether the write-ahead log was cut off. Otherwise a reader keeps the words there until it ends; the next commit tries again. */
  log_emptied: boolean;
  done: string;
}

/** A contest: the alternating values, the memories that hold them, and the question for the person. */
export interface ContestCase {
  id: string;
  speaker: string;
  entity: string;
  attribute: string;
  scope: string | null;
  values: string[];
  memory_ids: string[];
  state: ContestState;
  question: string;
  /** The time of its opening. */
  opened_at: string;
  resolved_at: string | null;
  resolution: string | null;
  scopes: Record<string, string>;
}

/** Whether the question is still open. */
export type ContestState = "open" | "resolved";

/** A contest with its answer. */
export interface Resolution {
  contest: ContestCase;
  memory_ids: string[];
}

/** The outcome of some messages. `state` is queued, running, done, or failed where a job was given up. `memories` are those that rest on the messages, without deleted ones; `contradictions` are the undecided ones among them. */
export interface Outcome {
  state: string;
  events: Event[];
  memories: Memory[];
  contradictions: Contradiction[];
}

/** Values of one slot that exclude each other, and the question for the user. `id` is that of an open contest, or of the memory that contradicts earlier ones; `resolve` takes both. `values` are the values, the earliest first. */
export interface Contradiction {
  id: string;
  entity: string;
  attribute: string;
  scope: string | null;
  values: string[];
  question: string;
}

/** A slot whose value was replaced repeatedly within a period, with its values, oldest first. `superseded_count` counts the replacements in that period, including those that a contest prevented; `contest_id` is the open contest about the slot, if any. */
export interface SlotLoop {
  speaker: string;
  entity: string;
  attribute: string;
  scope: string | null;
  superseded_count: number;
  first_seen_at: string;
  last_superseded_at: string;
  values: string[];
  contest_id: string | null;
}

/** One status change of a memory; the first has no `previous`. */
export interface StatusStep {
  new: Status;
  old: Status | null;
  kind: ChangeKind;
  actor: Actor;
  reason: string;
  /** The time of the change. */
  changed_at: string;
  change_id: string;
}

/** The result of an undo, or its preview (`ran` is False for a dry run). `undone` are ids of changes, newest first; `conflicts` later changes in the way, listed by a dry run only; `lasting` changes that cannot be undone, because their words were deleted. `changes` are the logged changes. */
export interface UndoReport {
  ran: boolean;
  undone: string[];
  memories: UndoneMemory[];
  conflicts: ChangeRecord[];
  lasting: string[];
  changes: ChangeRecord[];
}

/** A memory before and after: the changed fields, by name. */
export interface UndoneMemory {
  id: string;
  before: Record<string, Json>;
  after: Record<string, Json>;
}

/** The memories that a `delete_where` concerns: the first fifty of each kind, and totals. Only a dry run has their texts; otherwise the report holds no deleted words. */
export interface DeletionReport {
  events: number;
  /** All memories that are deleted. */
  memories: number;
  /** Whether nothing was deleted. */
  dry_run: boolean;
  /** Memories that hold the words, or were written from them, and stay, with what remains of their texts. */
  kept: SharedMemory[];
  kept_total: number;
  /** The memories that are deleted. */
  taken: SharedMemory[];
  /** Memories that name a deleted value in their text or in a reason, and stay as they are. */
  mentions: SharedMemory[];
  mentions_total: number;
  /** Whether the write-ahead log was cut off. Otherwise a reader keeps the words there until it ends. */
  log_emptied: boolean;
  /** The moment that `before` named. */
  before_at: string | null;
}

/** Another memory with the words: its text, and the text that it has left; "" if it is deleted too. */
export interface SharedMemory {
  id: string;
  text: string;
  left: string;
  /** Why it would be deleted too. */
  reason: string;
}

/** What deleting one memory or event would remove: memories, and words in events. Nothing was deleted. */
export interface DeletionPlan {
  id: string;
  text: string;
  events: number;
  memories: number;
  dry_run: boolean;
  /** The words that would be blanked in events that keep others. */
  blanked: BlankedWords[];
  /** Memories that hold the words, or were written from them, and stay, with what remains of their texts. */
  kept: SharedMemory[];
  /** Memories that would be deleted too, each with the reason. */
  taken: SharedMemory[];
  /** Memories that name a deleted value in their text or in a reason, and stay as they are. */
  mentions: SharedMemory[];
}

/** Words of an event that a deletion blanks. */
export interface BlankedWords {
  event_id: string;
  words: string;
}

/** The result of an erasure and of its proof, which succeeded if `remaining_matches` is 0. */
export interface EraseReceipt {
  /** Rows deleted; 0 for a user who never wrote or was erased before. */
  rows: number;
  /** Pieces of erased words, vectors and keys that were searched for in every byte of the file and its log. */
  windows_searched: number;
  /** The number of them that were still found. */
  remaining_matches: number;
  /** Rows by table. */
  tables: Record<string, number>;
  /** Whether the write-ahead log was truncated. If a reader of another process prevented it, erase again. */
  log_emptied: boolean;
  /** The databases and backups whose erasure ledger could not be written yet, with the reason; it is tried again. Until then, restoring such a backup erases the user only over or beside a database that has this erasure. */
  owed: Record<string, string>;
  /** Whether the erasure is on record. Of a user whom this database never had none is, and a backup brings it back. */
  listed: boolean;
}

/** A policy that deletes events older than `days` days: all of them, or those of a topic. Stored with `days` = 0 it removes the policy of that topic. */
export interface RetentionPolicy {
  topic: string | null;
  days: number;
  /** The time from which it applies. */
  set_at: string;
}

/** Counts of expired rows that were deleted. */
export interface ExpiryReport {
  ran: boolean;
  /** The reason why nothing was done. */
  reason: string | null;
  events: number;
  memories: number;
  /** Whether a bound stopped it early; the next call continues. */
  more: boolean;
  dry_run: boolean;
}

/** A legal hold: its reason, its start and its end; stored with `lifted_us`, it lifts the one in force. */
export interface LegalHold {
  reason: string;
  /** The time from which it applies. */
  set_at: string;
  /** The time of its lift; None while it is in force. */
  lifted_at: string | null;
  lifted_reason: string | null;
}

/** The current core: never more than `tokens_max` tokens, nor `lines_max` lines. `text` is the block for the prompt, fenced as data; "" if no memory qualifies. `left_out` lists instructions, pins and identity that did not fit. `diff` compares the last rewrite with the one before: `rewritten` tells whether this call made it; `rewrites` counts the stored rewrites. */
export interface Core {
  text: string;
  lines: CoreLine[];
  tokens: number;
  tokens_max: number;
  lines_max: number;
  left_out: string[];
  diff: CoreDiff;
  rewritten: boolean;
  rewrites: number;
  /** The time of the last rewrite; a core that was never stored is as of now. */
  rewritten_at: string;
  /** The time of the rewrite that `diff` compares with; None for the first one. */
  previous_at: string | null;
  /** The token counter: "estimate", or the name of the tokenizer. */
  counted_by: string;
}

/** One line of the core: its memory and version, and its section. `text` is the whole line of the prompt; "" if the line was removed and its words were deleted since. */
export interface CoreLine {
  section: Section;
  memory_id: string;
  version: number;
  text: string;
  reason: string;
}

/** The reason why a memory is in the core; a memory has one section, the first that it qualifies for. */
export type Section = "instruction" | "pinned" | "identity" | "recalled";

/** The changes of a rewrite against the one before: lines added, removed, and reworded as (before, after). */
export interface CoreDiff {
  added: CoreLine[];
  removed: CoreLine[];
  reworded: Json[][];
}

/** The result of a decay run, or its preview: examined memories, and those with changed scores. `moves` lists them in a dry run; otherwise only their number is reported. */
export interface DecayReport {
  examined: number;
  updated: number;
  profile: string;
  dry_run: boolean;
  ran: boolean;
  reason: string;
  moves: ScoreMove[];
}

/** A changed retention score, in [0, 1]; `before` is None if there was none yet. */
export interface ScoreMove {
  memory_id: string;
  before: number | null;
  after: number;
}

/** The memories that moved to another layer or were archived, or would be: one line each. */
export interface LifecycleReport {
  examined: number;
  promoted: number;
  archived: number;
  dry_run: boolean;
  ran: boolean;
  reason: string;
  changes: Array<Revise | Link | Add | Confirm | Supersede | Contest | Resolve | SetStatus | SetLayer | Pin | Retag | Forget | Restore | Delete | Undo>;
}

/** Set a memory to the state that a rebuild from the journal derives: `fields` by name. A successor is an id or an `Add` key. `support` is the missing evidence. */
export interface Revise {
  memory_id: string;
  fields: Record<string, Json>;
  reason: string;
  support: Support[];
}

/** The evidence for a memory in one event: span, hash of the claim (16 bytes), and version of the extractor. */
export interface Support {
  span: Span;
  claim_hash: number[];
  reader: string;
}

/** Characters [start, stop) of an event's text. */
export interface Span {
  event_id: string;
  start: number;
  stop: number;
}

/** Record that similar memories stay separate: the log names each with the others, and no field changes. */
export interface Link {
  memory_ids: string[];
  reason: string;
}

/** Add a new memory. `key` ("new:…") identifies it inside this batch. */
export interface Add {
  key: string;
  draft: Draft;
  support: Support[];
  reason: string;
}

/** A memory without an id yet: content, slot, confidence and validity. `entity`, `attribute` and `scope` are stored as shown; slots compare their normal forms. Times are microseconds UTC; None in `valid_from_us` means valid from the time of the statement; of what had ended by then, that its start is unknown. */
export interface Draft {
  text: string;
  type: MemoryType;
  topic: string | null;
  entity: string | null;
  attribute: string | null;
  value: string | null;
  scope: string | null;
  cardinality: Cardinality;
  stance: Stance;
  speaker: string;
  confidence: number;
  importance: number;
  layer: Layer;
  status: Status;
  valid_from: string | null;
  valid_until: string | null;
  trust: number;
  pinned: boolean;
  provisional: boolean;
  source_session: string;
  tags: string[];
  metadata: Record<string, Json>;
  expires_at: string | null;
}

/** Count one more independent statement of a memory; the memory is not copied. */
export interface Confirm {
  memory_id: string;
  support: Support[];
  reason: string;
}

/** Replace a memory. `successor` is an id or an `Add` key, or None if its value only ended. With `start_unknown` it was true before the time at which it was told, and nothing says since when. */
export interface Supersede {
  memory_id: string;
  successor: string | null;
  relation: Relation;
  valid_until: string;
  reason: string;
  start_unknown: boolean;
}

/** Open a contest: flag the named memories, make them active, and store the question. */
export interface Contest {
  slot: Slot;
  memory_ids: string[];
  values: string[];
  question: string;
  reason: string;
}

/** The key under which at most one value, or one set of values, is believed. All parts are normal forms; `speaker` is the person whose belief it is ("user" for the tenant). */
export type Slot = Json[];

/** The types that share slots: facts and preferences do, decisions and procedures have their own. */
export type TypeClass = "belief" | "decision" | "procedure";

/** Close a contest with an answer; the flags of its memories are cleared. `scopes` gives each remaining value its scope ("default" for none); `keep` lists the memories that stay. */
export interface Resolve {
  contest_id: string;
  resolution: string;
  scopes: Record<string, string>;
  keep: string[];
  reason: string;
}

/** Move a memory to another status that the table of transitions allows. `trust`, if set, raises the memory's trust to that of the corroborating source. */
export interface SetStatus {
  memory_id: string;
  status: Status;
  reason: string;
  trust: number | null;
}

/** Move a memory to another layer. */
export interface SetLayer {
  memory_id: string;
  layer: Layer;
  reason: string;
}

/** Pin or unpin a memory: pinned memories are in every context and never decay. */
export interface Pin {
  memory_id: string;
  pinned: boolean;
  reason: string;
}

/** Replace the metadata of a memory; its content stays the same. */
export interface Retag {
  memory_id: string;
  metadata: Record<string, Json>;
  reason: string;
}

/** Take a memory out of use; `Restore` brings it back unchanged. */
export interface Forget {
  memory_id: string;
  reason: string;
}

/** Bring back a forgotten memory with its previous status. */
export interface Restore {
  memory_id: string;
  status: Status;
  reason: string;
}

/** Redact a memory permanently and add its tombstone. Cannot be undone. */
export interface Delete {
  memory_id: string;
  reason: string;
}

/** Revert the logged change `undoes`: `back` holds the previous values of the memory's fields. `contest` is the previous state of the contest, if the change was about one; a change refers to a memory or to a contest. An `Undo` is logged with the reverted change's id as its cause, and can be undone as well. */
export interface Undo {
  undoes: string;
  memory_id: string | null;
  back: Record<string, Json>;
  reason: string;
  contest: ContestCase | null;
}

/** The result of a consolidation, or its preview (`dry_run`); nothing is lost, and `undo` reverts it. `groups_found` counts groups with a verdict (names of R-110), `memories_consolidated` memories that others replace (`deleted_ids`; they stay as merged, superseded or duplicates), `memories_created` new texts (`created`). `judge` is "rules" or the model. `examined` counts new memories that were compared, `linked` groups that stay linked. The next run retries `failed` groups; `quarantined` memories failed three times and are left out. `refused` counts proposals of a model that failed the checks. `changes` are the logged changes, without links, which `why` shows. `took_over` means that an earlier run was killed and its lock taken over at once. */
export interface ConsolidationReport {
  ran: boolean;
  reason: string;
  dry_run: boolean;
  judge: string;
  groups: ConsolidationGroup[];
  groups_found: number;
  memories_consolidated: number;
  memories_created: number;
  deleted_ids: string[];
  created: string[];
  examined: number;
  linked: number;
  failed: number;
  refused: number;
  quarantined: string[];
  changes: ChangeRecord[];
  took_over: boolean;
}

/** Memories that were judged together, and the verdict on some of them. `ids` and `texts` belong to the verdict. `verdict` is `merge` (one text replaces all), `change` (one entry has the present and the former value), `correction`, `duplicate`, `keep` (similar, but all stay, linked), `refused` (the proposal of a model failed a check) or `failed`. `proposed` is the text that replaces them, or that of the remaining memory; None if nothing changes. */
export interface ConsolidationGroup {
  ids: string[];
  texts: string[];
  verdict: string;
  proposed: string | null;
  /** The memories that are, or would be, replaced. */
  gone: string[];
  /** The created memory; None in a dry run. */
  created: string | null;
  reason: string;
}

/** A job: it processes messages, or calls an operation. */
export interface JobInfo {
  id: string;
  /** What it does: extract, embed, think, reread or keep for messages; call for an operation. */
  kind: string;
  state: JobState;
  /** The operation that a job of the kind `call` calls. */
  operation: string | null;
  /** How many messages it is for. */
  messages: number;
  attempts: number;
  /** How much of the work is done, in units of the operation; 0 where it does not say. */
  done: number;
  total: number | null;
  /** Why the last attempt failed. */
  error: string;
  /** What the operation gave. It goes when anything of the user is deleted, because it may quote that. */
  result: Record<string, Json> | null;
  created_at: string;
  updated_at: string;
  next_attempt_at: string | null;
}

/** The state of a job. */
export type JobState = "queued" | "processing" | "failed" | "complete" | "dead" | "cancelled";

/** The result of a dream, step by step, and `brief`, a summary in a few lines. `ran` is False, with the `reason`, while another process was dreaming. `changed` counts the changes and moved scores: 0 if a run found nothing to do. `took_over` means that an earlier run on this machine was killed and its lock taken over at once. */
export interface DreamReport {
  ran: boolean;
  dry_run: boolean;
  steps: DreamStep[];
  changed: number;
  brief: string;
  reason: string;
  took_over: boolean;
}

/** The result of one step, or its preview in a dry run. `told` describes it in sentences, with ids and never with the words of a memory; `counts` are the figures behind them. `changes` are exact: the applied changes, or the planned ones; those of merging and of drift are in their own reports, `merged` and `drift`. `moves` are the planned score changes, in a dry run only. A step that `failed` has the kind of its error as `reason`, and its `changes` list what it changed before that. */
export interface DreamStep {
  name: string;
  ran: boolean;
  reason: string;
  failed: boolean;
  told: string[];
  counts: Record<string, number>;
  changes: Array<Revise | Link | Add | Confirm | Supersede | Contest | Resolve | SetStatus | SetLayer | Pin | Retag | Forget | Restore | Delete | Undo>;
  moves: ScoreMove[];
  drift: DriftReport | null;
  merged: ConsolidationReport | null;
}

/** The agreement of memories and code: `score` from 0 to 100, and the findings. `checked` counts the compared claims of each kind; with `fix`, `invalidated` lists the memories that were invalidated. `ran` is False, with the `reason`, if nothing could be compared. */
export interface DriftReport {
  score: number;
  findings: DriftFinding[];
  memories: number;
  checked: Record<string, number>;
  invalidated: string[];
  problems: string[];
  fix: boolean;
  ran: boolean;
  reason: string;
}

/** A claim of a memory that is not true: `code` as listed in docs/how-to/code.md, `what` as in the memory. `where` is the place that was checked: a path, a module, a manifest, or "roots" for all scanned files. */
export interface DriftFinding {
  code: string;
  level: "error" | "warning" | "info";
  memory_id: string;
  what: string;
  where: string;
}

/** The forgetting curves over ages in days, and the memories on them. */
export interface RetentionCurves {
  days: number[];
  curves: RetentionCurve[];
  points: RetentionPoint[];
  profile: string;
  mode: string;
}

/** A forgetting curve: retention at each age of `RetentionCurves.days`, in [0, 1]. */
export interface RetentionCurve {
  name: string;
  half_life_days: number;
  values: number[];
}

/** The position of a memory on its curve, and the summands of its score; never its words. */
export interface RetentionPoint {
  memory_id: string;
  layer: string;
  age_days: number;
  score: number;
  terms: Record<string, number>;
  trust: number;
  earned: EarnedImportance | null;
}

/** The result of a compression, by tier; `restores` tells whether recall can restore precision. */
export interface CompressReport {
  examined: number;
  compressed: number;
  bytes_before: number;
  bytes_after: number;
  tiers: CompressTier[];
  dry_run: boolean;
  restores: boolean;
}

/** The vectors of one retention tier: their number and bytes, and the fidelity of the converted vectors. `bits` is 32 for vectors that stay exact, and 0 for forgotten ones that stay unchanged. Fidelity is the cosine of a vector before and after, on average and at worst; None without conversions. */
export interface CompressTier {
  bits: number;
  vectors: number;
  compressed: number;
  bytes_before: number;
  bytes_after: number;
  fidelity: number | null;
  least_fidelity: number | null;
}

/** The scheduled tasks and their states; `ran` are those that this call ran, `reason` is why none did. */
export interface ScheduleReport {
  duties: DutyState[];
  ran: DutyRun[];
  reason: string;
}

/** The state of a scheduled task: `last_us` and `next_us` are None if it never ran, or runs only on demand. */
export interface DutyState {
  name: string;
  meaning: string;
  every_seconds: number;
  last_at: string | null;
  took_ms: number | null;
  result: string;
  failed: boolean;
  next_at: string | null;
  overdue: boolean;
}

/** The last run of a scheduled task: start, duration, and a short result; never memory text. */
export interface DutyRun {
  name: string;
  started_at: string;
  took_at: string;
  result: string;
  failed: boolean;
}

/** Counts of a tenant's rows and pending work. */
export interface Stats {
  /** For how long the oldest message has waited to be read; 0 if all are read. Messages given up do not count. */
  oldest_unread_seconds: number;
  events: number;
  redacted_events: number;
  /** Current memories by status. */
  memories: Record<string, number>;
  /** Active memories by type. */
  by_type: Record<string, number>;
  /** Active memories. */
  total: number;
  changes: number;
  jobs: Record<string, number>;
  pending_extractions: number;
  dead_jobs: number;
  open_contests: number;
  vectors: number;
  tombstones: number;
  /** Id of the model that embeds new texts and queries; None for search by words alone. */
  embedder: string | null;
  vectors_by_model: Record<string, number>;
  /** Texts with vectors of other models only: searches find them by words until `reembed`. */
  texts_to_embed: number;
  /** The token counter of contexts and of the core: "estimate", or the name of a tokenizer. */
  counted_by: string;
  /** Messages that are not read yet. */
  waiting: number;
  /** The language model; None if none is in use, was used today, or is waited for. */
  model: ModelUse | null;
  /** Why messages give no beliefs here, and what to do about it; "" if they are read. */
  reader_problem: string;
}

/** The use of a model today (UTC), and how many messages wait for a model, by reason. `tokens` and `cost_usd` cover all models; an unknown price counts as 0. The maximum cost of a running call is included until the call ends. `messages` were extracted today, for `tokens_a_message` on average. `claims` counts those of the model's claims that were changed to a valid form or refused, by reason. `trouble` is the reason why the model is not called at present. */
export interface ModelUse {
  model_id: string | null;
  prompt: string;
  calls: number;
  tokens: number;
  tokens_max: number;
  cost_usd: number;
  messages: number;
  tokens_a_message: number;
  claims: Record<string, number>;
  waiting: Record<string, number>;
  trouble: string;
}

/** The state of a store: `ok` if every check passed. */
export interface DoctorReport {
  /** For how long the oldest message of this user has waited to be read; 0 if all are read. */
  oldest_unread_seconds: number;
  ok: boolean;
  findings: Finding[];
  checks: string[];
  /** The database: its name and version; of Postgres also the roles, and the state of row-level security. */
  backend: Record<string, string>;
}

/** A finding of a check: the problem, its place, and the fix; never memory text. `check` is the name of the check, and `where` the ids of the rows. */
export interface Finding {
  check: string;
  detail: string;
  repaired: boolean;
  where: string;
  fix: string;
}

/** One page of a list, and the cursor of the next page (None at the end). */
export interface AuditRecordPage {
  items: AuditRecord[];
  next_cursor: string | null;
}

/** A recorded call: its place in the chain, its fields, and the hash over them and all records before. */
export interface AuditRecord {
  seq: number;
  fields: Record<string, Json>;
  hash: string;
}

/** The result of `reembed`: texts embedded in this run, and all vectors by model. */
export interface ReembedReport {
  model_id: string;
  embedded: number;
  vectors_by_model: Record<string, number>;
  /** Whether the memory is open with this model; otherwise searches use it once the memory is opened with it. */
  in_use: boolean;
  /** Whether the texts were only counted. */
  dry_run: boolean;
}

/** The result, or the estimated cost, of an extraction with a model. `turns` counts the examined messages; `skipped` those without content for a model, by reason; `calls` the calls made or planned. `tokens_in`, `tokens_out` and `cost_usd` are expected values, `cost_usd_most` the cost if every answer has the maximum length and needs one correction. Costs are None if the price of the model is unknown; `price_source` is its source. `waiting` counts the messages that still wait for a model afterwards. */
export interface ExtractionReport {
  model_id: string;
  prompt: string;
  dry_run: boolean;
  turns: number;
  skipped: Record<string, number>;
  calls: number;
  tokens_in: number;
  tokens_out: number;
  cost_usd: number | null;
  cost_usd_most: number | null;
  price_source: string;
  waiting: number;
}

/** The result of an import: `skipped` counts items already present, `problems` lists malformed items by place. `passed_over` counts all, `left_out` omissions by kind, `ended` memories of lines that left their document. */
export interface ImportReport {
  format: string;
  conversations: number;
  turns: number;
  skipped: number;
  ended: number;
  passed_over: number;
  left_out: Record<string, number>;
  rows: Record<string, number>;
  problems: string[];
  /** Whether this user had been erased here: backups from before the erasure have the user again when restored. */
  lifted_erasure: boolean;
  dry_run: boolean;
}

/** Entities, those with the most memories first, and the relations between them. `counted` believed memories were looked at, the newest; `has_more` says that there are others. */
export interface EntityMap {
  entities: EntitySummary[];
  relations: EntityRelation[];
  counted: number;
  has_more: boolean;
}

/** An entity: its name as most memories write it, how many believed memories it has, and the time of the newest. `attributes` are the names of its slots, in alphabetical order. A thing that is only the value of others has none. */
export interface EntitySummary {
  name: string;
  memories: number;
  attributes: string[];
  latest_at: string;
}

/** A believed memory whose value is a name: `source` has `attribute` `target`. */
export interface EntityRelation {
  source: string;
  attribute: string;
  target: string;
  memory_id: string;
}

/** One page of a list, and the cursor of the next page (None at the end). */
export interface JobInfoPage {
  items: JobInfo[];
  next_cursor: string | null;
}

/** What the reader would make of a text; nothing was stored. */
export interface ExtractionPreview {
  /** The messages as they would be stored, for instance with secrets masked. */
  messages: string[];
  claims: PreviewedClaim[];
  /** Parts that would not be stored, and why. */
  refused: string[];
  /** Parts that would be stored and found, and from which nothing would be extracted. */
  unread: string[];
  /** Whether a model would read the messages too, which this preview does not ask. */
  model_would_read: boolean;
}

/** One claim of a text, and what would become of it; `start` and `end` are its characters in the message. */
export interface PreviewedClaim {
  /** The number of the message, from 1. */
  message: number;
  start: number;
  end: number;
  text: string;
  entity: string | null;
  attribute: string | null;
  value: string | null;
  stance: string;
  confidence: number;
  outcome: PreviewOutcome;
  reason: string;
  /** The memory that would be confirmed. */
  memory_id: string | null;
  replaced: ReplacedMemory[];
  /** The question that would be asked. */
  question: string;
}

/** What would become of a claim. */
export type PreviewOutcome = "stored" | "confirmed" | "replaced" | "contested" | "ended" | "refused";

/** A memory that would be replaced or ended. */
export interface ReplacedMemory {
  id: string;
  text: string;
  reason: string;
}

/** The context that an agent would get, line by line, and what was left out; no recall is recorded. */
export interface ContextPreview {
  text: string;
  tokens: number;
  token_budget: number;
  counted_by: string;
  abstained: boolean;
  lines: ContextLine[];
  left_out: ContextLine[];
  /** Messages that are not read yet. */
  waiting: number;
}

/** One line that a context has, or leaves out. */
export interface ContextLine {
  text: string;
  heading: string;
  ids: string[];
  tokens: number;
  reason: string;
  /** The score of its best hit; None for a memory of the core. */
  score: number | null;
  /** The terms of that score. */
  terms: Record<string, number> | null;
}

/** The score of a response: the part of its claims that the context supports, from 0 to 1. */
export interface FaithfulnessScore {
  /** The number of the score among those of this user. */
  id: number;
  /** None for a response without claims. */
  score: number | null;
  claims: JudgedClaim[];
  supported: number;
  contradicted: number;
  not_found: number;
  /** What judged: "rules", or "rules + MODEL" where a model judged the claims that the rules could not. */
  judge: string;
  at: string;
  session: string | null;
}

/** One claim of a response, and the line of the context that decides about it. */
export interface JudgedClaim {
  text: string;
  verdict: Verdict;
  /** The line that says so; "" where none does. */
  line: string;
  /** The ids of memories and events in that line. */
  ids: string[];
  reason: string;
}

/** What a context says about one claim of a response. */
export type Verdict = "supported" | "contradicted" | "not_found";

/** One page of a list, and the cursor of the next page (None at the end). */
export interface ScoreRecordPage {
  items: ScoreRecord[];
  next_cursor: string | null;
}

/** A stored score: its figures, without a word of the response or the context. */
export interface ScoreRecord {
  id: number;
  at: string;
  score: number | null;
  supported: number;
  contradicted: number;
  not_found: number;
  judge: string;
  session: string | null;
}

/** The cost of models from one day to another, both included; a model without a known price costs 0. */
export interface CostSummary {
  first_day: string;
  last_day: string;
  calls: number;
  tokens_in: number;
  tokens_out: number;
  cost_usd: number;
  /** Cost in US dollars. */
  by_operation: Record<string, number>;
  /** Cost in US dollars. */
  by_model: Record<string, number>;
  days: CostDay[];
}

/** The cost of one model for one operation on one day (UTC). */
export interface CostDay {
  day: string;
  operation: string;
  model_id: string;
  calls: number;
  tokens_in: number;
  tokens_out: number;
  cost_usd: number;
}

/** The result of verifying the chain. */
export interface AuditReport {
  ok: boolean;
  records: number;
  /** Number and hash of the last record, `SEQ:HASH`; keep it elsewhere to notice later that records are missing. */
  head: string;
  /** The first contradiction. */
  problem: string;
}

/** The input and the answer of each operation. */
export interface Operations {
  /** Store a message; it is on disk when this returns, and beliefs follow shortly after. */
  "remember": {
    input: {
      /** The message, in the speaker's own words. */
      content: string | Array<{
        /** user, assistant, system, tool, document or person. */
        role?: string;
        /** What was said. */
        content: string;
        /** Who said it; a person needs one. */
        name?: string;
        /** When it was said. RFC 3339. */
        timestamp?: string;
        /** The id that it has elsewhere. */
        id?: string;
      }>;
      /** Broad namespace, such as work or health. */
      topic?: string | null;
      /** Conversation that it belongs to. */
      session?: string | null;
      /** Program that took it; shown with the evidence. Searches do not look at it. */
      agent?: string | null;
      /** Where it came from; determines how far it is trusted. */
      source?: "human" | "ai" | "interaction" | "ingest" | "code_scan" | "dream" | null;
      /** When it was said. [default: now] RFC 3339. */
      occurred_at?: string | null;
      /** The type of what is believed from it, if it is known. */
      memory_type?: "preference" | "fact" | "decision" | "procedure" | "narrative" | null;
      /** Tag to find it by. */
      tags?: string[] | null;
      /** Pair to store with it. */
      metadata?: Record<string, string> | null;
      /** When it expires. RFC 3339. */
      expires_at?: string | null;
      /** The same key and content are stored once. */
      idempotency_key?: string | null;
      /** Each: quote, entity, attribute, value, stance, scope, replaces (an id), statement, key. */
      claims?: Array<Record<string, string>> | null;
      /** Store it even if it was deleted before. */
      allow_deleted?: boolean | null;
    };
    optional: false;
    output: Receipt;
  };
  /** List memories, newest first. */
  "list": {
    input: {
      /** Only this status. */
      status?: "active" | "challenged" | "candidate" | "superseded" | "merged" | "invalidated" | "archived" | "forgotten" | "deleted";
      /** Only this type. */
      type?: "preference" | "fact" | "decision" | "procedure" | "narrative";
      /** Only this layer. */
      layer?: "working" | "episodic" | "semantic" | "procedural" | "codebase";
      /** Broad namespace, such as work or health. */
      topic?: string;
      /** Only this entity. */
      entity?: string;
      /** Only this attribute. */
      attribute?: string;
      /** Maximum number of items, 1 to 50. */
      limit?: number;
      /** How many to skip. */
      offset?: number;
      /** Cursor of the last page. */
      cursor?: string;
      /** Facts that were true at this time. RFC 3339. */
      as_of?: string;
      /** Beliefs as known at this time. RFC 3339. */
      known_at?: string;
    };
    optional: true;
    output: MemoryPage;
  };
  /** Search memories and events for the answer to a question; abstains if nothing is known. */
  "search": {
    input: {
      /** A question or some words. */
      query: string;
      /** Maximum number of hits, 1 to 50. */
      limit?: number | null;
      /** Broad namespace, such as work or health. */
      topic?: string | null;
      /** memory, event or both. */
      kinds?: Array<"memory" | "event"> | null;
      /** Only memories of these types. */
      types?: Array<"preference" | "fact" | "decision" | "procedure" | "narrative"> | null;
      /** Only memories of these layers. */
      layers?: Array<"working" | "episodic" | "semantic" | "procedural" | "codebase"> | null;
      /** Memory types to search: facts_only for how things stand, facts_plus_rules for how to work, codebase for code. */
      mode?: "facts_only" | "facts_plus_rules" | "full_context" | "codebase" | null;
      /** Minimum confidence of a memory, 0 to 1. */
      min_confidence?: number | null;
      /** Facts that were true at this time. RFC 3339. */
      as_of?: string | null;
      /** Beliefs as known at this time. RFC 3339. */
      known_at?: string | null;
      /** Weight of recency, 0 to 1. */
      recency_weight?: number | null;
      /** Scoring profile. */
      profile?: "default" | "recall" | "evidence" | null;
      /** Only hits with all these tags. */
      tags?: string[] | null;
      /** Only what was kept with these pairs. */
      metadata?: Record<string, string> | null;
      /** Only hits from this session. */
      session?: string | null;
      /** No hits from this session. */
      exclude_session?: string | null;
      /** Nothing said in other projects, except the user's own facts. */
      project?: string | null;
      /** Also show hits that are hidden by default. */
      include?: Array<"superseded" | "low_confidence" | "archived" | "misses"> | null;
      /** Show the terms of each score. */
      explain?: boolean | null;
      /** Count the memories that are shown as recalled. */
      record_access?: boolean | null;
    };
    optional: false;
    output: SearchResult;
  };
  /** Build a fenced context block for a prompt, within a token budget. */
  "context": {
    input: {
      /** A question or some words; without it, only the core. */
      query?: string | null;
      /** Maximum number of tokens. [default: the setting context_tokens] */
      token_budget?: number | null;
      /** For a block added to every turn: half of the tokens, and no recall is recorded. */
      automatic?: boolean | null;
      /** Maximum number of hits, 1 to 50. */
      limit?: number | null;
      /** Broad namespace, such as work or health. */
      topic?: string | null;
      /** memory, event or both. */
      kinds?: Array<"memory" | "event"> | null;
      /** Only memories of these types. */
      types?: Array<"preference" | "fact" | "decision" | "procedure" | "narrative"> | null;
      /** Only memories of these layers. */
      layers?: Array<"working" | "episodic" | "semantic" | "procedural" | "codebase"> | null;
      /** Memory types to search: facts_only for how things stand, facts_plus_rules for how to work, codebase for code. */
      mode?: "facts_only" | "facts_plus_rules" | "full_context" | "codebase" | null;
      /** Minimum confidence of a memory, 0 to 1. */
      min_confidence?: number | null;
      /** Facts that were true at this time. RFC 3339. */
      as_of?: string | null;
      /** Beliefs as known at this time. RFC 3339. */
      known_at?: string | null;
      /** Weight of recency, 0 to 1. */
      recency_weight?: number | null;
      /** Scoring profile. */
      profile?: "default" | "recall" | "evidence" | null;
      /** Only hits with all these tags. */
      tags?: string[] | null;
      /** Only what was kept with these pairs. */
      metadata?: Record<string, string> | null;
      /** Only hits from this session. */
      session?: string | null;
      /** No hits from this session. */
      exclude_session?: string | null;
      /** Nothing said in other projects, except the user's own facts. */
      project?: string | null;
      /** Also show hits that are hidden by default. */
      include?: Array<"superseded" | "low_confidence" | "archived" | "misses"> | null;
      /** Show the terms of each score. */
      explain?: boolean | null;
      /** Count the memories that are shown as recalled. */
      record_access?: boolean | null;
    };
    optional: true;
    output: Context;
  };
  /** Show one memory. */
  "get": {
    input: {
      /** An id, or its beginning where that names one only. */
      id: string;
      /** Facts that were true at this time. RFC 3339. */
      as_of?: string;
      /** Beliefs as known at this time. RFC 3339. */
      known_at?: string;
    };
    optional: false;
    output: Memory;
  };
  /** Correct a memory that was wrong from the start. */
  "correct": {
    input: {
      /** An id, or its beginning where that names one only. */
      id: string;
      /** The corrected text. */
      text?: string | null;
      /** The corrected value. */
      value?: string | null;
      /** The reason, recorded in the change log. */
      reason?: string | null;
    };
    optional: false;
    output: Memory;
  };
  /** Delete a memory or an event permanently, with its words; the same content is not added again. */
  "delete": {
    input: {
      /** An id from a list or a search. */
      id: string;
      /** Delete its whole messages, with all that they alone support. */
      whole_message?: boolean | null;
    };
    optional: false;
    output: DeletionReceipt;
  };
  /** Show an event as it was said, and the memories that rest on it. */
  "event": {
    input: {
      /** The id of an event. */
      id: string;
    };
    optional: false;
    output: EventDetails;
  };
  /** Show the provenance of a memory: its evidence and every change to it. */
  "why": {
    input: {
      /** An id, or its beginning where that names one only. */
      id: string;
    };
    optional: false;
    output: Explanation;
  };
  /** Show the changes in belief that an event caused, or the latest changes. */
  "changes": {
    input: {
      /** The id of an event. [default: the latest changes] */
      cause?: string;
      /** Maximum number of the latest changes, 1 to 200. */
      limit?: number;
    };
    optional: true;
    output: ChangeRecord[];
  };
  /** Show every value that a slot has had, oldest first. */
  "history": {
    input: {
      /** A memory in the slot, instead of entity and attribute. */
      id: string;
      /** Facts that were true at this time. RFC 3339. */
      as_of?: string;
      /** Beliefs as known at this time. RFC 3339. */
      known_at?: string;
    };
    optional: false;
    output: SlotVersion[];
  };
  /** Show every value that a slot has had, oldest first. */
  "history-2": {
    input: {
      /** Entity, such as user. */
      entity?: string;
      /** Attribute, such as residence. */
      attribute?: string;
      /** Facts that were true at this time. RFC 3339. */
      as_of?: string;
      /** Beliefs as known at this time. RFC 3339. */
      known_at?: string;
    };
    optional: true;
    output: SlotVersion[];
  };
  /** Show the changes in belief between two times: new, replaced, corrected, ended or contested. */
  "diff": {
    input: {
      /** Start; a date is its whole day. RFC 3339. */
      since?: string;
      /** End; a date is its whole day. [default: now] RFC 3339. */
      until?: string;
      /** Compare beliefs as known at the two times, or facts that were true then. */
      axis?: "known" | "valid";
      /** Only this topic. */
      topic?: string;
      /** Only this entity, such as user. */
      entity?: string;
    };
    optional: true;
    output: Diff;
  };
  /** List memories that match all conditions, newest first, and count the values of their fields. */
  "browse": {
    input: {
      /** Only this status. [default: all] */
      status?: "active" | "challenged" | "candidate" | "superseded" | "merged" | "invalidated" | "archived" | "forgotten" | "deleted";
      /** Only this type. */
      type?: "preference" | "fact" | "decision" | "procedure" | "narrative";
      /** Only this layer. */
      layer?: "working" | "episodic" | "semantic" | "procedural" | "codebase";
      /** Only this stance of the speaker. */
      stance?: "asserted" | "negated" | "reported" | "planned" | "considered" | "hypothetical" | "role_play" | "sarcastic";
      /** Broad namespace, such as work or health. */
      topic?: string;
      /** Only this entity. */
      entity?: string;
      /** Only this attribute. */
      attribute?: string;
      /** Only memories that this session brought. */
      session?: string;
      /** Only memories that rest on a message from this source. */
      source?: "human" | "ai" | "interaction" | "ingest" | "code_scan" | "dream" | "file";
      /** Maximum number of items, 1 to 50. */
      limit?: number;
      /** How many to skip. */
      offset?: number;
      /** Facts that were true at this time. RFC 3339. */
      as_of?: string;
      /** Beliefs as known at this time. RFC 3339. */
      known_at?: string;
    };
    optional: true;
    output: Browse;
  };
  /** Show which sessions got a memory, and the feedback on it. */
  "uses": {
    input: {
      /** An id, or its beginning where that names one only. */
      id: string;
    };
    optional: false;
    output: MemoryUses;
  };
  /** List sessions, the latest first: their messages, and how many memories rest on them. */
  "sessions": {
    input: {
      /** Cursor of the last page. */
      cursor?: string;
    };
    optional: true;
    output: SessionSummaryPage;
  };
  /** Show the messages of a session, and the memories that rest on them. */
  "session": {
    input: {
      /** The name of a session; empty for messages without one. */
      session: string;
    };
    optional: false;
    output: SessionDetails;
  };
  /** Take a memory out of use; `restore` reverses it. */
  "forget": {
    input: {
      /** An id, or its beginning where that names one only. */
      id: string;
      /** The reason, recorded in the change log. */
      reason?: string | null;
    };
    optional: false;
    output: Memory;
  };
  /** Restore a forgotten memory. */
  "restore": {
    input: {
      /** An id, or its beginning where that names one only. */
      id: string;
    };
    optional: false;
    output: Memory;
  };
  /** Say whether a hit was useful; it counts once per session and day, the latest one wins. */
  "feedback": {
    input: {
      /** An id, or its beginning where that names one only. */
      id: string;
      /** Whether it was useful. */
      useful: boolean;
      /** Conversation in which it was shown. [default: the last one] */
      session?: string | null;
    };
    optional: false;
    output: null;
  };
  /** Pin a memory: it is in every context. */
  "pin": {
    input: {
      /** An id, or its beginning where that names one only. */
      id: string;
    };
    optional: false;
    output: Memory;
  };
  /** Unpin a memory. */
  "unpin": {
    input: {
      /** An id, or its beginning where that names one only. */
      id: string;
    };
    optional: false;
    output: Memory;
  };
  /** List slots with an undecided value, each with its question; open ones first. */
  "contests": {
    input: Record<string, never>;
    optional: true;
    output: ContestCase[];
  };
  /** Show one contest. */
  "contest": {
    input: {
      /** The id of a contest. */
      id: string;
    };
    optional: false;
    output: ContestCase;
  };
  /** Resolve a contest: keep one value or both, or give each value a scope. */
  "resolve": {
    input: {
      /** A contest, or a contradicting memory. */
      id: string;
      /** The value, both, or: X when …, else Y. */
      keep?: string | null;
      /** A value for each scope; the scope `default` means no scope. */
      scopes?: Record<string, string> | null;
    };
    optional: false;
    output: Resolution;
  };
  /** Show the outcome of messages: their memories, and the values that they contradict. */
  "outcome": {
    input: {
      /** The ids of events, from the receipt of the messages. */
      event_ids: string[];
    };
    optional: false;
    output: Outcome;
  };
  /** List slots whose value was replaced three or more times within 30 days, the worst first. */
  "loops": {
    input: {
      /** Number of days. [default: 30] */
      days?: number;
    };
    optional: true;
    output: SlotLoop[];
  };
  /** Move a memory to another status by hand, such as a candidate to active. */
  "set-status": {
    input: {
      /** An id, or its beginning where that names one only. */
      id: string;
      /** The new status. */
      status: "active" | "challenged" | "candidate" | "superseded" | "merged" | "invalidated" | "archived" | "forgotten";
      /** The reason, recorded in the change log. */
      reason?: string | null;
    };
    optional: false;
    output: Memory;
  };
  /** Show every status that a memory has had, and why. */
  "status-history": {
    input: {
      /** An id, or its beginning where that names one only. */
      id: string;
    };
    optional: false;
    output: StatusStep[];
  };
  /** Undo a change, or all changes of a session, a source or a span of time. */
  "undo": {
    input: {
      /** The id of a change. */
      change_id: string;
      /** Also undo later changes that depend on it. */
      cascade?: boolean | null;
      /** Change nothing, and show the planned changes. */
      dry_run?: boolean | null;
    };
    optional: false;
    output: UndoReport;
  };
  /** Undo a change, or all changes of a session, a source or a span of time. */
  "undo-2": {
    input: {
      /** All changes caused by this session. */
      session?: string | null;
      /** All changes caused by this source, such as ingest. */
      source?: string | null;
      /** All changes from this time on. RFC 3339. */
      since?: string | null;
      /** All changes before this time. RFC 3339. */
      until?: string | null;
      /** Also undo later changes that depend on it. */
      cascade?: boolean | null;
      /** Change nothing, and show the planned changes. */
      dry_run?: boolean | null;
    };
    optional: true;
    output: UndoReport;
  };
  /** Delete every event that meets all conditions, and everything that only they support. */
  "delete-where": {
    input: {
      /** Events of this session. */
      session?: string | null;
      /** Events of this topic. */
      topic?: string | null;
      /** Events from this source. */
      source?: string | null;
      /** Events before this time. RFC 3339. */
      before?: string | null;
      /** Only name what to delete. */
      dry_run?: boolean | null;
    };
    optional: true;
    output: DeletionReport;
  };
  /** Say what deleting a memory or an event would remove, and what shares its words; nothing is deleted. */
  "plan-deletion": {
    input: {
      /** An id, or its beginning where that names one only. */
      id: string;
      /** Delete its whole messages, with all that they alone support. */
      whole_message?: boolean;
    };
    optional: false;
    output: DeletionPlan;
  };
  /** Erase all data of this user permanently, and verify it on the raw bytes. */
  "erase": {
    input: {
      /** The exact name of the user, or DELETE MY DATA. */
      confirm?: string | null;
    };
    optional: true;
    output: EraseReceipt;
  };
  /** Show, set or remove retention policies. */
  "policy": {
    input: {
      /** Keep events for this many days. */
      days?: number | null;
      /** Broad namespace, such as work or health. */
      topic?: string | null;
      /** Remove the policy. */
      remove?: boolean | null;
    };
    optional: true;
    output: RetentionPolicy[];
  };
  /** Delete everything that has expired or is older than the policies allow. */
  "apply-policies": {
    input: {
      /** Only count what to delete. */
      dry_run?: boolean | null;
    };
    optional: true;
    output: ExpiryReport;
  };
  /** Set a legal hold: nothing of this user is deleted until it is lifted. */
  "hold": {
    input: {
      /** The reason; it is recorded. */
      reason: string;
    };
    optional: false;
    output: LegalHold;
  };
  /** List all legal holds, current and past, oldest first. */
  "holds": {
    input: Record<string, never>;
    optional: true;
    output: LegalHold[];
  };
  /** Lift the legal hold. */
  "lift-hold": {
    input: {
      /** The reason; it is recorded. */
      reason: string;
    };
    optional: false;
    output: LegalHold;
  };
  /** Show the core and the changes of its last rewrite. */
  "core": {
    input: Record<string, never>;
    optional: true;
    output: Core;
  };
  /** Recompute the retention score of each memory; no belief changes. */
  "decay": {
    input: {
      /** Only show the planned changes. */
      dry_run?: boolean | null;
    };
    optional: true;
    output: DecayReport;
  };
  /** Promote proven memories, and archive faded ones. */
  "lifecycle": {
    input: {
      /** Only show the planned changes. */
      dry_run?: boolean | null;
    };
    optional: true;
    output: LifecycleReport;
  };
  /** Merge equivalent memories, and combine successive values into one entry. */
  "consolidate": {
    input: {
      /** Broad namespace, such as work or health. */
      topic?: string | null;
      /** Minimum similarity of memories to compare, 0 to 1; it never decides. */
      similarity_threshold?: number | null;
      /** Only show the planned changes. */
      dry_run?: boolean | null;
      /** Run even without 20 new memories and a day since the last run. */
      force?: boolean | null;
    };
    optional: true;
    output: ConsolidationReport | JobInfo;
  };
  /** Run the dream (nightly maintenance) or some of its steps; a second run finds nothing to do. */
  "dream": {
    input: {
      /** Only this step: forgetting, merge, cards, bridges, probe, drift or prune. */
      steps?: string[] | null;
      /** Only show the planned changes. */
      dry_run?: boolean | null;
    };
    optional: true;
    output: DreamReport | JobInfo;
  };
  /** Move a memory one layer up: working, episodic, semantic. */
  "promote": {
    input: {
      /** An id, or its beginning where that names one only. */
      id: string;
    };
    optional: false;
    output: Memory;
  };
  /** Move a memory one layer down: semantic, episodic, working. */
  "demote": {
    input: {
      /** An id, or its beginning where that names one only. */
      id: string;
    };
    optional: false;
    output: Memory;
  };
  /** Show the forgetting curves, and the positions of the newest memories on them. */
  "retention": {
    input: {
      /** Maximum number of memories, 1 to 2,000. */
      limit?: number;
      /** As if the setting had this value. */
      decay_profile?: "layered" | "recall";
      /** As if the setting had this value. */
      retention_mode?: "huber" | "huber_linear" | "l2" | "elastic";
      /** As if the setting had this value. */
      half_life_days?: number;
      /** As if the setting had this value. */
      trust_kappa?: number;
    };
    optional: true;
    output: RetentionCurves;
  };
  /** Store the vectors of fading memories with fewer bits; a recall restores their precision. */
  "compress": {
    input: {
      /** Only show the savings and the loss of precision. */
      dry_run?: boolean | null;
    };
    optional: true;
    output: CompressReport | JobInfo;
  };
  /** Show the scheduled tasks: when each last ran, its result, and when it is due. */
  "schedule": {
    input: {
      /** First run the tasks that are due. */
      run?: boolean | null;
      /** Run this task, due or not. */
      only?: string[] | null;
    };
    optional: true;
    output: ScheduleReport;
  };
  /** Count memories, events and pending work. */
  "stats": {
    input: Record<string, never>;
    optional: true;
    output: Stats;
  };
  /** Verify the store, and repair derived data. */
  "doctor": {
    input: {
      /** Rebuild derived indexes that differ. */
      repair?: boolean | null;
    };
    optional: true;
    output: DoctorReport;
  };
  /** List the calls of a server that reached this memory, oldest first. */
  "audit": {
    input: {
      /** Maximum number of items, 1 to 50. */
      limit?: number;
      /** Cursor of the last page. */
      cursor?: string;
    };
    optional: true;
    output: AuditRecordPage;
  };
  /** Embed every text with a model; vectors of other models stay, unless they are to be deleted. */
  "reembed": {
    input: {
      /** Such as minilm or openai:MODEL. [default: the configured model] */
      model?: string | null;
      /** Also embed texts that have a vector of this model; the new one takes its place. */
      clear_existing?: boolean | null;
      /** Delete the vectors of other models at the end; the memory must be open with this model. */
      drop_others?: boolean | null;
      /** Only count the texts. */
      dry_run?: boolean | null;
    };
    optional: true;
    output: ReembedReport | JobInfo;
  };
  /** Process the messages that wait for the LLM; or estimate the cost without calling it. */
  "extract": {
    input: {
      /** With --dry-run: a file to estimate. */
      file?: Blob;
      /** With --dry-run: a text to estimate. */
      text?: string;
      /** With --dry-run: another model, such as openai:gpt-5-mini. */
      model?: string;
      /** Only estimate the cost. */
      dry_run?: boolean;
    };
    optional: true;
    output: ExtractionReport;
  };
  /** Export all data of this user as JSON Lines, without loss; or the current memories, for another tool. */
  "export": {
    input: {
      /** The archive, the file of the MCP reference memory server, or Portable AI Memory. */
      format?: "credenda" | "mcp-memory" | "pam" | null;
      /** Leave out rows of a damaged database that cannot be read, and name them. */
      skip_damaged?: boolean | null;
    };
    optional: true;
    output: ReadableStream<Uint8Array>;
  };
  /** Import an export, conversations, another tool's memory, or documents; repeating it adds nothing. */
  "import": {
    input: {
      /** File or folder to read; .gz and .zip too. */
      file: Blob;
      /** Format of the file. [default: detected] */
      format?: "credenda" | "codex" | "copilot" | "gemini-cli" | "claude-code" | "chatgpt" | "claude" | "mcp-memory" | "telegram" | "open-webui" | "sillytavern" | "gemini-takeout" | "pam" | "letta" | "hindsight" | "openmemory" | "recall" | "engram" | "suzent" | "zep" | "cognee" | "mem0" | "conversation" | "messages" | "whatsapp" | "hermes" | "openclaw" | "memory-folder" | "memories" | "obsidian" | "markdown" | "text";
      /** Your name in the chats of the file; "" if you are nobody in them. [default: the user] */
      me?: string;
      /** Only count what would be stored. */
      dry_run?: boolean;
    };
    optional: false;
    output: ImportReport;
  };
  /** List the people and things that memories are about, and how they are related. */
  "entities": {
    input: Record<string, never>;
    optional: true;
    output: EntityMap;
  };
  /** List jobs, the newest first: what is processed in the background, and what failed. */
  "jobs": {
    input: {
      /** Only jobs in this state. */
      state?: "queued" | "processing" | "failed" | "complete" | "dead" | "cancelled";
      /** Only jobs of this kind; call is an operation in the background. */
      kind?: "extract" | "embed" | "think" | "reread" | "keep" | "call";
      /** Maximum number of jobs, 1 to 50. */
      limit?: number;
      /** Cursor of the last page. */
      cursor?: string;
    };
    optional: true;
    output: JobInfoPage;
  };
  /** Show a job: its state, its progress and its result. */
  "job": {
    input: {
      /** An id, or its beginning where that names one only. */
      id: string;
    };
    optional: false;
    output: JobInfo;
  };
  /** Queue a dead or cancelled job again. */
  "retry": {
    input: {
      /** An id, or its beginning where that names one only. */
      id: string;
    };
    optional: false;
    output: JobInfo;
  };
  /** Cancel a job that calls an operation; what it has committed stays. */
  "cancel": {
    input: {
      /** An id, or its beginning where that names one only. */
      id: string;
    };
    optional: false;
    output: JobInfo;
  };
  /** Say what would become of a text: stored, replaced, contested or refused, and why. Nothing is stored. */
  "preview-extraction": {
    input: {
      /** The message, in the speaker's own words. */
      text: string;
      /** Broad namespace, such as work or health. */
      topic?: string | null;
      /** Conversation that it belongs to. */
      session?: string | null;
      /** Where it came from; determines how far it is trusted. */
      source?: "human" | "ai" | "interaction" | "ingest" | "code_scan" | "dream" | null;
      /** When it was said. [default: now] RFC 3339. */
      occurred_at?: string | null;
    };
    optional: false;
    output: ExtractionPreview;
  };
  /** Show what an agent would get for a prompt: each line and its reason, and what is left out and why. */
  "preview-context": {
    input: {
      /** A question or some words; without it, only the core. */
      query?: string | null;
      /** Maximum number of tokens. [default: the setting context_tokens] */
      token_budget?: number | null;
      /** For a block added to every turn: half of the tokens, and no recall is recorded. */
      automatic?: boolean | null;
      /** Maximum number of hits, 1 to 50. */
      limit?: number | null;
      /** Broad namespace, such as work or health. */
      topic?: string | null;
      /** memory, event or both. */
      kinds?: Array<"memory" | "event"> | null;
      /** Only memories of these types. */
      types?: Array<"preference" | "fact" | "decision" | "procedure" | "narrative"> | null;
      /** Only memories of these layers. */
      layers?: Array<"working" | "episodic" | "semantic" | "procedural" | "codebase"> | null;
      /** Memory types to search: facts_only for how things stand, facts_plus_rules for how to work, codebase for code. */
      mode?: "facts_only" | "facts_plus_rules" | "full_context" | "codebase" | null;
      /** Minimum confidence of a memory, 0 to 1. */
      min_confidence?: number | null;
      /** Facts that were true at this time. RFC 3339. */
      as_of?: string | null;
      /** Beliefs as known at this time. RFC 3339. */
      known_at?: string | null;
      /** Weight of recency, 0 to 1. */
      recency_weight?: number | null;
      /** Scoring profile. */
      profile?: "default" | "recall" | "evidence" | null;
      /** Only hits with all these tags. */
      tags?: string[] | null;
      /** Only what was kept with these pairs. */
      metadata?: Record<string, string> | null;
      /** Only hits from this session. */
      session?: string | null;
      /** No hits from this session. */
      exclude_session?: string | null;
      /** Nothing said in other projects, except the user's own facts. */
      project?: string | null;
      /** Also show hits that are hidden by default. */
      include?: Array<"superseded" | "low_confidence" | "archived" | "misses"> | null;
      /** Show the terms of each score. */
      explain?: boolean | null;
    };
    optional: true;
    output: ContextPreview;
  };
  /** Score how faithful a response is to its context, claim by claim; the figures are stored. */
  "score": {
    input: {
      /** The response of the agent. */
      response: string;
      /** The context that it was given. */
      context: string;
      /** Conversation of the response. */
      session?: string | null;
    };
    optional: false;
    output: FaithfulnessScore;
  };
  /** List stored scores, the newest first. */
  "scores": {
    input: {
      /** Only scores of this conversation. */
      session?: string;
      /** Maximum number of items, 1 to 50. */
      limit?: number;
      /** Cursor of the last page. */
      cursor?: string;
    };
    optional: true;
    output: ScoreRecordPage;
  };
  /** Sum up what models cost, by day, operation and model; without times, over the last thirty days. */
  "costs": {
    input: {
      /** Start; a date is its whole day. RFC 3339. */
      since?: string;
      /** End; a date is its whole day. [default: now] RFC 3339. */
      until?: string;
    };
    optional: true;
    output: CostSummary;
  };
  /** Verify the audit records of the server: that none was changed, moved or removed. */
  "verify-audit": {
    input: {
      /** The head of an earlier report, which the chain must lead through. */
      anchor?: string;
    };
    optional: true;
    output: AuditReport;
  };
  /** Export the audit records of this user as JSON Lines. */
  "export-audit": {
    input: Record<string, never>;
    optional: true;
    output: ReadableStream<Uint8Array>;
  };
  /** Export who called what, what changed and what was deleted in a span of time, as JSON Lines. */
  "compliance": {
    input: {
      /** Start; a date is its whole day. RFC 3339. */
      since?: string | null;
      /** End; a date is its whole day. [default: now] RFC 3339. */
      until?: string | null;
    };
    optional: true;
    output: ReadableStream<Uint8Array>;
  };
  /** Follow a job: server-sent events, each with the whole job, until it has ended. */
  "job-events": {
    input: {
      /** An id, or its beginning where that names one only. */
      id: string;
    };
    optional: false;
    output: ReadableStream<Uint8Array> | null;
  };
}

/** Where each operation is found, and where its inputs go. */
export const ROUTES = {
  "remember": { method: "POST", path: "/v1/memories", query: [], body: "json", answer: "json", keyed: true },
  "list": { method: "GET", path: "/v1/memories", query: ["status", "type", "layer", "topic", "entity", "attribute", "limit", "offset", "cursor", "as_of", "known_at"], body: "none", answer: "json", keyed: false },
  "search": { method: "POST", path: "/v1/search", query: [], body: "json", answer: "json", keyed: false },
  "context": { method: "POST", path: "/v1/context", query: [], body: "json", answer: "json", keyed: false },
  "get": { method: "GET", path: "/v1/memories/{id}", query: ["as_of", "known_at"], body: "none", answer: "json", keyed: false },
  "correct": { method: "PATCH", path: "/v1/memories/{id}", query: [], body: "json", answer: "json", keyed: true },
  "delete": { method: "DELETE", path: "/v1/memories/{id}", query: [], body: "json", answer: "json", keyed: false },
  "event": { method: "GET", path: "/v1/events/{id}", query: [], body: "none", answer: "json", keyed: false },
  "why": { method: "GET", path: "/v1/memories/{id}/why", query: [], body: "none", answer: "json", keyed: false },
  "changes": { method: "GET", path: "/v1/changes", query: ["cause", "limit"], body: "none", answer: "json", keyed: false },
  "history": { method: "GET", path: "/v1/memories/{id}/history", query: ["as_of", "known_at"], body: "none", answer: "json", keyed: false },
  "history-2": { method: "GET", path: "/v1/history", query: ["entity", "attribute", "as_of", "known_at"], body: "none", answer: "json", keyed: false },
  "diff": { method: "GET", path: "/v1/diff", query: ["since", "until", "axis", "topic", "entity"], body: "none", answer: "json", keyed: false },
  "browse": { method: "GET", path: "/v1/browse", query: ["status", "type", "layer", "stance", "topic", "entity", "attribute", "session", "source", "limit", "offset", "as_of", "known_at"], body: "none", answer: "json", keyed: false },
  "uses": { method: "GET", path: "/v1/memories/{id}/uses", query: [], body: "none", answer: "json", keyed: false },
  "sessions": { method: "GET", path: "/v1/sessions", query: ["cursor"], body: "none", answer: "json", keyed: false },
  "session": { method: "GET", path: "/v1/session", query: ["session"], body: "none", answer: "json", keyed: false },
  "forget": { method: "POST", path: "/v1/memories/{id}/forget", query: [], body: "json", answer: "json", keyed: false },
  "restore": { method: "POST", path: "/v1/memories/{id}/restore", query: [], body: "none", answer: "json", keyed: true },
  "feedback": { method: "POST", path: "/v1/memories/{id}/feedback", query: [], body: "json", answer: "json", keyed: true },
  "pin": { method: "POST", path: "/v1/memories/{id}/pin", query: [], body: "none", answer: "json", keyed: false },
  "unpin": { method: "DELETE", path: "/v1/memories/{id}/pin", query: [], body: "none", answer: "json", keyed: false },
  "contests": { method: "GET", path: "/v1/contests", query: [], body: "none", answer: "json", keyed: false },
  "contest": { method: "GET", path: "/v1/contests/{id}", query: [], body: "none", answer: "json", keyed: false },
  "resolve": { method: "POST", path: "/v1/contests/{id}/resolution", query: [], body: "json", answer: "json", keyed: true },
  "outcome": { method: "GET", path: "/v1/outcome", query: ["event_ids"], body: "none", answer: "json", keyed: false },
  "loops": { method: "GET", path: "/v1/loops", query: ["days"], body: "none", answer: "json", keyed: false },
  "set-status": { method: "POST", path: "/v1/memories/{id}/status", query: [], body: "json", answer: "json", keyed: false },
  "status-history": { method: "GET", path: "/v1/memories/{id}/status", query: [], body: "none", answer: "json", keyed: false },
  "undo": { method: "POST", path: "/v1/changes/{change_id}/undo", query: [], body: "json", answer: "json", keyed: true },
  "undo-2": { method: "POST", path: "/v1/undo", query: [], body: "json", answer: "json", keyed: true },
  "delete-where": { method: "POST", path: "/v1/deletions", query: [], body: "json", answer: "json", keyed: false },
  "plan-deletion": { method: "GET", path: "/v1/memories/{id}/deletion", query: ["whole_message"], body: "none", answer: "json", keyed: false },
  "erase": { method: "DELETE", path: "/v1/me", query: [], body: "json", answer: "json", keyed: false },
  "policy": { method: "POST", path: "/v1/policies", query: [], body: "json", answer: "json", keyed: false },
  "apply-policies": { method: "POST", path: "/v1/policies/apply", query: [], body: "json", answer: "json", keyed: false },
  "hold": { method: "POST", path: "/v1/holds", query: [], body: "json", answer: "json", keyed: true },
  "holds": { method: "GET", path: "/v1/holds", query: [], body: "none", answer: "json", keyed: false },
  "lift-hold": { method: "POST", path: "/v1/holds/lift", query: [], body: "json", answer: "json", keyed: true },
  "core": { method: "GET", path: "/v1/core", query: [], body: "none", answer: "json", keyed: false },
  "decay": { method: "POST", path: "/v1/decay", query: [], body: "json", answer: "json", keyed: false },
  "lifecycle": { method: "POST", path: "/v1/lifecycle", query: [], body: "json", answer: "json", keyed: false },
  "consolidate": { method: "POST", path: "/v1/consolidations", query: [], body: "json", answer: "json", keyed: false },
  "dream": { method: "POST", path: "/v1/dreams", query: [], body: "json", answer: "json", keyed: false },
  "promote": { method: "POST", path: "/v1/memories/{id}/promote", query: [], body: "none", answer: "json", keyed: true },
  "demote": { method: "POST", path: "/v1/memories/{id}/demote", query: [], body: "none", answer: "json", keyed: true },
  "retention": { method: "GET", path: "/v1/retention", query: ["limit", "decay_profile", "retention_mode", "half_life_days", "trust_kappa"], body: "none", answer: "json", keyed: false },
  "compress": { method: "POST", path: "/v1/compress", query: [], body: "json", answer: "json", keyed: false },
  "schedule": { method: "POST", path: "/v1/schedule", query: [], body: "json", answer: "json", keyed: true },
  "stats": { method: "GET", path: "/v1/stats", query: [], body: "none", answer: "json", keyed: false },
  "doctor": { method: "POST", path: "/v1/doctor", query: [], body: "json", answer: "json", keyed: false },
  "audit": { method: "GET", path: "/v1/audit", query: ["limit", "cursor"], body: "none", answer: "json", keyed: false },
  "reembed": { method: "POST", path: "/v1/reindex", query: [], body: "json", answer: "json", keyed: false },
  "extract": { method: "POST", path: "/v1/extractions", query: [], body: "form", answer: "json", keyed: false },
  "export": { method: "POST", path: "/v1/export", query: [], body: "json", answer: "stream", keyed: false },
  "import": { method: "POST", path: "/v1/imports", query: [], body: "form", answer: "json", keyed: false },
  "entities": { method: "GET", path: "/v1/entities", query: [], body: "none", answer: "json", keyed: false },
  "jobs": { method: "GET", path: "/v1/jobs", query: ["state", "kind", "limit", "cursor"], body: "none", answer: "json", keyed: false },
  "job": { method: "GET", path: "/v1/jobs/{id}", query: [], body: "none", answer: "json", keyed: false },
  "retry": { method: "POST", path: "/v1/jobs/{id}/retry", query: [], body: "none", answer: "json", keyed: true },
  "cancel": { method: "POST", path: "/v1/jobs/{id}/cancel", query: [], body: "none", answer: "json", keyed: true },
  "preview-extraction": { method: "POST", path: "/v1/previews/extraction", query: [], body: "json", answer: "json", keyed: false },
  "preview-context": { method: "POST", path: "/v1/previews/context", query: [], body: "json", answer: "json", keyed: false },
  "score": { method: "POST", path: "/v1/scores", query: [], body: "json", answer: "json", keyed: true },
  "scores": { method: "GET", path: "/v1/scores", query: ["session", "limit", "cursor"], body: "none", answer: "json", keyed: false },
  "costs": { method: "GET", path: "/v1/costs", query: ["since", "until"], body: "none", answer: "json", keyed: false },
  "verify-audit": { method: "GET", path: "/v1/audit/verification", query: ["anchor"], body: "none", answer: "json", keyed: false },
  "export-audit": { method: "POST", path: "/v1/audit/export", query: [], body: "none", answer: "stream", keyed: false },
  "compliance": { method: "POST", path: "/v1/compliance", query: [], body: "json", answer: "stream", keyed: false },
  "job-events": { method: "GET", path: "/v1/jobs/{id}/events", query: [], body: "none", answer: "stream", keyed: false },
} as const;
