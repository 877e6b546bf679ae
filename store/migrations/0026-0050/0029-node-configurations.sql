-- A node's configuration can be changed: each change is a revision. The present one is in node_instance. A node whose
-- configuration has never changed has no row here.
create table node_configuration (
  node_instance_id bigint not null references node_instance (id) on delete cascade,
  revision integer not null,
  configuration text not null,
  -- The authentication service's id; null: the session template, when the session was made.
  changed_by uuid,
  changed_at timestamptz(3) not null,
  primary key (node_instance_id, revision)
);

alter table node_instance
  add column configuration_revision integer not null default 1,
  -- What the session template said when the node got its configuration from it; null: the present configuration.
  add column template_configuration text;

-- Fixed at the first claim and the same for all attempts; null before.
alter table node_run add column configuration_revision integer;

-- Of its configuration.
alter table node_output add column configuration_revision integer not null default 1;
alter table node_output_superseded add column configuration_revision integer not null default 1;
