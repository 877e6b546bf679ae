-- Platform configuration (decisions 13). Names are compared letter by letter, whatever the database's collation.
create table configuration (
  id bigint generated always as identity primary key,
  name text collate "C" not null unique,
  -- 0 string, 1 integer, 2 number, 3 bool, 4 JSON.
  value_type smallint not null check (value_type between 0 and 4),
  value text not null,
  description text not null default '',
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);

-- A name of one segment is listed in the group General: no other name may have its place there.
create unique index configuration_place on configuration
  ((case when strpos(name, ':') = 0 then 'General:' || name else name end));
