-- A change of a layout or a report can name the revision that it is meant for.
alter table dashboard_layout add column revision integer not null default 1;
alter table report_definition add column revision integer not null default 1;
