-- Whether the node was incremental at the claim: a manifest that changes its template meanwhile changes no held task.
-- Null for a claim of an earlier version.
alter table node_claim add column if not exists incremental boolean;
