-- The schema of a configuration as it was published: jsonb keeps no order of the properties, in which a form shows them.
-- Null, or another schema than `configuration_schema`: the version before wrote the row.
alter table node_template add column configuration_schema_text text;
