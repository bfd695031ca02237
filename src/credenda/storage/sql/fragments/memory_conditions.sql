-- The conditions of a filter of memories.
AND CASE WHEN :known_at_us IS NULL THEN expired_at IS NULL
    ELSE recorded_at <= :known_at_us AND (expired_at IS NULL OR expired_at > :known_at_us) AND text <> '' END
AND (:as_of_us IS NULL OR (
    (coalesce(valid_from, created_at) <= :as_of_us OR (stance IN ('planned', 'considered')
        AND created_at <= :as_of_us AND (status <> 'superseded' OR valid_until > valid_from))
        OR (valid_from IS NULL AND valid_until <= created_at AND valid_until <> -4611686018427387904))
    AND (valid_until IS NULL OR valid_until > :as_of_us OR valid_until = -4611686018427387904)
    AND coalesce(relation, '') <> 'corrected' AND status <> 'invalidated'
))
AND (:entity IS NULL OR entity_key = :entity)
AND (:attribute IS NULL OR attribute_key = :attribute)
AND (:text_hash IS NULL OR text_hash = :text_hash)
AND (:statuses IS NULL OR status IN (SELECT value FROM json_each(:statuses)))
AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types)))
AND (:layers IS NULL OR layer IN (SELECT value FROM json_each(:layers)))
AND (:stances IS NULL OR stance IN (SELECT value FROM json_each(:stances)))
AND (:topic IS NULL OR topic = :topic)
AND (:session IS NULL OR source_session = :session)
AND (:source IS NULL OR id IN (
    SELECT v.memory FROM events AS e JOIN evidence AS v ON v.user_id = :user_id AND v.event = e.id
    WHERE e.user_id = :user_id AND e.source = :source
))
AND (:label IS NULL OR replace(metadata, :label, '') <> metadata)
AND (:pinned IS NULL OR pinned = :pinned)
AND (:expires_before_us IS NULL OR expires_at < :expires_before_us)
