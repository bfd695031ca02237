"""The values that a writer files, and what each kind of them promises."""

from __future__ import annotations

from credenda.model.change import ChangeRecord
from credenda.model.claim import Evidence
from credenda.model.contest import ContestCase
from credenda.model.doctor_finding import DutyRun
from credenda.model.event import NewEvent
from credenda.model.item import Item, ItemRemoval
from credenda.model.memory import Memory
from credenda.model.retention_policy import LegalHold, RetentionPolicy
from credenda.storage.derived_rows import Retention, SchedulerLease, Surprise, VectorCopies, Watermark
from credenda.storage.records import Job, Redaction, ReplayedRows, Rewording, Snapshot, Spend, Tombstone, Vector
from credenda.storage.usage import Access, Prune, VectorRemoval

__all__ = ["Row"]

Row = (
    NewEvent
    | Memory
    | Evidence
    | LegalHold
    | RetentionPolicy
    | ChangeRecord
    | ContestCase
    | Job
    | Vector
    | Tombstone
    | Redaction
    | Rewording
    | Access
    | Snapshot
    | ReplayedRows
    | Retention
    | Surprise
    | VectorCopies
    | VectorRemoval
    | Watermark
    | DutyRun
    | SchedulerLease
    | Prune
    | Spend
    | Item
    | ItemRemoval
)
"""Whatever a writer can file. Every kind takes part in the unit: a unit that is undone leaves nothing of any of them.

The promises of each kind, as order (which number or place a row gets), conflict (when `put` raises `Conflict`) and
repetition (what filing the same value once more does). An id that the tenant does not have raises `NotFound` for every
kind.

`NewEvent`: the next event number, and the next link of the journal's chain. Never a conflict. Repeated, it is a second
event.

`Memory`: without an id it is version 1 of the next memory number. With an id it is the next version, and the current
version expires at its `recorded_us`; a `version` that does not follow the current one is a conflict. Repeated, it is
therefore a conflict.

`Evidence`: no number. Never a conflict. Repeated, it does nothing: the memory, the span and the claim hash are its key.

`ChangeRecord`: the next change number. Never a conflict. Repeated, it is a second entry. An entry of the kind `confirm`
also counts one confirmation of its memory.

`ContestCase`: without an id it gets the next contest number; with one it replaces that contest whole. Never a conflict.

`Job`: without an id it gets the next job number; an idempotency key that another job of the tenant has is a conflict.
With an id it moves that job's status, attempts, delay, lease, error and outcome, and nothing else. Never a conflict
then: the holder of a lease checks it in the unit before filing.

`Vector`: replaces the vector of its document and model. It gets a number above all that were ever given, so that an
index which read an earlier one reads it too.

`Tombstone`: the digest is its key. Repeated, it does nothing; with `lifted` it takes the digest away.

`Redaction`: takes the words out in place; versions, changes and numbers stay. Repeated, it does nothing more. Every
stored index image of the tenant goes with it.

`Rewording`: replaces words in place, in versions, changes and evidence; numbers stay. Repeated, it does nothing more.
Every stored index image of the tenant goes with it.

`Access`: one row for a session, memory and day. Repeated, it keeps the larger count and the last judgement.

`Snapshot`: replaces all blobs of its name at once.

`ReplayedRows`: replaces all versions of the memory, or the contest, by those it brings.

`Retention`, `Surprise`: write derived values into current versions in place. They are no change, and no index reads
them. `Surprise` does nothing where a surprise is known already; an unknown memory is passed over.

`VectorCopies`: replaces the copies of these vectors; those of vectors that are gone are passed over. It does nothing in
a backend without an index of vectors.

`VectorRemoval`: takes vectors of its model in the order of their documents, up to its limit. Repeated, it takes the
next ones. No later vector gets the number of one that was taken.

`Watermark`: replaces the mark of its name. Two writers are told apart only by the unit: the last one stands.

`DutyRun`: replaces the last run of its name.

`SchedulerLease`: a conflict while another owner holds an unexpired lead of that name. The owner's own lead is renewed.

`Prune`: takes the oldest rows first, up to its limit. Repeated, it takes the next ones.

`Spend`: adds to the day's numbers. Beyond `tokens_max` it raises `LimitExceeded`, and the unit is undone if the caller
does not handle it.

`Item`: replaces the item of its space and key, and returns the key; without a key it gets the next number of its space.
`ItemRemoval` takes items away. With an expected version, another one is a conflict. A `Redaction` or `Rewording` of the
source of an item deletes the item.

`LegalHold`: without `lifted_us` it sets a hold, with it every hold that stands is lifted. `RetentionPolicy` replaces
the policy of its topic; without days it takes it away.
"""
