-- stepwise
-- The recordings of a node whose source has a key: each new version of it looks for an earlier one.
create index concurrently node_output_by_source_key on node_output (node_instance_id, (metadata #>> '{source,key}'))
  where metadata #>> '{source,key}' is not null;
