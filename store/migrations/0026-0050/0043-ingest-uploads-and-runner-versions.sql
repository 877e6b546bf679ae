-- Resumable uploads to managed ingests. One has no node until its last byte is stored and the ingest is performed: until
-- then its node_instance_id is 0.
alter table resumable_upload add column ingest_id bigint;

-- stored: has all bytes, and its ingest is not performed yet. Another word than `whole`, which processes of the version
-- before would take for an upload whose node is gone.
alter table resumable_upload drop constraint resumable_upload_state_check;
alter table resumable_upload add constraint resumable_upload_state_check
  check (state in ('open', 'whole', 'stored', 'done', 'over')) not valid;

-- The version that the holder's program told, which stays when its instance is forgotten.
alter table node_claim add column runner_version text;
