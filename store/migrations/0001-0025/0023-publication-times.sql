-- The time of the session's newest publication: the next one is never given an earlier time, also when the clock steps
-- back. Null until the next publication of a session that was there before.
alter table session add column newest_output_at timestamptz;
