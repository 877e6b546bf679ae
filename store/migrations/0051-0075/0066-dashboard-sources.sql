-- One row for each recording of a dashboard: a run adds its new recordings. As one value, `dimension.sources`, all of them
-- were written anew by each run, and read by each request for a few points.
create table dimension_source (
  dimension_id bigint not null references dimension (id) on delete cascade,
  -- The recording.
  output_id bigint not null,
  -- The upload that it was made of.
  source_id bigint not null,
  -- Of the recording: the newest of an upload is shown.
  position bigint not null,
  source jsonb not null,
  primary key (dimension_id, output_id)
);
create index dimension_source_by_upload on dimension_source (dimension_id, source_id, output_id);

-- Whether the layouts that the recordings suggest come before `layout`.
alter table dimension add column suggests_layout boolean not null default false;

-- The rows that stand for `dimension.sources` of an earlier version.
create function dimension_source_rows(of dimension) returns setof dimension_source language sql stable as $$
  select of.id, (source ->> 'outputId')::bigint,
         coalesce(source -> 'description' -> 'source' ->> 'outputId', source ->> 'outputId')::bigint, 0, source
    from jsonb_array_elements(of.sources) source;
$$;

-- Workers of the version before still write `sources`.
create function dimension_sources_written() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' and new.sources = '[]' then
    return null;
  end if;
  delete from dimension_source where dimension_id = new.id;
  insert into dimension_source select r.* from dimension_source_rows(new) r on conflict do nothing;
  update dimension set suggests_layout = false where id = new.id and suggests_layout;
  return null;
end;
$$;
create trigger dimension_sources_written after insert or update of sources on dimension
  for each row execute function dimension_sources_written();
