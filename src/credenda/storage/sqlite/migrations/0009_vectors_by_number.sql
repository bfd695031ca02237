-- A vector is read by an integer: a search reads hundreds, and each took two look-ups by (user, model, code). `doc` holds
-- the number that the database gave to the user and the model together, then the code. A declared key, because VACUUM may
-- renumber rows that have none.
CREATE TABLE vector_spaces (
    user_id TEXT NOT NULL,
    model_id TEXT NOT NULL,
    number INTEGER NOT NULL UNIQUE CHECK (number BETWEEN 1 AND 524287),
    PRIMARY KEY (user_id, model_id)
) WITHOUT ROWID;
INSERT INTO vector_spaces (user_id, model_id, number)
SELECT user_id, model_id, row_number() OVER (ORDER BY user_id, model_id)
FROM (SELECT DISTINCT user_id, model_id FROM embeddings);

ALTER TABLE embeddings RENAME TO embeddings_by_name;
DROP INDEX embeddings_number;
CREATE TABLE embeddings (
    doc INTEGER NOT NULL PRIMARY KEY CHECK (doc & 17592186044415 = code),
    user_id TEXT NOT NULL,
    model_id TEXT NOT NULL,
    code INTEGER NOT NULL,
    number INTEGER NOT NULL,
    dims INTEGER NOT NULL,
    bits INTEGER NOT NULL CHECK (bits IN (2, 4, 8, 16, 32)),
    scale REAL NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (user_id, model_id, code)
);
INSERT INTO embeddings (doc, user_id, model_id, code, number, dims, bits, scale, data)
SELECT (s.number << 44) | e.code, e.user_id, e.model_id, e.code, e.number, e.dims, e.bits, e.scale, e.data
FROM embeddings_by_name AS e JOIN vector_spaces AS s ON s.user_id = e.user_id AND s.model_id = e.model_id
ORDER BY s.number, e.code;
DROP TABLE embeddings_by_name;
CREATE INDEX embeddings_number ON embeddings (user_id, number);
