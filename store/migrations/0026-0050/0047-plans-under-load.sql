-- Of all runs and claims few are open, held or failed, often none when PostgreSQL collects statistics. It then assumed that
-- there are none, and read all of them where an index leads to the one that is asked for: with 100 open runs the end of
-- each run cost 1 ms more, and that grew with the queue. Without statistics of these columns it assumes some.
alter table node_run alter column state set statistics 0;
alter table node_run alter column outcome set statistics 0;
alter table node_claim alter column ended_at set statistics 0;
select pg_clear_attribute_stats(n.nspname, c.relname, a.attname, false)
  from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
 where (a.attrelid, a.attname)
    in (('node_run'::regclass, 'state'), ('node_run'::regclass, 'outcome'), ('node_claim'::regclass, 'ended_at'));

-- A vacuum under load left one page of this queue, which is read without an index: until the next plan, each upload and
-- output read all that had gone through it since.
alter table pending_object set (vacuum_truncate = false);
