-- What is asked about one slot is found by its slot: who reads a claim looks there, and read every contest until now.
CREATE INDEX contests_pair ON contests (user_id, entity, attribute);
