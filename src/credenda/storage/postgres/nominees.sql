-- Vectors of the tenants whose index does not fit into memory, in the form that pgvector searches. A copy of rows of
-- `embeddings`, which nominates only: what it finds is compared by the stored vectors. It exists where the extension
-- `vector` does, and `nominee_heads` tells how far the copy of a tenant and model has come.

CREATE TABLE nominees (
    user_id text COLLATE "C" NOT NULL,
    model_id text COLLATE "C" NOT NULL,
    code bigint NOT NULL,
    dims bigint NOT NULL,
    vector {vector}.halfvec NOT NULL,
    PRIMARY KEY (user_id, model_id, code)
) PARTITION BY HASH (user_id);

CREATE TABLE nominee_heads (
    user_id text COLLATE "C" NOT NULL,
    model_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    PRIMARY KEY (user_id, model_id)
);

-- An index has one number of dimensions; vectors of others are compared one by one.
DO $$
DECLARE
    size integer;
BEGIN
    FOR part IN 0..15 LOOP
        EXECUTE format(
            'CREATE TABLE nominees_%s PARTITION OF nominees FOR VALUES WITH (MODULUS 16, REMAINDER %s)', part, part
        );
    END LOOP;
    FOREACH size IN ARRAY {sizes} LOOP
        EXECUTE format(
            'CREATE INDEX nominees_of_%s ON nominees USING hnsw ((vector::{vector}.halfvec(%s)) '
            '{vector}.halfvec_cosine_ops) WITH (m = 16, ef_construction = 64) WHERE dims = %s', size, size, size
        );
    END LOOP;
END
$$;

-- A vector that goes takes its copy along.
CREATE FUNCTION drop_nominee() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM credenda.nominees
    WHERE user_id = old.user_id AND model_id = old.model_id AND code = old.code;
    RETURN NULL;
END
$$;

CREATE TRIGGER nominees_go AFTER DELETE ON embeddings FOR EACH ROW EXECUTE FUNCTION drop_nominee();
