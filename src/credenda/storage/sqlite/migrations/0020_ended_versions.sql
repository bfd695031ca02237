-- In versions that were replaced or are out of use and have no end, put what newer code writes: a number before all
-- times, so that NULL in valid_until is the state of current beliefs alone.
UPDATE memories SET valid_until = -4611686018427387904
WHERE valid_until IS NULL AND (expired_at IS NOT NULL OR status NOT IN ('active', 'challenged'));
