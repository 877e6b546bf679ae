-- How many inputs were pending at the claim. What is pending later is that less what the watermark has passed since: a
-- count of the whole backlog at each move of the watermark grows with it. Null for a claim of an earlier version.
alter table node_claim add column pending_inputs bigint;
