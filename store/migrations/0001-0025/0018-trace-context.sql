-- The trace in which a run was queued, as a W3C traceparent: it goes on with whoever claims the run. Null where nothing
-- was traced.
alter table node_run add column traceparent text;
-- The same of an upload that waits to be published.
alter table queued_upload add column traceparent text;
