-- A reprocess run of an incremental node goes by a watermark of its own, set at its first claim: see store/runs/reprocess.ts.
alter table node_run
  add column replay_position bigint,
  add column replay_output_id bigint;

-- Where the follow-up of such a run goes on; null when no follow-up of one is wanted.
alter table node_instance
  add column follow_up_replay_position bigint,
  add column follow_up_replay_output_id bigint;

-- The run that published a version before an upload took its place, so that "published together" stays true for it.
alter table node_output_superseded
  add column run_id uuid,
  add column superseded_at timestamptz not null default clock_timestamp();
create index node_output_superseded_by_age on node_output_superseded (superseded_at);

create or replace view output_version as
  select o.id as output_id, o.session_id, o.node_instance_id, o.position, null::bigint as superseded_at_position,
         o.data_source_id, o.object_key, o.object_offset, o.output_identifier, o.content_type, o.content_encoding,
         o.size_bytes, o.sha256, o.etag, o.metadata, o.configuration, o.created_at, o.run_id
    from node_output o where o.position is not null
  union all
  select v.output_id, v.session_id, v.node_instance_id, v.position, v.superseded_at_position,
         v.data_source_id, v.object_key, v.object_offset, o.output_identifier, v.content_type, v.content_encoding,
         v.size_bytes, v.sha256, v.etag, v.metadata, v.configuration, v.created_at, v.run_id
    from node_output_superseded v join node_output o on o.id = v.output_id;
