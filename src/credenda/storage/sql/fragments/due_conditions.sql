-- The conditions of a job that is due and not leased. A time after :far_us was set by a clock that has been put back.
status IN ('queued', 'processing', 'failed') AND user_id > :after_user
AND (run_after <= :now_us OR run_after > :far_us)
AND (status <> 'processing' OR coalesce(lease_until, 0) <= :now_us OR lease_until > :far_us)
AND kind NOT IN (SELECT value FROM json_each(:other_kinds))
AND (:kinds = '[]' OR kind IN (SELECT value FROM json_each(:kinds)))
