-- Report definitions (contract: Dashboard items; decisions 12).
create table report_definition (
  id bigint generated always as identity primary key,
  key text collate "C" not null unique,
  name text not null,
  configuration_key text collate "C" not null unique,
  file_name text not null,
  dimension_name_filter text not null default '',
  is_default boolean not null default false,
  -- Lists of columns and filters as their definitions say, in order.
  columns jsonb not null default '[]',
  filters jsonb not null default '[]',
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create unique index report_default on report_definition (is_default) where is_default;

insert into report_definition (key, name, configuration_key, file_name, is_default, columns) values (
  'session-list', 'Session list', 'sessionList', 'SessionList', true,
  '[
    {"columnKey": "session", "name": "Session", "expression": "dimension.sessionName", "type": "string", "format": "", "source": "dimension", "order": 10},
    {"columnKey": "project", "name": "Project", "expression": "dimension.projectTitle", "type": "string", "format": "", "source": "dimension", "order": 20},
    {"columnKey": "scenario", "name": "Scenario", "expression": "scenarioInstance.scenarioName", "type": "string", "format": "", "source": "scenarioInstance", "order": 30},
    {"columnKey": "from", "name": "From", "expression": "scenarioInstance.from", "type": "date", "format": "", "source": "scenarioInstance", "order": 40},
    {"columnKey": "to", "name": "To", "expression": "scenarioInstance.to", "type": "date", "format": "", "source": "scenarioInstance", "order": 50},
    {"columnKey": "duration", "name": "Duration", "expression": "scenarioInstance.to - scenarioInstance.from", "type": "duration", "format": "", "source": "scenarioInstance", "order": 60},
    {"columnKey": "participant", "name": "Participant", "expression": "user.name", "type": "string", "format": "", "source": "user", "order": 70},
    {"columnKey": "created", "name": "Created", "expression": "dimension.sessionCreatedAt", "type": "date", "format": "", "source": "dimension", "order": 80}
  ]'
);
