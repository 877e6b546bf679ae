-- The project of the run's session, by which a claim under limits skips projects that hold all of their places. Null: of
-- runs from before.
alter table node_run add column project_id bigint;
