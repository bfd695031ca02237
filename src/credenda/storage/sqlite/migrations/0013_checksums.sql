-- Add a checksum to rows whose damage nothing else shows. Rows of older versions have none.

ALTER TABLE changes ADD COLUMN checksum INTEGER;
ALTER TABLE embeddings ADD COLUMN checksum INTEGER;
ALTER TABLE tombstones ADD COLUMN checksum INTEGER;
