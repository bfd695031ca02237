-- The full-text index holds stems of more languages and single characters: it is made afresh from the rows.
INSERT INTO search_index (search_index) VALUES ('rebuild');
DELETE FROM index_blobs;
