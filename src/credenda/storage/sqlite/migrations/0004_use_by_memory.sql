-- Duties read the use of each memory; the key of the log begins with the session.
CREATE INDEX access_memory ON access_log (user_id, memory, at);
