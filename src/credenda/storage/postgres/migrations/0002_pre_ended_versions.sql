-- In versions that were replaced or are out of use and have no end, put what newer code writes: a number before all
-- times, so that NULL in valid_until is the state of current beliefs alone. Walls hide the rows of tenants from the
-- owner too, so that each tenant has its turn.
DO $$
DECLARE tenant text;
BEGIN
    PERFORM set_config('app.scope', 'server', true);
    FOR tenant IN SELECT user_id FROM tenants LOOP
        PERFORM set_config('app.current_user_id', tenant, true);
        UPDATE memories SET valid_until = -4611686018427387904
        WHERE user_id = tenant AND valid_until IS NULL
            AND (expired_at IS NOT NULL OR status NOT IN ('active', 'challenged'));
    END LOOP;
    PERFORM set_config('app.current_user_id', '', true);
    PERFORM set_config('app.scope', '', true);
END
$$;
