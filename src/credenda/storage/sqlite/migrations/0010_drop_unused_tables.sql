-- Drop the tables that no statement ever wrote; a feature that needs one of them creates it.

DROP TABLE entities;
DROP TABLE relations;
DROP TABLE api_tokens;
DROP TABLE tool_call_records;
DROP TABLE a2a_tasks;
DROP TABLE leases;
