-- How many outputs of a node retention has removed, so that a reprocess of the nodes below can say that it goes without
-- them.
alter table node_instance add column if not exists expired_outputs integer not null default 0;
