-- What a session template said, import by import: a version is made when an import changes something. Sessions refer to
-- the template, not to a version.
create table session_template_version (
  session_template_id bigint not null references session_template (id) on delete cascade,
  -- From 1.
  version integer not null check (version > 0),
  template_version text not null,
  description text not null,
  configuration text not null,
  -- In the order of the file: name, nodeTemplate, parents and configuration of each. As the file wrote them, so no jsonb.
  nodes json not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  -- The authentication service's id; null: the platform, or not known.
  created_by uuid,
  primary key (session_template_id, version)
);

create function session_template_nodes(template bigint) returns json language sql stable as $$
  select coalesce(json_agg(json_build_object(
           'name', n.name, 'nodeTemplate', k.name, 'parents', to_json(n.parent_names),
           'configuration', n.default_configuration::json) order by n.ordinal), '[]')
    from session_template_node n join node_template k on k.id = n.node_template_id
   where n.session_template_id = template
$$;

-- Templates that are here already: as they are now, by whoever imported them last. Earlier versions are not known.
insert into session_template_version
       (session_template_id, version, template_version, description, configuration, nodes, created_at, created_by)
select t.id, 1, t.template_version, t.description, t.configuration, session_template_nodes(t.id), t.updated_at,
       (select case when a.actor_kind in ('user', 'device') and a.actor_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                    then a.actor_id::uuid end
          from audit_entry a where a.object_type = 'sessionTemplate' and a.object_id = t.id::text
         order by a.at desc, a.id desc limit 1)
  from session_template t;
